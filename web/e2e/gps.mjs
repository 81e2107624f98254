// How good a real node's GPS fix is, on its panel: live, and in its record. A node on an interface of a network namespace, and a
// gpsd that says what this test wants. Needs root, as nodes do.
//   WAYHOP=target/debug/wayhop node e2e/gps.mjs [FOLDER FOR SCREENSHOTS]
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { errorsOf, launch, newFolder, noSeriousViolation, readTable, serve, shoot, start, wait, wayhop } from "./studio.mjs";

const folder = newFolder("gps");
const env = { ...process.env, WAYHOP_RUNTIME_DIR: join(folder, "sockets") };
const space = `wayhop-gps-${process.pid}`;
const said = join(folder, "said");

/** What the receiver reports: RTK fixed with 5 and 12 mm, so 13 mm; or nothing. */
const REPORT = { class: "TPV", device: "/dev/x", status: 3, mode: 3, time: "2026-11-22T12:00:00.000Z", lat: 40.44, lon: -79.9425, altHAE: 300.5, track: 90, speed: 2.5, dgpsAge: 1.5 };
const DEVIATIONS = { class: "GST", device: "/dev/x", time: "2026-11-22T12:00:00.000Z", lat: 0.005, lon: 0.012, alt: 0.02 };
const SKY = { class: "SKY", device: "/dev/x", uSat: 14 };
const fixed = [REPORT, DEVIATIONS, SKY], lost = [{ class: "TPV", device: "/dev/x", mode: 1 }];

/** A gpsd in as many lines as the node needs: what stands in a file, twice a second. */
const GPSD = `
import { createServer } from "node:net";
import { readFileSync } from "node:fs";
createServer((s) => {
  const line = (o) => s.write(JSON.stringify(o) + "\\n");
  line({ class: "VERSION", release: "3.25", rev: "3.25", proto_major: 3, proto_minor: 15 });
  s.on("error", () => {});
  s.once("data", () => {
    line({ class: "DEVICES", devices: [] });
    line({ class: "WATCH", enable: true, json: true });
    const timer = setInterval(() => JSON.parse(readFileSync(process.argv[2], "utf8")).forEach(line), 500);
    s.on("close", () => clearInterval(timer));
  });
}).listen(2947, "127.0.0.1");
`;

const inside = (...args) => ["netns", "exec", space, ...args];
const fix = (page, text) => page.locator("dd.fix").filter({ hasText: text }).waitFor();

const children = [];
let browser;
try {
  chmodSync(folder, 0o755);
  writeFileSync(said, JSON.stringify(fixed));
  writeFileSync(join(folder, "gpsd.mjs"), GPSD);
  execFileSync("ip", ["netns", "add", space]);
  execFileSync("ip", inside("ip", "link", "set", "lo", "up"));
  execFileSync("ip", inside("ip", "link", "add", "eth9", "type", "veth", "peer", "name", "eth8"));
  for (const end of ["eth9", "eth8"]) execFileSync("ip", inside("ip", "link", "set", end, "up"));
  children.push((await start("ip", inside(process.execPath, join(folder, "gpsd.mjs"), said), { env })).child);
  const run = join(folder, "runs", "rover");
  const sets = ["control=rover", "gpsd=127.0.0.1:2947", `run=${run}`, "protocol.name=dsr"].flatMap((s) => ["--set", s]);
  execFileSync("mkdir", ["-p", join(folder, "runs")]);
  const { child: node } = await start("ip", inside(wayhop, "node", "--interface", "eth9", "--address", "10.0.0.1/16", ...sets), { env });
  children.push(node);
  for (let i = 0; ; i += 1) {
    try { execFileSync(wayhop, ["ctl", "--run", "rover", "hello"], { env, stdio: "ignore" }); break; } catch { assert.ok(i < 300, "the node answers"); await wait(100); }
  }
  const live = await serve(["--live", "rover", join(folder, "runs")], env);
  children.push(live.server);
  browser = await launch();
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  const errors = errorsOf(page);
  await page.goto(live.address);
  await page.locator("tbody th button").first().click();
  await fix(page, "RTK, fixed, ± 13 mm, height ± 20 mm (reported by the receiver), 14 satellites, corrections 1.5 s old");
  await page.getByText("measured 2026-11-22 12:00:00 UTC").waitFor();
  await noSeriousViolation(page, "live");
  await shoot(page, "gps-live");
  await wait(2500);
  writeFileSync(said, JSON.stringify(lost));
  await fix(page, "no receiver reports a position");
  await wait(2500);
  execFileSync(wayhop, ["ctl", "--run", "rover", "quit"], { env, stdio: "ignore" });
  await page.getByText("■ ended", { exact: true }).waitFor();
  live.server.kill();

  // What the record says of it.
  const rows = readTable(run, "gps");
  const ofStatus = (status) => rows.filter((r) => r.status === status).map((r) => Number(r.time_ns) / 1e9);
  const good = ofStatus("rtk-fixed"), gone = ofStatus("none").filter((t) => t > good[0]);
  assert.ok(good.length > 0 && gone.length > 0, JSON.stringify(rows));
  const recorded = await serve([run], env);
  children.push(recorded.server);
  await page.goto(`${recorded.address}?run=rover&node=0&t=${good.at(-1)}`);
  await fix(page, "RTK, fixed, ± 13 mm, height ± 20 mm (reported by the receiver), 14 satellites");
  await page.locator("dd").filter({ hasText: /0\.0 s ago; measured 2026-11-22 12:00:00 UTC/ }).waitFor();
  // How long its queues and tables were is recorded once a second, too.
  await page.locator("dd.sizes").filter({ hasText: "interface queue 0" }).waitFor();
  await shoot(page, "gps-recorded");
  await noSeriousViolation(page, "recorded");
  await page.locator("#moment").fill(String(gone[0] + 0.01));
  await page.locator("#moment").press("Enter");
  await fix(page, "the receiver has no position");
  assert.deepEqual(errors, [], "no error in the page");
  console.log("the studio's GPS fix: all checks passed");
} finally {
  await browser?.close();
  for (const child of children.reverse()) child.kill();
  await wait(500);
  try { execFileSync("ip", ["netns", "del", space], { stdio: "ignore" }); } catch { /* it was not made */ }
  rmSync(folder, { recursive: true, force: true });
}
