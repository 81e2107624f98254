// The studio as its users have it: a recorded run, a browser, a keyboard.
//   WAYHOP=target/debug/wayhop node e2e/player.mjs [FOLDER FOR SCREENSHOTS]
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, truncateSync, statSync, cpSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { chromium } from "playwright-core";

const root = resolve(import.meta.dirname, "../..");
const wayhop = resolve(process.env.WAYHOP ?? join(root, "target/debug/wayhop"));
const shots = process.argv[2];
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const folder = mkdtempSync(join(tmpdir(), "studio-"));

const run = (...args) => execFileSync(wayhop, args, { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"], maxBuffer: 1 << 28 });

function serve() {
  const server = spawn(wayhop, ["studio", folder, "--no-browser"], { stdio: ["ignore", "pipe", "ignore"] });
  return new Promise((done, fail) => {
    server.stdout.once("data", (line) => done({ server, address: String(line).trim() }));
    server.once("exit", (status) => fail(new Error(`wayhop studio ended with ${status}`)));
  });
}

/** The legs of a node, read by another way than the page's: the CSV export. */
function legs(name, node) {
  const [head, ...lines] = run("export", "csv", join(folder, name), "positions").trim().split("\n").map((l) => l.split(","));
  const rows = lines.map((l) => Object.fromEntries(head.map((h, i) => [h, l[i]])));
  return rows.filter((r) => Number(r.node) === node).map((r) => ({
    from: Number(r.time_ns), x: Number(r.x_m), y: Number(r.y_m), vx: Number(r.vx_mps), vy: Number(r.vy_mps),
  }));
}

function placeBy(list, t) {
  const leg = list.filter((l) => l.from <= t).sort((a, b) => a.from - b.from).at(-1);
  const s = (t - leg.from) * 1e-9;
  return [leg.x + leg.vx * s, leg.y + leg.vy * s];
}

const settled = (page) => page.waitForFunction(() => document.querySelectorAll("table tbody tr").length > 0
  && document.querySelector(".u-wrap") !== null);
const now = (page) => page.locator("input[type=range]").inputValue().then(Number);
const shoot = (page, name) => (shots ? page.screenshot({ path: join(shots, `${name}.png`) }) : undefined);
/** Lets the page draw what it has been told. */
const drawn = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));

async function noSeriousViolation(page, where) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => window.axe.run());
  const serious = violations.filter((v) => ["serious", "critical"].includes(v.impact));
  assert.deepEqual(serious.map((v) => `${v.id}: ${v.nodes[0].html}: ${v.nodes[0].failureSummary}`), [], where);
}

/** The position on the screen is the position in the radio: the selected node's frame lies around where the formula says. */
async function positionIsTheFormulas(page, address) {
  const t = 61.7, node = 0;
  await page.goto(`${address}?run=first&t=${t}&node=${node}&camera=750,150,0.5`);
  await settled(page);
  await drawn(page);
  const [x, y] = placeBy(legs("first", node), t * 1e9);
  const found = await page.evaluate(([gx, gy]) => {
    const canvas = document.querySelector(".map canvas");
    const { width, height } = canvas.getBoundingClientRect();
    const sx = width / 2 + (gx - 750) * 0.5, sy = height / 2 - (gy - 150) * 0.5;
    const g = canvas.getContext("2d"), scale = canvas.width / width;
    const at = (dx, dy) => g.getImageData(Math.round((sx + dx) * scale), Math.round((sy + dy) * scale), 1, 1).data.slice(0, 3).join();
    const frame = [[-11, -8], [11, -8], [-8, -11], [-8, 11]].map(([dx, dy]) => at(dx, dy));
    return { inside: sx > 12 && sy > 12 && sx < width - 12 && sy < height - 12, ground: at(-9, 0), frame };
  }, [x, y]);
  assert.ok(found.inside, "the node is on the screen");
  for (const pixel of found.frame) assert.notEqual(pixel, "255,255,255", `the frame is around ${x}, ${y}: ${JSON.stringify(found)}`);
  const row = await page.locator("tr.selected td").allTextContents();
  assert.deepEqual(row.slice(0, 2), [x.toFixed(1), y.toFixed(1)], "the table says the same");
}

