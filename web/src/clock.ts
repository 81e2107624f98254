// Time of the replay. It goes on by the time that passed, not by frames, so that a slow machine shows fewer pictures, not a slower run.

export const SPEEDS = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100];

/** The speed next to this one, up or down. */
export function nextSpeed(speed: number, up: boolean): number {
  const others = SPEEDS.filter((s) => (up ? s > speed : s < speed));
  return (up ? others[0] : others.at(-1)) ?? speed;
}

/** Nanoseconds of the run after `elapsedMs` of real time. */
export function advance(t: number, elapsedMs: number, speed: number, end: number): number {
  return Math.min(end, t + elapsedMs * 1e6 * speed);
}

/** What a person types for a moment: seconds, m:ss or h:mm:ss. Nanoseconds, or null for what is none. */
export function parseMoment(text: string): number | null {
  const parts = text.trim().split(":");
  if (parts.length > 3 || parts.some((p) => !/^\d+(\.\d+)?$/.test(p))) return null;
  return parts.reduce((sum, p) => sum * 60 + Number(p), 0) * 1e9;
}

export function showMoment(ns: number): string {
  const s = ns / 1e9;
  const hours = Math.floor(s / 3600), minutes = Math.floor(s / 60) % 60;
  const seconds = (Math.floor(s * 1000) / 1000 % 60).toFixed(3).padStart(6, "0");
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, "0")}:${seconds}` : `${minutes}:${seconds}`;
}

/** How long before a moment something was. */
export const ago = (t: number, then: number): string => `${((t - then) / 1e9).toFixed(1)} s ago`;
