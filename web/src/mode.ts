// What the page shows: the player of runs, or the editor of a scenario.

import { signal } from "@preact/signals";

export const mode = signal<"player" | "editor" | null>(null);
/** Whether the studio has a scenario to edit. */
export const canEdit = signal(false);
