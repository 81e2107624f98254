// The seconds of a drive, as they come: `wayhop matrix drive --out RUN` writes one each second.

import { computed, effect, signal } from "@preact/signals";
import { embedded } from "../embedded";
import { secondAt, type Second } from "./rows";

interface Answer { file: string; from: number; next: number; more: boolean; rows: Second[]; damaged: number }

/** How often somebody looks for a new second, milliseconds. */
const LOOK_MS = 1000;
/** Seconds that are kept: five hours and a half. */
const MOST_KEPT = 20_000;

export const drives = signal<string[]>([]);
export const name = signal<string | null>(null);
export const seconds = signal<Second[]>([]);
/** The moment that is shown; null: the newest. */
export const moment = signal<number | null>(null);
export const radio = signal<number | null>(null);
export const problem = signal<string | null>(null);
export const damaged = signal(0);
/** After this time without new data, milliseconds, the drive has ended, or its box is slow. */
const FRESH_MS = 3500;
/** Whether seconds come in. */
export const isFresh = signal(false);
/** When the last second came in, by the page's clock; null before the first look is over. */
export const heard = signal<number | null>(null);
export const shown = computed(() => (moment.value === null ? seconds.value.at(-1) ?? null : secondAt(seconds.value, moment.value)));

async function ask<T>(path: string): Promise<T> {
  let response: Response;
  try { response = await fetch(path); } catch { throw new Error("The studio does not respond. If you closed it, start it again with: wayhop studio"); }
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error);
  return answer;
}

export async function list(): Promise<void> {
  if (embedded) return;
  drives.value = (await ask<{ drives: string[] }>("/api/matrix")).drives;
}

/** Follows a drive until another one is chosen. */
export function open(drive: string | null): void {
  name.value = drive;
}

effect(() => {
  const drive = name.value;
  seconds.value = []; moment.value = null; radio.value = null; problem.value = null; damaged.value = 0; heard.value = null; isFresh.value = false;
  if (drive === null) return;
  let current = true, file = "", next = 0;
  const look = async () => {
    const got = await ask<Answer>(`/api/matrix/rows?${new URLSearchParams({ run: drive, from: String(next), file })}`);
    if (!current) return;
    const isNew = got.from === 0 && next !== 0;
    // A drive that starts again is another one.
    if (isNew) { moment.value = null; damaged.value = 0; }
    const before = isNew || got.from === 0 ? [] : seconds.peek();
    if (got.rows.length > 0 || isNew) seconds.value = [...before, ...got.rows].slice(-MOST_KEPT);
    if (got.rows.length > 0 && heard.peek() !== null) heard.value = Date.now();
    damaged.value += got.damaged;
    ({ file, next } = got);
    problem.value = null;
    if (got.more) await look(); else heard.value ??= 0;
  };
  const loop = async () => {
    while (current) {
      try { await look(); } catch (e) { if (current) problem.value = e instanceof Error ? e.message : String(e); }
      if (current) isFresh.value = Date.now() - (heard.peek() ?? 0) < FRESH_MS;
      await new Promise((done) => setTimeout(done, LOOK_MS));
    }
  };
  void loop();
  return () => { current = false; };
});
