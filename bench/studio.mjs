#!/usr/bin/env node
// How fast the studio's page is, in headless Chromium: pictures of large networks, and how long a long run takes to open and to jump in.
//
//     studio.mjs [--nodes 1000,10000] [--busy 10000 --seconds 12] [--megabytes 1000] [--folder FOLDER [--also RUN,RUN]] [--out FILE]
//
// Needs `cd web && npm ci`, Chromium, and the release binary or $WAYHOP. With --folder the runs are kept, and those that are there are
// not made again; --megabytes 0 leaves the long run out. Networks have 4 links a node; the page plays at 1 x for 300 pictures. Busy ones
// send Hellos for some seconds. Runs in the folder that --also names are opened, too.
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { cpus, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";

const root = resolve(import.meta.dirname, "..");
const { chromium } = createRequire(join(root, "web/package.json"))("playwright-core");
const { values } = parseArgs({ options: {
  nodes: { type: "string", default: "1000,10000" }, busy: { type: "string", default: "10000" }, seconds: { type: "string", default: "12" },
  also: { type: "string", default: "" }, megabytes: { type: "string", default: "1000" },
  folder: { type: "string" }, out: { type: "string", default: join(root, "bench/results/studio.json") },
} });
const wayhop = resolve(process.env.WAYHOP ?? join(process.env.CARGO_TARGET_DIR ?? join(root, "target"), "dist/wayhop"));
if (!existsSync(wayhop)) throw new Error(`${wayhop} is missing: cargo build --profile dist --package wayhop-cli, or set WAYHOP`);
const folder = values.folder ?? mkdtempSync(join(tmpdir(), "studio-bench-"));
mkdirSync(folder, { recursive: true });

const run = (...args) => execFileSync(wayhop, ["run", ...args, "--quiet"], { stdio: ["ignore", "ignore", "inherit"] });
const round = (ms) => Math.round(ms * 100) / 100;

/** A network in which each node has as many neighbours as in that of 1,000: the area grows with the nodes. A busy one says Hello
 * each second, for some 10 rows a node and second. */
function crowd(nodes, isBusy) {
  const name = `${isBusy ? "busy" : "nodes"}-${nodes}`, out = join(folder, name), side = Math.round(4950 * Math.sqrt(nodes / 1000));
  const busy = isBusy ? ["--set", "protocol.hello=\"always\"", "--duration", values.seconds] : [];
  if (!existsSync(out)) run(join(root, "web/e2e/large.toml"), "--set", `nodes.count=${nodes}`, "--set", `area.x_m=${side}`, "--set", `area.y_m=${side}`, ...busy, "--out", out);
  return name;
}

/** A run whose table of packets has this many bytes; a short run shows how long it has to be. */
function long(octets) {
  const scenario = join(folder, "long.toml"), table = (name) => statSync(join(folder, name, "packets.parquet")).size;
  writeFileSync(scenario, `name = "long"
nodes.count = 50
movement = { kind = "grid", spacing_m = 20 }
protocol = { name = "none" }
radio = { preset = "wavelan-914-cmu" }
traffic = [{ kind = "cbr-random", connections = 20, rate_pps = 40, payload_bytes = 64, start_max_s = 2 }]
`);
  const make = (name, seconds) => existsSync(join(folder, name)) || run(scenario, "--duration", String(seconds), "--out", join(folder, name));
  const TRIAL_S = 60;
  make("trial", TRIAL_S);
  make("long", Math.ceil((TRIAL_S * octets) / table("trial")));
}

/** Counts the processor time of a page's main thread: scripts, styles, layout, and painting up to the lists of what to draw. Others
 * at work on the machine do not count. */
async function clockOf(page) {
  const cdp = await page.context().newCDPSession(page);
  await cdp.send("Performance.enable", { timeDomain: "threadTicks" });
  return async () => (await cdp.send("Performance.getMetrics")).metrics.find((m) => m.name === "TaskDuration").value * 1000;
}

const spread = (all) => {
  const sorted = [...all].sort((a, b) => a - b), at = (share) => round(sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]);
  return { mean_ms: round(sorted.reduce((a, b) => a + b, 0) / sorted.length), p50_ms: at(0.5), p95_ms: at(0.95), max_ms: at(1) };
};

