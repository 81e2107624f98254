// Whether the page is dark, as the system is. It follows a change at once.

import { signal } from "@preact/signals";

const query = matchMedia("(prefers-color-scheme: dark)");
export const night = signal(query.matches);
query.addEventListener("change", () => { night.value = query.matches; });
