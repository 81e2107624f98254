import { afterEach, expect, test, vi } from "vitest";
import { get } from "../src/get";

afterEach(() => { vi.useRealTimers(); vi.unstubAllGlobals(); });

/** A network that fails so often before it answers. */
function network(failures: number) {
  let asked = 0;
  vi.useFakeTimers();
  vi.stubGlobal("fetch", async () => { if (asked++ < failures) throw new TypeError("Failed to fetch"); return new Response("here"); });
  return () => asked;
}

test("a question that the network lost is asked again", async () => {
  const asked = network(2), answer = get("/api/runs");
  await vi.runAllTimersAsync();
  expect(await (await answer).text()).toBe("here");
  expect(asked()).toBe(3);
});

test("a studio that was closed is not asked for ever", async () => {
  const asked = network(Infinity), answer = expect(get("/api/runs")).rejects.toThrow("does not respond");
  await vi.runAllTimersAsync();
  await answer;
  expect(asked()).toBe(4);
});

test("an error of the server is an answer", async () => {
  vi.stubGlobal("fetch", async () => new Response("no", { status: 404 }));
  expect((await get("/api/run")).status).toBe(404);
});