/** Of 300 pictures of the playing page, the time from one to the next, and the main thread's work for each. */
async function pictures(page, address, name) {
  const clock = await clockOf(page);
  await page.goto(`${address}?run=${name}&t=2`);
  await page.locator("tbody tr").nth(50).waitFor();
  await page.waitForTimeout(1000);
  await page.keyboard.press("Space");
  const before = await clock();
  const times = await page.evaluate(() => new Promise((done) => {
    const all = [];
    const frame = (t) => (all.push(t) < 301 ? requestAnimationFrame(frame) : done(all));
    requestAnimationFrame(frame);
  }));
  const work_ms = round(((await clock()) - before) / 300), gaps = spread(times.slice(1).map((t, i) => t - times[i]));
  return { ...gaps, fps: round(1000 / gaps.mean_ms), work_ms };
}

/** Milliseconds until the map shows nodes, until the list has events, until all is counted; and of jumps to 50 places in the run, until
 * the map and the list show that moment. */
async function opening(page, address, name) {
  const begin = performance.now();
  await page.goto(`${address}?run=${name}&t=5`);
  await page.locator("canvas[data-camera]").waitFor();
  const map = performance.now() - begin;
  await page.locator(".events li").nth(5).waitFor();
  const events = performance.now() - begin;
  await page.waitForFunction(() => document.querySelector(".chart .u-wrap") && !document.querySelector(".counting"), null, { timeout: 600_000 });
  const counts = performance.now() - begin;
  const end = Number(await page.locator("input[type=range]").getAttribute("max"));
  // The same places each time (Park and Miller, 1988).
  let random = 1;
  const places = Array.from({ length: 50 }, () => ((random = (random * 48271) % 2147483647) / 2147483647) * end);
  const jumps = await page.evaluate(async (places) => {
    const seconds = (text) => text.split(":").reduce((sum, part) => sum * 60 + Number(part), 0), all = [];
    for (const to of places) {
      const from = performance.now(), range = document.querySelector("input[type=range]");
      range.value = String(to);
      range.dispatchEvent(new Event("input", { bubbles: true }));
      // The latest event of a run with this many is of the second before, and nothing of that time is still on its way.
      const isShown = () => {
        const at = document.querySelector(".events time"), isLoading = [...document.querySelectorAll("[role=status]")].some((s) => s.textContent.startsWith("Loading"));
        return at && !isLoading && Math.abs(seconds(at.textContent) - to) < 1;
      };
      while (!isShown()) await new Promise((next) => requestAnimationFrame(next));
      all.push(performance.now() - from);
      // As a user who looks at it.
      await new Promise((next) => setTimeout(next, 500));
    }
    return all;
  }, places);
  return { map_ms: round(map), events_ms: round(events), counts_ms: round(counts), jumps: spread(jumps) };
}

const result = { cores: cpus().length, processor: cpus()[0]?.model, pictures: {}, opening: {} };
const sizes = (of) => of.split(",").filter(Boolean).map(Number);
const names = [...sizes(values.nodes).map((n) => crowd(n, false)), ...sizes(values.busy).map((n) => crowd(n, true))];
const octets = Number(values.megabytes) * 1e6;
if (octets > 0) long(octets);
const server = spawn(wayhop, ["studio", folder, "--no-browser"], { stdio: ["ignore", "pipe", "ignore"] });
let browser;
try {
  const address = String(await new Promise((done) => server.stdout.once("data", done))).trim();
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
  result.browser = browser.version();
  for (const name of names) {
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    result.pictures[name] = await pictures(page, address, name);
    console.log(name, result.pictures[name]);
    await page.close();
  }
  for (const name of [...names.filter((n) => n.startsWith("busy")), ...(octets > 0 ? ["long"] : []), ...values.also.split(",").filter(Boolean)]) {
    const octets = statSync(join(folder, name, "packets.parquet")).size;
    result.opening[name] = { octets, ...await opening(await browser.newPage({ viewport: { width: 1280, height: 800 } }), address, name) };
    console.log(name, octets, "octets", result.opening[name]);
  }
  writeFileSync(values.out, `${JSON.stringify(result, null, 1)}\n`);
} finally {
  await browser?.close();
  server.kill();
  if (!values.folder) rmSync(folder, { recursive: true, force: true });
}
