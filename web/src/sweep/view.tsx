// A sweep's figures: means with their intervals over one axis, a line for each value of another one, and the same as a table.

import { useEffect, useState } from "preact/hooks";
import * as api from "../api";
import { type Choice, firstChoice, metricWords, readTable, type Series, seriesOf, type Table, ticks, valuesOf } from "./table";

const WIDTH = 640, HEIGHT = 320, LEFT = 62, RIGHT = 24, TOP = 12, BOTTOM = 48;
/** Series differ in shape and dash, not in colour alone. */
const SHAPES = ["circle", "square", "triangle", "diamond"] as const, DASHES = ["", "6 3", "2 3", "8 3 2 3"];
const MOST_SERIES = 8;

const short = (v: number | null) => (v === null ? "–" : String(Number(v.toPrecision(4))));

function Mark({ kind, x, y }: { kind: number; x: number; y: number }) {
  const shape = SHAPES[kind % SHAPES.length], at = (points: number[][]) => points.map(([dx, dy]) => `${x + dx},${y + dy}`).join(" ");
  if (shape === "circle") return <circle cx={x} cy={y} r={4} />;
  return <polygon points={at(shape === "square" ? [[-4, -4], [4, -4], [4, 4], [-4, 4]] : shape === "triangle" ? [[0, -5], [5, 4], [-5, 4]] : [[0, -5], [5, 0], [0, 5], [-5, 0]])} />;
}

function Figure({ table, choice }: { table: Table; choice: Choice }) {
  const { series, isNumeric, labels } = seriesOf(table, choice);
  const drawn = series.slice(0, MOST_SERIES), all = drawn.flatMap((s) => s.points).filter((p) => p.cell.mean !== null);
  if (all.length === 0) return <p class="note">No run in this sweep has this metric.</p>;
  const ys = ticks(Math.min(0, ...all.map((p) => p.cell.low ?? p.cell.mean!)), Math.max(...all.map((p) => p.cell.high ?? p.cell.mean!), 1e-9));
  const xs = isNumeric ? ticks(Math.min(...all.map((p) => p.x)), Math.max(...all.map((p) => p.x))) : labels.map((_, i) => i);
  const [x0, x1] = isNumeric ? [xs[0], xs.at(-1)!] : [-0.5, labels.length - 0.5], [y0, y1] = [ys[0], ys.at(-1)!];
  const px = (x: number) => LEFT + ((x - x0) / Math.max(x1 - x0, 1e-12)) * (WIDTH - LEFT - RIGHT);
  const py = (y: number) => HEIGHT - BOTTOM - ((y - y0) / (y1 - y0)) * (HEIGHT - TOP - BOTTOM);
  // Points of several series stand beside each other, so that their intervals do not lie on each other.
  const dodge = (k: number) => (k - (drawn.length - 1) / 2) * (isNumeric ? 3 : 10);
  const line = (s: Series, k: number) => s.points.filter((p) => p.cell.mean !== null).map((p) => `${px(p.x) + dodge(k)},${py(p.cell.mean!)}`).join(" ");
  const xName = table.axes[choice.x] ?? "all runs", yName = metricWords(choice.metric);
  return (
    <>
      <svg class="figure" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={`${yName} over ${xName}; the table below has the same data`}>
        {ys.map((v) => <g key={v}><line class="grid" x1={LEFT} x2={WIDTH - RIGHT} y1={py(v)} y2={py(v)} /><text x={LEFT - 6} y={py(v) + 4} text-anchor="end">{v}</text></g>)}
        {xs.map((v, i) => <text key={v} x={px(v)} y={HEIGHT - BOTTOM + 21} text-anchor="middle">{isNumeric ? v : labels[i].slice(0, 20)}</text>)}
        <text x={(LEFT + WIDTH - RIGHT) / 2} y={HEIGHT - 6} text-anchor="middle">{xName}</text>
        <text transform={`translate(13 ${(TOP + HEIGHT - BOTTOM) / 2}) rotate(-90)`} text-anchor="middle">{yName}</text>
        {drawn.map((s, k) => (
          <g key={s.label} class={`series s${k % MOST_SERIES}`}>
            {isNumeric && <polyline points={line(s, k)} fill="none" stroke-dasharray={DASHES[k % DASHES.length]} />}
            {s.points.filter((p) => p.cell.mean !== null).map((p) => (
              <g key={p.label}>
                <title>{`${s.label} ${p.label}: ${short(p.cell.mean)}`}</title>
                {p.cell.low !== null && p.cell.high !== null && <path d={`M${px(p.x) + dodge(k)} ${py(p.cell.low)}V${py(p.cell.high)}`} />}
                <Mark kind={k} x={px(p.x) + dodge(k)} y={py(p.cell.mean!)} />
              </g>
            ))}
          </g>
        ))}
      </svg>
      {choice.by !== null && (
        <ul class="figure-keys" aria-label={`Values of ${table.axes[choice.by]}`}>
          {drawn.map((s, k) => <li key={s.label}><svg width="34" height="14" aria-hidden="true" class={`series s${k % MOST_SERIES}`}><line x1="0" x2="34" y1="7" y2="7" stroke-dasharray={DASHES[k % DASHES.length]} /><Mark kind={k} x={17} y={7} /></svg> {s.label}</li>)}
        </ul>
      )}
      {series.length > MOST_SERIES && <p class="note">The first {MOST_SERIES} of {series.length} lines; the table has all.</p>}
      <details>
        <summary>The numbers</summary>
        <div class="scroll" tabIndex={0} role="region" aria-label="Numbers of the figure">
          <table>
            <thead><tr><th scope="col">{xName}</th>{choice.by !== null && <th scope="col">{table.axes[choice.by]}</th>}<th scope="col">Mean</th><th scope="col">95 % interval</th><th scope="col">Runs</th></tr></thead>
            <tbody>{series.flatMap((s) => s.points.map((p) => (
              <tr key={`${s.label} ${p.label}`}><th scope="row">{p.label}</th>{choice.by !== null && <td>{s.label}</td>}<td>{short(p.cell.mean)}</td><td>{p.cell.low === null ? "–" : `${short(p.cell.low)} to ${short(p.cell.high)}`}</td><td>{p.cell.runs}</td></tr>
            )))}</tbody>
          </table>
        </div>
      </details>
    </>
  );
}

