#!/usr/bin/env node
// How fast the studio's page is, in headless Chromium: pictures of large networks, and how long a long run takes to open and to jump in.
//
//     studio.mjs [--nodes 1000,10000] [--megabytes 1000] [--folder FOLDER] [--out FILE]
//
// Needs `cd web && npm ci`, Chromium, and the release binary or $WAYHOP. With --folder the runs are kept, and those that are there are
// not made again; --megabytes 0 leaves the long run out. Networks have 4 links a node; the page plays at 1 x for 300 pictures.
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { cpus, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";

const root = resolve(import.meta.dirname, "..");
const { chromium } = createRequire(join(root, "web/package.json"))("playwright-core");
const { values } = parseArgs({ options: {
  nodes: { type: "string", default: "1000,10000" }, megabytes: { type: "string", default: "1000" },
  folder: { type: "string" }, out: { type: "string", default: join(root, "bench/results/studio.json") },
} });
const wayhop = resolve(process.env.WAYHOP ?? join(process.env.CARGO_TARGET_DIR ?? join(root, "target"), "dist/wayhop"));
if (!existsSync(wayhop)) throw new Error(`${wayhop} is missing: cargo build --profile dist --package wayhop-cli, or set WAYHOP`);
const folder = values.folder ?? mkdtempSync(join(tmpdir(), "studio-bench-"));
mkdirSync(folder, { recursive: true });

const run = (...args) => execFileSync(wayhop, ["run", ...args, "--quiet"], { stdio: ["ignore", "ignore", "inherit"] });
const round = (ms) => Math.round(ms * 100) / 100;

/** A network in which each node has as many neighbours as in that of 1,000: the area grows with the nodes. */
function crowd(nodes) {
  const out = join(folder, `nodes-${nodes}`), side = Math.round(4950 * Math.sqrt(nodes / 1000));
  if (!existsSync(out)) run(join(root, "web/e2e/large.toml"), "--set", `nodes.count=${nodes}`, "--set", `area.x_m=${side}`, "--set", `area.y_m=${side}`, "--out", out);
  return `nodes-${nodes}`;
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
  return table("long");
}

async function pictures(page, address, name) {
  await page.goto(`${address}?run=${name}`);
  await page.locator("tbody tr").nth(50).waitFor();
  await page.waitForTimeout(1000);
  await page.keyboard.press("Space");
  const times = await page.evaluate(() => new Promise((done) => {
    const all = [];
    const frame = (t) => (all.push(t) < 301 ? requestAnimationFrame(frame) : done(all));
    requestAnimationFrame(frame);
  }));
  const gaps = times.slice(1).map((t, i) => t - times[i]).sort((a, b) => a - b);
  const at = (share) => round(gaps[Math.min(gaps.length - 1, Math.floor(share * gaps.length))]);
  return { mean_ms: round((times.at(-1) - times[0]) / gaps.length), p50_ms: at(0.5), p95_ms: at(0.95), max_ms: at(1) };
}

/** Seconds until the map shows nodes, until the list has events, and, for ten places in the run, until a jump to there shows events. */
async function opening(page, address) {
  const listed = () => page.locator(".events li").nth(5).waitFor();
  const begin = performance.now();
  await page.goto(`${address}?run=long&t=5`);
  await page.locator("canvas[data-camera]").waitFor();
  const map = performance.now() - begin;
  await listed();
  const events = performance.now() - begin;
  const end = Number(await page.locator("input[type=range]").getAttribute("max")), jumps = [];
  for (let i = 1; i <= 10; i += 1) {
    const to = Math.round(((i * 7) % 11) / 11 * end), from = performance.now();
    await page.locator("#moment").fill(String(to));
    await page.keyboard.press("Enter");
    const minutes = `${Math.floor(to / 60) % 60}:`, hours = Math.floor(to / 3600);
    const clock = hours > 0 ? `${hours}:${minutes.padStart(3, "0")}` : minutes;
    // The list has events of the second before that moment, or of its minute.
    await page.waitForFunction(([a, b]) => [...document.querySelectorAll(".events time")].some((t) => t.textContent.startsWith(a) || t.textContent.startsWith(b)), [clock, clock]);
    jumps.push(performance.now() - from);
  }
  jumps.sort((a, b) => a - b);
  return { map_ms: round(map), events_ms: round(events), jump_median_ms: round(jumps[5]), jump_max_ms: round(jumps.at(-1)) };
}

const result = { cores: cpus().length, processor: cpus()[0]?.model, pictures: {} };
const names = values.nodes.split(",").filter(Boolean).map((n) => crowd(Number(n)));
const octets = Number(values.megabytes) * 1e6;
if (octets > 0) result.long_octets = long(octets);
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
  if (octets > 0) {
    result.long = await opening(await browser.newPage({ viewport: { width: 1280, height: 800 } }), address);
    console.log("long", result.long_octets, "octets", result.long);
  }
  writeFileSync(values.out, `${JSON.stringify(result, null, 1)}\n`);
} finally {
  await browser?.close();
  server.kill();
  if (!values.folder) rmSync(folder, { recursive: true, force: true });
}
