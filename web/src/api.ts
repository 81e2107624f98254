// Questions to the server. Its errors name file and remedy; they are shown as they are.

import { embedded } from "./embedded";
import { decode, type Frame } from "./frame";
import type { RunInfo } from "./runinfo";
import type { Frames, Story } from "./told";

export type { Flow, RunInfo } from "./runinfo";

/** An end of a program's TCP connection. Octets that were sent again count once. */
export interface Connection {
  node: number; local: string; local_port: number; remote: string; remote_port: number; from_ns: number; until_ns: number;
  sent: number; received: number; retransmissions: number;
}

export interface RunName {
  name: string; status: string | null; started: string | null; seed: number | null; scenario: string | null; protocol: string | null;
  world: string | null; nodes: number | null; duration_s: number | null; delivery_ratio: number | null;
}
export interface Sweep { name: string; runs: number | null; has_figures: boolean }
/** What a studio has; `more` runs are not listed. */
export interface Listed { runs: RunName[]; sweeps: Sweep[]; more: number }
export type Row = Record<string, number | string | null>;

async function ask(path: string, query: Record<string, string | number | boolean>): Promise<Response> {
  if (embedded) throw new Error("This is not included in the report; open the run with: wayhop studio RUN");
  const q = new URLSearchParams(Object.entries(query).map(([k, v]) => [k, String(v)]));
  let response: Response;
  try {
    response = await fetch(`${path}?${q}`);
  } catch {
    throw new Error("The studio does not respond. If you closed it, start it again with: wayhop studio");
  }
  if (!response.ok) {
    const text = await response.text();
    let why = text;
    try { why = JSON.parse(text).error; } catch { /* not of this server: as it is */ }
    throw new Error(why);
  }
  return response;
}

export async function listRuns(): Promise<Listed> {
  if (!embedded) return (await ask("/api/runs", {})).json();
  const { name, info } = embedded, { status, started, seed, scenario, protocol, world, nodes } = info;
  return { runs: [{ name, status, started, seed, scenario, protocol, world, nodes, duration_s: info.end_ns / 1e9, delivery_ratio: null }], sweeps: [], more: 0 };
}
/** The table of a sweep, CSV. */
export const sweep = async (name: string): Promise<string> => (await ask("/api/sweep", { name })).text();
export const openRun = async (run: string): Promise<RunInfo> => embedded?.info ?? (await ask("/api/run", { run })).json();

async function frame(path: string, query: Record<string, string | number>): Promise<Frame> {
  return decode(await (await ask(path, query)).arrayBuffer());
}

const whole = (ns: number) => Math.round(Math.max(0, ns));
export const positions = async (run: string, from: number, to: number): Promise<Frame> =>
  embedded?.positions ?? frame("/api/positions", { run, from: whole(from), to: whole(to) });
export const packets = async (run: string, from: number, to: number): Promise<Frame> =>
  embedded?.packets(from) ?? frame("/api/packets", { run, from: whole(from), to: whole(to) });
export const overview = async (run: string, node: number | null): Promise<Frame> =>
  embedded?.overview(node) ?? frame("/api/overview", node === null ? { run } : { run, node });
export const rows = async (run: string, table: string, query: Record<string, number | boolean | string>): Promise<Row[]> =>
  (await (await ask("/api/rows", { run, table, ...query })).json()).rows;
export const story = async (run: string, query: Record<string, number>): Promise<Story[]> =>
  (await (await ask("/api/story", { run, ...query })).json()).stories;
export const frames = async (run: string, packet: number): Promise<Frames> =>
  (await ask("/api/frames", { run, packet })).json();
/** Where a capture of a packet's frames is. */
export const framesFile = (run: string, packet: number): string => `/api/frames.pcapng?${new URLSearchParams({ run, packet: String(packet) })}`;
export const losses = (run: string) => frame("/api/losses", { run });
/** A figure of the table `sends`, of one node or of all. */
export const figure = (run: string, name: string, node: number | null) =>
  frame("/api/series", node === null ? { run, figure: name } : { run, figure: name, node });
/** How long queues and tables were, of one node or of all. */
export const sizes = (run: string, node: number | null) => frame("/api/sizes", node === null ? { run } : { run, node });
export interface Report { name: string; title: string | null; octets: number | null; written_unix_s: number | null }
export const listReports = async (): Promise<Report[]> => (embedded ? [] : (await (await ask("/api/reports", {})).json()).reports);
export const connections = async (run: string): Promise<{ connections: Connection[]; left_out: number }> =>
  (await ask("/api/connections", { run })).json();
export const connection = (run: string, c: Connection) =>
  frame("/api/connection", { run, node: c.node, local: c.local, local_port: c.local_port, remote: c.remote, remote_port: c.remote_port });
export const tcp = (run: string, flow: number, from: number, to: number) =>
  frame("/api/tcp", { run, flow, from: whole(from), to: whole(to) });
