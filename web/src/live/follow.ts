// Following a run under way: what comes over the connection becomes what the player shows.

import { batch, signal } from "@preact/signals";
import type { Flow } from "../runinfo";
import * as state from "../state";
import { Connection } from "./connection";
import { LiveRun } from "./run";

export interface UnderWay { name: string; world: string; protocol: string; nodes: number; pid: number }

/** The runs under way; null of a studio that shows none. */
export const underWay = signal<UnderWay[] | null>(null);
export const connection = signal<"none" | "connected" | "reconnecting" | "ended">("none");
/** Goes up with each message: panels are redrawn. */
export const news = signal(0);

let wire: Connection | null = null;
let counted = 0;

/** How often counts over the run are recomputed, milliseconds. */
const COUNT_MS = 1000, BINS = 300;

export async function list(): Promise<void> {
  const response = await fetch("/api/live");
  const got: { runs: UnderWay[] } | null = response.ok ? await response.json() : null;
  underWay.value = got ? got.runs : null;
}

/** Follows the run of a process, once it answers: its name, or null if it does not yet. */
export async function followProcess(pid: number): Promise<string | null> {
  await list();
  const found = underWay.value?.find((r) => r.pid === pid);
  if (!found) return null;
  follow(found.name);
  return found.name;
}

export function leave(): void {
  wire?.close();
  wire = null;
  connection.value = "none";
}

export function follow(name: string): void {
  leave();
  let run: LiveRun | null = null;
  wire = new Connection(name, {
    greeted(about, isBack) {
      if (isBack && run) return;
      run = new LiveRun(about);
      state.showLive(name, run, {
        nodes: about.names.length, names: about.names, addresses: about.addresses, end_ns: 0, rows: 0, range_m: about.range_m,
        status: "running", started: "", seed: 0, scenario: about.name, world: about.world, protocol: about.protocol,
        totals: null, flows: about.flows, problems: [],
      });
    },
    packets(frame) {
      run?.packets.add(frame);
      count(run);
    },
    told(message) {
      if (!run) return;
      switch (message["kind"]) {
        case "places":
          run.place(message as never, performance.now());
          state.fitOnce();
          break;
        case "counters":
          run.counters = message["of"] as Record<number, Record<string, number>>;
          run.up = message["up"] as boolean[];
          break;
        case "event":
          if ((message["event"] as Record<string, unknown>)["kind"] === "sizes") run.sized(message["row"] as number, message["event"] as never);
          else run.remark(message["row"] as number | null, message["event"] as Record<string, unknown>);
          break;
        case "flows":
          state.addFlows(message["flows"] as Flow[]);
          break;
        case "gap":
          run.remark(null, { kind: "lost", count: message["count"] });
          break;
      }
      news.value += 1;
    },
    async isGone() {
      try {
        await list();
        return underWay.value !== null && !underWay.value.some((r) => r.name === name);
      } catch {
        return false;
      }
    },
    state(now, why) {
      batch(() => {
        connection.value = now;
        const before = "lost the connection to the studio; trying again";
        state.problems.value = state.problems.value.filter((p) => p !== before);
        if (now === "reconnecting") state.complain(why);
        if (now === "ended") { state.complain(`${why}; the data received so far is still shown. Open the recorded run with: wayhop studio RUN`); state.stopFollowing(); }
      });
    },
  });
}

function count(run: LiveRun | null): void {
  const now = performance.now();
  if (!run || now - counted < COUNT_MS) return;
  counted = now;
  batch(() => {
    state.totals.value = run.counts(null, BINS);
    state.nodeCounts.value = state.selected.value === null ? null : run.counts(state.selected.value, BINS);
  });
}

/** Asks something of the run, in the words of its control socket; what is refused is shown. */
export async function ask(request: Record<string, unknown>): Promise<unknown> {
  try {
    return await wire?.ask(request);
  } catch (e) {
    state.complain(e);
    return undefined;
  }
}

/** A node's number at the run's control socket. */
export const numberOf = (row: number): number => state.live.value?.about.nodes[row] ?? row;

let placing: { row: number; x: number; y: number } | null = null, isPlacing = false;

/** Puts a node somewhere, metres. While one order is under way, only the latest of those after it waits. */
/** Whether it makes a difference where a node is put: it does to a radio model. */
export const canPlace = (): boolean => !["lab", "field"].includes(state.live.value?.about.world ?? "");

export async function place(row: number, x: number, y: number): Promise<void> {
  placing = { row, x, y };
  if (isPlacing) return;
  isPlacing = true;
  try {
    while (placing) {
      const to: { row: number; x: number; y: number } = placing;
      placing = null;
      const z = state.live.value?.at(to.row, Infinity)?.z ?? 0;
      await ask({ do: "set-position", node: numberOf(to.row), place: { x: to.x, y: to.y, z } });
    }
  } finally {
    isPlacing = false;
  }
}
