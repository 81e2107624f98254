// Whether the dialog that saves the map is open.

import { signal } from "@preact/signals";

export const exportShown = signal(false);
export const showExport = (): void => { exportShown.value = true; };