async function keyboardAlone(page, address) {
  await page.goto(`${address}?run=first&t=10`);
  await settled(page);
  const key = (k) => page.keyboard.press(k);
  await key("ArrowRight");
  assert.equal(await now(page), 11);
  await key("Shift+ArrowRight");
  const events = run("export", "csv", join(folder, "first"), "packets").split("\n").slice(1).map((l) => Number(l.split(",")[0]));
  assert.equal(Math.round((await page.waitForFunction(() => {
    const v = Number(document.querySelector("input[type=range]").value);
    return v > 11 ? v : false;
  }).then((h) => h.jsonValue())) * 1e9), events.find((e) => e > 11e9), "the next event of the table");
  await key(".");
  assert.equal(await page.locator(".speed select").inputValue(), "2");
  await key("j");
  await page.keyboard.type("1:02.5");
  await key("Enter");
  assert.equal(await now(page), 62.5);
  await key("Space");
  await page.waitForFunction(() => Number(document.querySelector("input[type=range]").value) > 62.6);
  await key("Space");
  const paused = await now(page);
  await drawn(page);
  assert.equal(await now(page), paused, "a pause holds");
  await key("/");
  const name = await page.locator("tbody th button").nth(3).textContent();
  await page.keyboard.type(name);
  await key("Enter");
  await key("Escape");
  assert.equal(await page.locator("tr.selected button").textContent(), name);
  await page.waitForFunction(() => location.search.includes("node=3") && location.search.includes("speed=2"));
  await key("?");
  await page.locator("dialog[open]").waitFor();
  await noSeriousViolation(page, "help");
  await key("Escape");
}

async function brokenRunsSayWhatIsWrong(page, address) {
  await page.goto(`${address}?run=half`);
  const text = await page.locator("[role=alert]").filter({ hasText: "packets.parquet" }).textContent();
  assert.match(text, /damaged/);
  await page.goto(`${address}?run=nowhere`);
  await page.locator("[role=alert]").filter({ hasText: "no run nowhere" }).waitFor();
}

async function strangersGetNothing(browser, address) {
  const other = await browser.newPage();
  await other.route("http://stranger.example/**", (r) => r.fulfill({ contentType: "text/html", body: "<p>a page" }));
  await other.goto("http://stranger.example/");
  const got = await other.evaluate((a) => fetch(`${a}api/runs`, { mode: "cors" }).then((r) => r.text(), () => "nothing"), address);
  assert.equal(got, "nothing");
  await other.close();
}

/** Measured and printed; how fast it must be depends on the machine. */
async function rate(page, address) {
  await page.goto(`${address}?run=large&speed=1`);
  await settled(page);
  await page.keyboard.press("Space");
  const ms = await page.evaluate(() => new Promise((done) => {
    const times = [];
    const frame = (t) => (times.push(t) < 120 ? requestAnimationFrame(frame) : done((times.at(-1) - times[0]) / (times.length - 1)));
    requestAnimationFrame(frame);
  }));
  assert.ok((await now(page)) > 0, "it plays");
  console.log(`1,000 nodes: ${ms.toFixed(1)} ms from picture to picture`);
}

let server, browser;
try {
  run("run", "scenarios/first.toml", "--out", join(folder, "first"), "--quiet");
  run("run", "web/e2e/large.toml", "--out", join(folder, "large"), "--quiet");
  cpSync(join(folder, "first"), join(folder, "half"), { recursive: true });
  const half = join(folder, "half/packets.parquet");
  truncateSync(half, Math.floor(statSync(half).size / 2));
  let address;
  ({ server, address } = await serve());
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, colorScheme: "light" });
  const errors = [], elsewhere = [];
  page.on("pageerror", (e) => errors.push(String(e)));
  page.on("console", (m) => { if (m.text().includes("Content Security Policy")) errors.push(m.text()); });
  page.on("request", (r) => { if (!r.url().startsWith(address) && !r.url().startsWith("data:")) elsewhere.push(r.url()); });

  await positionIsTheFormulas(page, address);
  await shoot(page, "node");
  await noSeriousViolation(page, "light");
  await keyboardAlone(page, address);
  await page.goto(`${address}?run=first&t=64`);
  await settled(page);
  await page.keyboard.press("Space");
  await page.waitForFunction(() => Number(document.querySelector("input[type=range]").value) > 64.6);
  await page.keyboard.press("Space");
  await shoot(page, "light");
  await page.emulateMedia({ colorScheme: "dark" });
  await page.reload();
  await settled(page);
  await drawn(page);
  await shoot(page, "dark");
  await noSeriousViolation(page, "dark");
  await page.emulateMedia({ colorScheme: "light" });
  await brokenRunsSayWhatIsWrong(page, address);
  await shoot(page, "broken");
  await rate(page, address);
  await shoot(page, "large");
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto(`${address}?run=first&t=64.5&node=0`);
  await settled(page);
  await drawn(page);
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "nothing is wider than a phone");
  await shoot(page, "phone");
  if (shots) await page.screenshot({ path: join(shots, "phone-whole.png"), fullPage: true });
  await noSeriousViolation(page, "phone");
  await strangersGetNothing(browser, address);
  assert.deepEqual(errors, [], "no error in the page");
  assert.deepEqual(elsewhere, [], "no request leaves the machine");
  console.log("the studio's player: all checks passed");
} finally {
  await browser?.close();
  server?.kill();
  rmSync(folder, { recursive: true, force: true });
}
