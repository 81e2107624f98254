// The table of a sweep: means of each figure in each cell, as crates/tools/sweep writes them (CSV, RFC 4180).

export interface Cell { labels: string[]; metric: string; mean: number | null; low: number | null; high: number | null; runs: string }
export interface Table { axes: string[]; metrics: string[]; cells: Cell[] }

/** The records of a CSV file; quotes may hold commas, lines and doubled quotes. */
export function records(text: string): string[][] {
  const all: string[][] = [];
  let record: string[] = [], cell = "", isQuoted = false;
  for (let i = 0; i < text.length; i += 1) {
    const c = text[i];
    if (isQuoted) {
      if (c !== '"') cell += c;
      else if (text[i + 1] === '"') { cell += c; i += 1; }
      else isQuoted = false;
    } else if (c === '"' && cell === "") isQuoted = true;
    else if (c === ",") { record.push(cell); cell = ""; }
    else if (c === "\n") { record.push(cell.replace(/\r$/, "")); all.push(record); record = []; cell = ""; }
    else cell += c;
  }
  if (cell !== "" || record.length > 0) all.push([...record, cell]);
  return all;
}

const FIXED = ["metric", "mean", "ci95_low", "ci95_high", "values", "runs_with_figure", "runs"];
const MOST_CELLS = 20_000;

export function readTable(text: string): Table {
  const [head = [], ...lines] = records(text);
  const fixed = head.length - FIXED.length;
  if (fixed < 0 || FIXED.some((name, i) => head[fixed + i] !== name)) throw new Error("table.csv was written by another version: run wayhop sweep again");
  const number = (cell: string | undefined) => { const v = Number(cell); return cell === undefined || cell === "" || !Number.isFinite(v) ? null : v; };
  const cells = lines.slice(0, MOST_CELLS).filter((l) => l.length === head.length).map((l) => {
    const [metric, mean, low, high, , counted, runs] = l.slice(fixed);
    return { labels: l.slice(0, fixed), metric, mean: number(mean), low: number(low), high: number(high), runs: counted === runs ? runs : `${counted} of ${runs}` };
  });
  return { axes: head.slice(0, fixed), metrics: [...new Set(cells.map((c) => c.metric))], cells };
}

/** The values of an axis, in the table's order. */
export const valuesOf = (table: Table, axis: number): string[] => [...new Set(table.cells.map((c) => c.labels[axis]))];

const isNumber = (label: string) => label.trim() !== "" && Number.isFinite(Number(label));

export interface Choice { metric: string; x: number; by: number | null; fixed: Record<number, string> }

/** What to draw first: delivery over the axis of numbers with the most values, a line for each value of the other one. */
export function firstChoice(table: Table): Choice {
  const counts = table.axes.map((_, i) => ({ i, values: valuesOf(table, i) }));
  const score = (values: string[]) => (values.every(isNumber) ? 1000 : 0) + values.length;
  const [x, by] = [...counts].sort((a, b) => score(b.values) - score(a.values)).map((c) => c.i);
  const metric = table.metrics.find((m) => m.endsWith("delivery_ratio")) ?? table.metrics[0] ?? "";
  return { metric, x: x ?? 0, by: by ?? null, fixed: Object.fromEntries(counts.map((c) => [c.i, c.values[0]])) };
}

export interface Series { label: string; points: { x: number; label: string; cell: Cell }[] }

/** The lines of a figure. Labels that are no numbers stand side by side, in their order. */
export function seriesOf(table: Table, of: Choice): { series: Series[]; isNumeric: boolean; labels: string[] } {
  const isDrawn = (c: Cell) => c.metric === of.metric && c.labels.every((l, i) => i === of.x || i === of.by || l === of.fixed[i]);
  const cells = table.cells.filter(isDrawn), labels = table.axes.length === 0 ? [""] : valuesOf(table, of.x);
  const isNumeric = table.axes.length > 0 && labels.every(isNumber);
  const names = of.by === null ? [""] : valuesOf(table, of.by);
  const series = names.map((name) => ({
    label: name,
    points: cells.filter((c) => of.by === null || c.labels[of.by] === name).map((cell) => {
      const label = cell.labels[of.x] ?? "";
      return { x: isNumeric ? Number(label) : labels.indexOf(label), label, cell };
    }).sort((a, b) => a.x - b.x),
  }));
  return { series, isNumeric, labels };
}

/** Round numbers that cover a range, about six of them. */
export function ticks(from: number, to: number): number[] {
  const span = Math.max(to - from, 1e-12), rough = span / 5, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((k) => k * power).find((s) => s >= rough * 0.9) ?? rough;
  const first = Math.floor(from / step + 1e-9), last = Math.ceil(to / step - 1e-9);
  return Array.from({ length: Math.min(last - first, 50) + 1 }, (_, i) => Number(((first + i) * step).toPrecision(12)));
}

const METRIC_WORDS: Record<string, string> = {
  "totals.delivery_ratio": "delivery ratio", "totals.goodput_bps": "goodput, bit/s", "totals.latency_ms.mean": "latency, ms", "totals.routing_packets": "routing packets", "totals.hops_mean": "hops",
};
/** A figure in words, with its unit where the name says it. */
export const metricWords = (name: string): string => METRIC_WORDS[name] ?? name.replace(/^totals\./, "");
