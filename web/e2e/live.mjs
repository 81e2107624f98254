// Following a run under way: an emulation with real pings, a node dragged out of range, a connection that breaks, a second viewer.
// Needs root, as emulation does.
//   WAYHOP=target/debug/wayhop node e2e/live.mjs [FOLDER FOR SCREENSHOTS]
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { errorsOf, launch, newFolder, noSeriousViolation, serve, shoot, start, until, wait, wayhop } from "./studio.mjs";

const folder = newFolder("live");
const out = join(folder, "run");
const env = { ...process.env, WAYHOP_RUNTIME_DIR: join(folder, "sockets") };
const SCENARIO = `name = "followed"
duration_s = 10000
nodes.count = 3
movement = { kind = "static", positions = [{ x = 100, y = 300 }, { x = 300, y = 300 }, { x = 500, y = 300 }] }
protocol = { name = "dsr" }
[[programs]]
node = 0
command = ["ping", "-n", "-D", "-i", "0.2", "mesh-2"]
output = "ping.txt"
`;

const button = (page, name) => page.getByRole("button", { name, exact: true });
const ctl = (...args) => JSON.parse(execFileSync(wayhop, ["ctl", "--json", "--run", "followed", ...args], { env, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }));

/** Replies to pings so far. */
function replies() {
  try {
    return readFileSync(join(out, "programs/ping.txt"), "utf8").split("\n").filter((l) => l.includes("bytes from")).length;
  } catch {
    return 0;
  }
}

async function onPage(page, x, y) {
  return page.evaluate(([gx, gy]) => {
    const canvas = document.querySelector(".map canvas");
    const [cx, cy, scale] = canvas.dataset.camera.split(",").map(Number);
    const r = canvas.getBoundingClientRect();
    return [r.left + r.width / 2 + (gx - cx) * scale, r.top + r.height / 2 - (gy - cy) * scale];
  }, [x, y]);
}

async function pingsFlow(why) {
  const before = replies();
  await until(`pings are answered ${why}`, () => replies() >= before + 3);
}

/** The page shows the run, its packets and its nodes' places. */
async function follows(page) {
  await page.getByText("● live", { exact: true }).waitFor();
  await until("events come", async () => (await page.locator(".events").first().locator("li").count()) > 5);
  const first = await page.locator("output.now").textContent();
  await until("time goes on", async () => (await page.locator("output.now").textContent()) !== first);
  assert.match(await page.locator("tbody tr").nth(1).textContent(), /300\.0300\.0/);
  // Both directions of the pings are flows, by their ends, with what goes by them.
  for (const ends of ["0 → 2", "2 → 0"]) await page.locator(".flow-table tbody tr", { hasText: "icmp" }).filter({ hasText: ends }).filter({ hasText: /[1-9][\d.]* kb\/s/ }).waitFor();
}

/** The relay is dragged away by the mouse: the radio has it where the mouse left it, and pings stop. */
async function draggingBreaksTheLink(page) {
  await pingsFlow("before");
  for (let i = 0; i < 3; i += 1) await button(page, "Zoom out").click();
  await wait(200);
  const from = await onPage(page, 300, 300);
  await page.mouse.move(...from);
  await page.mouse.down();
  const to = [from[0], from[1] - 250];
  await page.mouse.move(from[0], from[1] - 120, { steps: 6 });
  await page.mouse.move(...to, { steps: 6 });
  await shoot(page, "live-drag");
  await page.mouse.up();
  const goal = await page.evaluate(([px, py]) => {
    const canvas = document.querySelector(".map canvas"), r = canvas.getBoundingClientRect();
    const [cx, cy, scale] = canvas.dataset.camera.split(",").map(Number);
    return [cx + (px - r.left - r.width / 2) / scale, cy - (py - r.top - r.height / 2) / scale];
  }, to);
  await until("the radio has the node where the mouse left it", () => {
    const { local } = ctl("--node", "1", "position").nodes[0];
    return Math.hypot(local.x - goal[0], local.y - goal[1]) < 1;
  });
  assert.ok(goal[1] > 300 + 200, `out of range of both: ${goal}`);
  await until("pings stop", async () => { const n = replies(); await wait(3000); return replies() === n; });
  await shoot(page, "live-broken");
}

