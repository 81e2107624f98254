// What the server says of a run as a whole.

/** Numbers are null where the run does not know them: one node of a real mesh knows one end. An end that is no node has an address. */
export interface Flow {
  id: number; kind: string; src: number | null; dst: number | null; sent: number | null; received: number | null; delivery_ratio: number | null;
  src_address?: string; dst_address?: string; protocol?: number; src_port?: number; dst_port?: number;
}

export interface RunInfo {
  nodes: number; names: string[]; addresses: string[]; end_ns: number; rows: number; range_m: number | null;
  status: string; started: string; seed: number; scenario: string | null; world: string | null; protocol: string | null;
  totals: Record<string, unknown> | null; flows: Flow[] | null; problems: string[];
  /** Rows of the table `connections`. */
  connections?: number;
}
