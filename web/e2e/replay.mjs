// A report with a replay: one file, without a server.
//   WAYHOP=target/debug/wayhop node e2e/replay.mjs [FOLDER FOR SCREENSHOTS]
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { errorsOf, launch, newFolder, readTable, run, shots } from "./studio.mjs";

const folder = newFolder("replay");

/** Where a node is, by the CSV export. */
function place(node, t) {
  const legs = readTable(join(folder, "run"), "positions").map((r) => Object.fromEntries(Object.entries(r).map(([k, v]) => [k, Number(v)])));
  const leg = legs.filter((r) => r.node === node && r.time_ns <= t).sort((a, b) => a.time_ns - b.time_ns).at(-1);
  const s = (t - leg.time_ns) * 1e-9;
  return [leg.x_m + leg.vx_mps * s, leg.y_m + leg.vy_mps * s].map((v) => v.toFixed(1));
}

let browser;
try {
  run("run", "scenarios/first.toml", "--set", "duration_s=30", "--quiet", "--out", join(folder, "run"));
  const report = join(folder, "report.html");
  run("report", join(folder, "run"), "--replay", "--out", report);
  browser = await launch();
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  const errors = errorsOf(page), elsewhere = [];
  page.on("console", (m) => { if (m.type() === "error") errors.push(m.text()); });
  page.on("request", (r) => { if (r.url() !== pathToFileURL(report).href && !r.url().startsWith("data:")) elsewhere.push(r.url()); });
  await page.goto(pathToFileURL(report).href);
  await page.locator("iframe.inset").scrollIntoViewIfNeeded();
  const replay = page.frameLocator("iframe.inset");
  await replay.locator("tbody button").first().waitFor();
  await replay.locator("#moment").fill("17.5");
  await replay.locator("#moment").press("Enter");
  await replay.getByText("0:17.500 / 0:30.000").waitFor();
  const row = replay.locator("tbody tr").nth(7);
  const [x, y] = place(7, 17.5e9);
  await replay.locator("tbody tr").nth(7).filter({ hasText: `${x}${y}` }).waitFor();
  await replay.locator(".events li").nth(5).waitFor();
  await row.getByRole("button").click();
  await replay.locator(".u-wrap").first().waitFor();
  if (shots) await page.screenshot({ path: join(shots, "report-replay.png") });
  assert.equal(await replay.locator(".problems p").count(), 0);
  assert.deepEqual(errors, []);
  assert.deepEqual(elsewhere, [], "the report needs nothing else");
} finally {
  await browser?.close();
  rmSync(folder, { recursive: true, force: true });
}
console.log("replay in a report: all done");
