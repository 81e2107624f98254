// A question to the server that changes nothing there, and so may be asked again.

/** How often a question is asked, and how long the page waits before it asks again, milliseconds. */
const MOST_TRIES = 4, PAUSE_MS = 250;

/** Chromium ends what is under way when an interface of the machine comes or goes, as on laptops in a field: then the question is asked again. */
export async function get(address: string): Promise<Response> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await fetch(address);
    } catch {
      if (tries === MOST_TRIES) throw new Error("The studio does not respond. If you closed it, start it again with: wayhop studio");
      await new Promise((done) => setTimeout(done, tries * PAUSE_MS));
    }
  }
}