/** By keyboard alone: the node is chosen, put back by numbers, and pings are answered again. */
async function keyboardPutsItBack(page) {
  const row = page.locator("tbody").getByRole("button", { name: ctl("hello").nodes[1].name, exact: true });
  await until("the node is chosen", async () => {
    if ((await row.getAttribute("aria-pressed")) === "true") return true;
    await row.press("Enter");
    // Pressing again before the page has answered would undo it.
    await wait(2000);
    return false;
  });
  await page.getByRole("spinbutton", { name: "x, m" }).fill("300");
  await page.getByRole("spinbutton", { name: "y, m" }).fill("300");
  await page.keyboard.press("Enter");
  await pingsFlow("again");
  await page.getByText("route cache", { exact: false }).first().waitFor();
  // The emulation tells the lengths of queues and tables; at hand they are a strip chart, too.
  await page.locator("dd.sizes", { hasText: /interface queue \d+, route cache [1-9]/ }).waitFor();
  await page.locator(".charts > summary").click();
  await page.getByLabel("Quantity").selectOption("sizes/route_cache");
  await page.getByRole("button", { name: "Add strip" }).click();
  await page.locator(".strip-chart .note", { hasText: /Maximum: \d+ entries/ }).waitFor();
  await page.locator(".charts > summary").click();
  await shoot(page, "live-node");
  await noSeriousViolation(page, "live, a node selected");
}

/** A node is taken down and brought back from the page. */
async function nodeGoesDownAndUp(page) {
  await button(page, "Take down").click();
  await until("it is down", () => ctl("hello").nodes[1].up === false);
  await button(page, "Bring up").click();
  await until("it is up", () => ctl("hello").nodes[1].up === true);
  await pingsFlow("after the outage");
}

/** A way to the studio that can be cut. */
function tunnel(to) {
  const open = new Set();
  let isCut = false;
  const server = createServer((near) => {
    if (isCut) { near.destroy(); return; }
    const far = connect(Number(to.port), to.hostname);
    for (const [a, b] of [[near, far], [far, near]]) {
      open.add(a);
      a.pipe(b);
      a.on("error", () => b.destroy());
      a.on("close", () => { open.delete(a); b.destroy(); });
    }
  });
  return new Promise((done) => server.listen(0, "127.0.0.1", () => done({
    port: server.address().port,
    cut() { isCut = true; open.forEach((s) => s.destroy()); },
    mend() { isCut = false; },
    close() { server.close(); open.forEach((s) => s.destroy()); },
  })));
}

const shownTime = async (page) => {
  const [h, m, s] = (await page.locator("output.now").textContent()).split("/")[0].trim().split(":").map(Number);
  return s === undefined ? h * 60 + m : h * 3600 + m * 60 + s;
};

/** A second viewer, whose connection has just been broken. */
async function cutOff(browser, address) {
  const way = await tunnel(new URL(address));
  const page = await (await browser.newContext({ viewport: { width: 1280, height: 800 } })).newPage();
  await page.goto(address.replace(new URL(address).port, String(way.port)));
  await follows(page);
  way.cut();
  await page.getByText("○ reconnecting ...", { exact: true }).waitFor();
  return { way, page };
}

/** A page whose connection is broken while the run ends hears of it when the studio answers again. */
async function cutOffPage(browser, address) {
  const { way, page } = await cutOff(browser, address);
  return {
    async hearsOfTheEnd() {
      way.mend();
      await page.getByText("■ ended", { exact: true }).waitFor();
      assert.equal(await page.getByText("trying again").count(), 0, "it does not try for ever");
      await page.context().close();
      way.close();
    },
  };
}

