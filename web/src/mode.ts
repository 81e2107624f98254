// What the page shows: the player of runs, the editor of a scenario, or a matrix of attenuators.

import { signal } from "@preact/signals";

export const mode = signal<"player" | "editor" | "matrix" | null>(null);
/** Whether the studio has a scenario to edit. */
export const canEdit = signal(false);
