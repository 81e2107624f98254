// Fields that say what was typed once it is complete: at Enter, or when the focus leaves. What is not taken is put back.

import * as doc from "./document";

interface Common { label: string; disabled?: boolean; visible?: boolean; unit?: string }

/** More characters than a narrow field shows: it gets a line of its own. */
const NARROW = 15;

function wrap(label: string, visible: boolean | undefined, field: preact.JSX.Element, longest: string | undefined, unit?: string) {
  if (!visible) return field;
  return <label class={(longest?.length ?? 0) > NARROW ? "field long" : "field"}><span>{label}</span>{field}{unit && <small class="unit" aria-hidden="true">{unit}</small>}</label>;
}

/** `empty` is what an empty field says; without it, an empty field is put back. */
export function NumberField({ label, value, onCommit, disabled, visible, unit, min, max, step = "any", empty, placeholder }: Common & {
  value: number | null; onCommit: (v: number | null) => void; min?: number; max?: number; step?: string; empty?: boolean; placeholder?: string;
}) {
  const shown = value === null ? "" : String(value);
  const commit = (field: HTMLInputElement) => {
    if (field.value.trim() === "" && empty) { if (value !== null) onCommit(null); return; }
    const typed = Number(field.value);
    if (field.value.trim() === "" || !Number.isFinite(typed)) { field.value = shown; return; }
    if (typed < (min ?? -Infinity) || typed > (max ?? Infinity) || (step === "1" && !Number.isInteger(typed))) {
      const limits = max === undefined ? `of at least ${min ?? 0}` : `from ${min ?? 0} to ${max}`;
      doc.complain(`${label}: ${typed} is not a ${step === "1" ? "whole number" : "number"} ${limits}`);
      field.value = shown;
      return;
    }
    if (typed !== value) onCommit(typed);
  };
  return wrap(label, visible, (
    <input type="number" key={`${shown} ${doc.refusals.value}`} defaultValue={shown} min={min} max={max} step={step} disabled={disabled} placeholder={placeholder}
      aria-label={visible ? undefined : label} onChange={(e) => commit(e.currentTarget)} />
  ), placeholder, unit);
}

/** What `onCommit` refuses (false) is put back. */
export function TextField({ label, value, onCommit, disabled, visible, placeholder }: Common & { value: string; onCommit: (v: string) => void | false; placeholder?: string }) {
  return wrap(label, visible, (
    <input type="text" key={`${value} ${doc.refusals.value}`} defaultValue={value} disabled={disabled} placeholder={placeholder} aria-label={visible ? undefined : label}
      onChange={(e) => { if (e.currentTarget.value !== value && onCommit(e.currentTarget.value) === false) e.currentTarget.value = value; }} />
  ), value === "" ? placeholder : value);
}

export function Choice({ label, value, options, onCommit, disabled, visible }: Common & { value: string; options: [string, string][]; onCommit: (v: string) => void }) {
  return wrap(label, visible, (
    <select key={doc.refusals.value} value={value} disabled={disabled} aria-label={visible ? undefined : label} onChange={(e) => onCommit(e.currentTarget.value)}>
      {!options.some(([v]) => v === value) && <option value={value}>{value}</option>}
      {options.map(([v, words]) => <option key={v} value={v}>{words}</option>)}
    </select>
  ), options.map(([, words]) => words).reduce((a, b) => (b.length > a.length ? b : a), value));
}