/** A second viewer sees the same. Its connection breaks, comes back, and what happened meanwhile is there. */
async function connectionBreaks(browser, address) {
  const { way, page } = await cutOff(browser, address);
  const cut = await shownTime(page);
  await wait(4000);
  await shoot(page, "live-reconnecting");
  way.mend();
  await page.getByText("● live", { exact: true }).waitFor();
  assert.equal(await page.locator(".problems p").count(), 0, "what was wrong is no more");
  await until("the present is past the cut", async () => (await shownTime(page)) > cut + 4);
  await page.locator("#moment").fill(String(cut + 2.5));
  await page.keyboard.press("Enter");
  const latest = page.locator(".events").first().locator("time").first();
  await until("an event of the time without a connection is shown", async () => {
    const [m, s] = (await latest.textContent()).split(":").map(Number);
    const t = m * 60 + s;
    return t > cut + 1.5 && t <= cut + 2.6;
  });
  assert.equal(await page.getByText("events were lost").count(), 0);
  await page.context().close();
  way.close();
}

/** Strangers: no token, another site's Origin, no Origin. */
async function strangersGetNothing(address) {
  const at = new URL(address);
  const upgrade = { Connection: "Upgrade", Upgrade: "websocket", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "d2F5aG9wIHdheWhvcCB3YQ==" };
  const ask = (headers) => new Promise((done) => {
    const asked = request(`${at.origin}/api/live/watch?run=followed`, { headers: { ...upgrade, ...headers } });
    asked.on("upgrade", (answer, socket) => { socket.destroy(); done(answer.statusCode); });
    asked.on("response", (answer) => { answer.resume(); done(answer.statusCode); });
    asked.end();
  });
  const token = at.searchParams.get("token");
  const cookie = `wayhop-studio-${at.port}=${token}`;
  assert.equal(await ask({ origin: `http://${at.host}` }), 403, "no token");
  assert.equal(await ask({ origin: "http://stranger.example", cookie }), 403, "another site");
  assert.equal(await ask({ cookie }), 403, "no origin");
  assert.equal(await ask({ origin: `http://${at.host}`, cookie }), 101, "the page itself");
}

writeFileSync(join(folder, "followed.toml"), SCENARIO);
const { child: emulation } = await start(wayhop, ["emulate", join(folder, "followed.toml"), "--quiet", "--out", out], { env });
let server, browser;
try {
  await until("the emulation answers", () => { try { return ctl("hello").name === "followed"; } catch { return false; } });
  const served = await serve(["--live", "followed", folder], env);
  server = served.server;
  browser = await launch();
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  const errors = errorsOf(page);
  await page.goto(served.address);
  await follows(page);
  await shoot(page, "live");
  await draggingBreaksTheLink(page);
  await keyboardPutsItBack(page);
  await nodeGoesDownAndUp(page);
  await connectionBreaks(browser, served.address);
  await strangersGetNothing(served.address);
  await page.emulateMedia({ colorScheme: "dark" });
  await noSeriousViolation(page, "live, dark");
  await shoot(page, "live-dark");
  await page.setViewportSize({ width: 390, height: 800 });
  await shoot(page, "live-phone");
  await page.setViewportSize({ width: 1280, height: 800 });
  const cutOff = await cutOffPage(browser, served.address);
  ctl("quit");
  await page.getByText("■ ended", { exact: true }).waitFor().catch(async (e) => {
    throw new Error(`the page says ${await page.locator("body").innerText()}; the emulation ${emulation.exitCode}: ${e}`);
  });
  assert.match(await page.locator(".problems").textContent(), /the run has ended/);
  await shoot(page, "live-ended");
  await cutOff.hearsOfTheEnd();
  assert.deepEqual(errors, []);
} finally {
  await browser?.close();
  server?.kill();
  emulation.kill();
  await wait(300);
  rmSync(folder, { recursive: true, force: true });
}
console.log("live: all done");
