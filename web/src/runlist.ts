// The runs to choose from, in groups with a heading.

import type { RunName } from "./api";

/** Runs of one folder. `of` says which, behind the word "runs". */
export interface RunGroup { of: string; heading: string; runs: RunName[] }

export const folderOf = (name: string): string => name.slice(0, Math.max(0, name.lastIndexOf("/")));

function byFolder(runs: RunName[], of: string): RunGroup[] {
  const folders = new Map<string, RunName[]>();
  for (const r of runs) folders.set(folderOf(r.name), [...(folders.get(folderOf(r.name)) ?? []), r]);
  return [...folders].sort(([a], [b]) => a.localeCompare(b)).map(([folder, runs]) => {
    const where = `${of}${folder === "" ? "" : ` in ${folder}`}`;
    return { of: where, heading: of === "" && folder !== "" ? folder : `Runs${where}`, runs };
  });
}

/** By folder; with a scenario that is edited, its own runs first. */
export function groupsOf(runs: RunName[], scenario: string | null): RunGroup[] {
  if (scenario === null) return byFolder(runs, "");
  const isOwn = (r: RunName) => r.scenario === scenario;
  return [...byFolder(runs.filter(isOwn), ` of ${scenario}`), ...byFolder(runs.filter((r) => !isOwn(r)), " of other scenarios")];
}
