// The view of a matrix of attenuators as its users have it: a drive that goes on, a browser, a keyboard.
//   WAYHOP=target/debug/wayhop node e2e/matrix.mjs [FOLDER FOR SCREENSHOTS]
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { errorsOf, launch, newFolder, noSeriousViolation, serve, shoot, shots, until, wayhop } from "./studio.mjs";

const folder = newFolder("matrix");
const log = join(folder, "walk", "matrix.jsonl");
const rows = () => readFileSync(log, "utf8").trim().split("\n").map((l) => JSON.parse(l));

/** Six radios, one of which walks away, as lines of the feed. */
const places = (t) => `${JSON.stringify({ nodes: Array.from({ length: 6 }, (_, n) => ({ node: n, x: 150 * n + (n === 5 ? 20 * t : 0), y: n % 2 ? 90 : 0 })) })}\n`;

/** Whether the log has `count` seconds; the drive reads each line of the feed in its own second. */
function has(count) {
  try {
    return rows().length >= count;
  } catch {
    return false; // It is not there yet, or half a line is.
  }
}

let server, browser, drive;
try {
  drive = spawn(wayhop, ["matrix", "drive", "--feed", "-", "--radios", "6", "--out", join(folder, "walk")], { stdio: ["pipe", "ignore", "inherit"] });
  let t = 0;
  const feed = setInterval(() => { if (drive.stdin.writable) drive.stdin.write(places(t++)); }, 1000);
  drive.once("exit", () => clearInterval(feed));
  drive.stdin.on("error", () => clearInterval(feed));
  await until("the drive has written two seconds", () => has(2));
  let address;
  ({ server, address } = await serve([folder]));
  browser = await launch();
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, colorScheme: "light" });
  const errors = errorsOf(page);
  await page.goto(address);
  const links = page.getByRole("region", { name: "Table of links, largest error first" });
  await links.waitFor();
  // It follows the drive.
  const shown = async () => Number((await page.locator(".clock .now").textContent()).split(" ")[0]);
  const first = await shown();
  await page.waitForFunction((s) => Number(document.querySelector(".clock .now").textContent.split(" ")[0]) > s, first);
  drive.stdin.end();
  clearInterval(feed);
  // The numbers are those of the log: a second back, by keyboard.
  await page.evaluate(() => document.activeElement?.blur());
  await page.keyboard.press("Home");
  const [begin] = rows();
  await page.waitForFunction((s) => Number(document.querySelector(".clock .now").textContent.split(" ")[0]) === s, begin.time_s);
  assert.equal(await links.locator("tbody tr").count(), begin.wanted_db.length);
  const cells = await page.getByRole("region", { name: /^Settings of the attenuators/ }).locator("tbody tr").first().locator("td").allTextContents();
  assert.deepEqual(cells.map(Number), begin.settings_db[0]);
  await page.getByRole("button", { name: "radio 2", exact: true }).focus();
  await page.keyboard.press("Enter");
  await page.getByText("Links of radio 2 (5)").waitFor();
  await noSeriousViolation(page, "light");
  await shoot(page, "matrix-light");
  // The drive has ended, and the page says so by not saying otherwise.
  await page.locator(".live.connected").waitFor({ state: "detached" });
  await page.emulateMedia({ colorScheme: "dark" });
  await noSeriousViolation(page, "dark");
  await shoot(page, "matrix-dark");
  await page.setViewportSize({ width: 390, height: 844 });
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "nothing is wider than a phone");
  await noSeriousViolation(page, "phone");
  if (shots) await page.screenshot({ path: join(shots, "matrix-phone.png"), fullPage: true });
  // A damaged line is said, and the others stay.
  writeFileSync(log, "no second\n", { flag: "a" });
  await page.locator("[role=alert]").filter({ hasText: "1 lines of the log are damaged" }).waitFor();
  assert.equal(await links.locator("tbody tr").count(), 5);
  assert.deepEqual(errors, [], "no error in the page");
  console.log("the studio's matrix: all checks passed");
} finally {
  await browser?.close();
  server?.kill();
  drive?.kill();
  rmSync(folder, { recursive: true, force: true });
}
