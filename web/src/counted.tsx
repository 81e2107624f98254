// Counts that the server is still making: how far they are, and how to wait for the rest. What is not counted yet is not a number.

import type { Frame } from "./frame";

/** How often counts are asked for while they grow, milliseconds. */
const AGAIN_MS = 700;

/** The share of the run that is counted, 0 to 1. */
export function share(frame: Frame): number {
  const done = (frame.head["done"] as number | undefined) ?? 1, all = (frame.head["groups"] as number | undefined) ?? 1;
  return all > 0 ? Math.min(1, done / all) : 1;
}
export const isCounted = (frame: Frame): boolean => share(frame) >= 1;

/** Asks for counts until they are complete or not wanted any more; each answer is taken. */
export async function untilCounted(ask: () => Promise<Frame>, isWanted: () => boolean, take: (frame: Frame) => void): Promise<void> {
  while (isWanted()) {
    const frame = await ask();
    if (!isWanted()) return;
    take(frame);
    if (isCounted(frame)) return;
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
  }
}

/** How far the counts are; `frame` is null before the first answer. Screen readers announce that it counts, and are asked for how far. */
export function CountProgress({ frame, what }: { frame: Frame | null; what: string }) {
  if (frame && isCounted(frame)) return null;
  const percent = frame ? Math.floor(100 * share(frame)) : null;
  return (
    <p class="note counting">
      <span role="status">Counting {what} …</span>{" "}
      <progress max={100} value={percent ?? undefined} aria-label={`Counting ${what}, percent of the run`} /> {percent !== null && <span aria-hidden="true">{percent} %</span>}
    </p>
  );
}
