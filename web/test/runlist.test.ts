import { expect, test } from "vitest";
import type { RunName } from "../src/api";
import { groupsOf } from "../src/runlist";

const run = (name: string, scenario: string | null): RunName => ({ name, status: "complete", started: null, seed: 1, scenario, protocol: "dsr", world: "sim", nodes: 2, duration_s: 1, delivery_ratio: 1 });
const runs = [run("cars-1", "cars"), run("old/walk-2", "walk"), run("walk-1", "walk"), run("broken", null)];
const shown = (scenario: string | null) => groupsOf(runs, scenario).map((g) => [g.heading, ...g.runs.map((r) => r.name)]);

test("runs of the edited scenario come first, and the others have a heading of their own", () => {
  expect(shown("walk")).toEqual([
    ["Runs of walk", "walk-1"],
    ["Runs of walk in old", "old/walk-2"],
    ["Runs of other scenarios", "cars-1", "broken"],
  ]);
});

test("without a scenario, runs are grouped by folder", () => {
  expect(shown(null)).toEqual([["Runs", "cars-1", "walk-1", "broken"], ["old", "old/walk-2"]]);
});
