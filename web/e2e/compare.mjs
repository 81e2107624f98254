// Two runs over the same motion, beside each other on one clock.
//   WAYHOP=target/debug/wayhop node e2e/compare.mjs [FOLDER FOR SCREENSHOTS]
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { errorsOf, launch, newFolder, noSeriousViolation, run, serve, shoot } from "./studio.mjs";

const folder = newFolder("compare");

const totals = (name, ...args) => JSON.parse(run("run", "scenarios/first.toml", "--set", "duration_s=40", "--json", "--quiet", "--out", join(folder, name), ...args)).totals;

/** The figures of a row of the table: own, beside, difference. */
const figures = (page, name) => page.locator(".compare tr").filter({ has: page.locator(`th:text-is("${name}")`) }).locator("td").allTextContents();

/** Pixels of a map that are not its ground. */
const inked = (page, i) => page.evaluate((n) => {
  const canvas = document.querySelectorAll(".map canvas")[n];
  const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
  let count = 0;
  for (let k = 0; k < data.length; k += 4) if (data[k] < 200) count += 1;
  return count;
}, i);

let server, browser;
try {
  const dsr = totals("dsr", "--protocol", "dsr"), aodv = totals("aodv", "--protocol", "aodv");
  totals("elsewhere", "--protocol", "aodv", "--seed", "2");
  const served = await serve(["dsr", "aodv"].map((n) => join(folder, n)));
  server = served.server;
  browser = await launch();
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, colorScheme: "light" });
  const errors = errorsOf(page);
  await page.goto(`${served.address}&t=25`);
  await page.getByText("The nodes move in the same way in both runs.").waitFor();
  assert.deepEqual(await figures(page, "received"), [dsr.received, aodv.received, aodv.received - dsr.received].map((n, i) => (i === 2 && n > 0 ? `+${n}` : String(n))));
  const ratios = [dsr, aodv].map((t) => (100 * t.delivery_ratio).toFixed(2));
  assert.deepEqual((await figures(page, "delivered, %")).slice(0, 2), ratios);
  // Two plots, and both maps have their nodes.
  await page.locator(".panels .u-wrap").nth(1).waitFor();
  for (const i of [0, 1]) assert.ok((await inked(page, i)) > 2000, `map ${i} is empty`);
  // One clock.
  const before = await Promise.all([0, 1].map((i) => inked(page, i)));
  await page.keyboard.press("Space");
  await page.waitForTimeout(1500);
  await page.keyboard.press("Space");
  const after = await Promise.all([0, 1].map((i) => inked(page, i)));
  assert.ok(before.every((n, i) => n !== after[i]), "both maps go on");
  await shoot(page, "compare");
  await noSeriousViolation(page, "two runs, light");
  await page.emulateMedia({ colorScheme: "dark" });
  await noSeriousViolation(page, "two runs, dark");
  await page.setViewportSize({ width: 390, height: 900 });
  await shoot(page, "compare-phone");
  await page.setViewportSize({ width: 1280, height: 800 });
  server.kill();
  // Runs whose nodes move otherwise are shown, with a warning; the address holds both.
  await page.close();
  const other = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  const { server: all, address } = await serve([folder]);
  await other.goto(address);
  await other.locator("header select").nth(0).selectOption("run dsr");
  await other.locator("header select").nth(1).selectOption("elsewhere");
  await other.getByText("not at the same positions").waitFor();
  await other.waitForFunction(() => location.search.includes("run=dsr") && location.search.includes("with=elsewhere"));
  await other.locator("header select").nth(1).selectOption("");
  await other.waitForFunction(() => document.querySelectorAll(".map").length === 1);
  all.kill();
  assert.deepEqual(errors, []);
} finally {
  await browser?.close();
  server?.kill();
  rmSync(folder, { recursive: true, force: true });
}
console.log("compare: all done");