function Select({ label, value, options, choose }: { label: string; value: string; options: [string, string][]; choose: (v: string) => void }) {
  return <label>{label}{" "}<select value={value} onChange={(e) => choose(e.currentTarget.value)}>{options.map(([v, words]) => <option key={v} value={v}>{words}</option>)}</select></label>;
}

export function SweepFigures({ name }: { name: string }) {
  const [table, setTable] = useState<Table | string | null>(null);
  const [choice, choose] = useState<Choice | null>(null);
  useEffect(() => {
    let current = true;
    api.sweep(name).then((text) => {
      const got = readTable(text);
      if (current) { setTable(got); choose(firstChoice(got)); }
    }).catch((e: unknown) => { if (current) setTable(e instanceof Error ? e.message : String(e)); });
    return () => { current = false; };
  }, [name]);
  if (typeof table === "string") return <p class="wrong" role="alert">⚠ {table}</p>;
  if (!table || !choice) return <p class="note" role="status">Reading the table …</p>;
  const axes = table.axes.map((a, i): [string, string] => [String(i), a]);
  const others = table.axes.map((axis, i) => ({ axis, i })).filter(({ i }) => i !== choice.x && i !== choice.by);
  return (
    <div class="sweep">
      <p class="chart-bar">
        <Select label="Figure" value={choice.metric} options={table.metrics.map((m) => [m, metricWords(m)])} choose={(metric) => choose({ ...choice, metric })} />
        {axes.length > 1 && <Select label="over" value={String(choice.x)} options={axes} choose={(v) => choose({ ...choice, x: Number(v), by: choice.by === Number(v) ? choice.x : choice.by })} />}
        {axes.length > 1 && <Select label="one line per" value={String(choice.by ?? "")} options={[["", "(none)"], ...axes.filter(([i]) => i !== String(choice.x))]} choose={(v) => choose({ ...choice, by: v === "" ? null : Number(v) })} />}
        {others.map(({ axis, i }) => <Select key={axis} label={axis} value={choice.fixed[i]} options={valuesOf(table, i).map((v) => [v, v])} choose={(v) => choose({ ...choice, fixed: { ...choice.fixed, [i]: v } })} />)}
      </p>
      <Figure table={table} choice={choice} />
      <p class="note">Means over the seeds with 95 % intervals (Student's t). For a paper: <code>wayhop plot sweep {name === "." ? "DIR" : name}</code></p>
    </div>
  );
}
