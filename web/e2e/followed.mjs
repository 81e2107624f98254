// A simulation that is started in the editor is followed while it runs: its node is dragged, it is stopped, and opens as a recorded run.
//   WAYHOP=target/debug/wayhop node e2e/followed.mjs [FOLDER FOR SCREENSHOTS]
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { errorsOf, launch, newFolder, serve, shoot, until, wait, wayhop } from "./studio.mjs";

const folder = newFolder("followed");
const env = { ...process.env, WAYHOP_RUNTIME_DIR: join(folder, "sockets") };
const SCENARIO = `name = "walked"
duration_s = 10000
nodes.count = 3
movement = { kind = "static", positions = [{ x = 100, y = 300 }, { x = 300, y = 300 }, { x = 500, y = 300 }] }
protocol = { name = "dsr" }
[[traffic]]
kind = "cbr"
src = 0
dst = 2
rate_pps = 10
payload_bytes = 64
start_s = 1
`;

const ctl = (...args) => JSON.parse(execFileSync(wayhop, ["ctl", "--json", "--run", "walked", ...args], { env, encoding: "utf8" }));

/** What the page shows is the run's clock, ten times as fast as the wall's, although a busy machine's page is some seconds late. */
async function clockIsTenTimesAsFast(page) {
  const seconds = async () => {
    const [minutes, seconds] = (await page.locator("output.now").textContent()).split(" / ")[0].split(":").map(Number);
    return 60 * minutes + seconds;
  };
  await until("the run has begun", async () => (await seconds()) > 3);
  const before = [await seconds(), Date.now()];
  await wait(10_000);
  const speed = (1000 * ((await seconds()) - before[0])) / (Date.now() - before[1]);
  assert.ok(speed > 5 && speed < 15, `simulated seconds in a second: ${speed}`);
  assert.equal(ctl("hello").speed, 10);
}

/** The node in the middle is put away by keyboard: nothing arrives from then on. Returns when, in seconds. */
async function nodeIsMoved(page) {
  await page.locator("tbody").getByRole("button", { name: "1", exact: true }).click();
  await page.getByRole("spinbutton", { name: "y, m" }).fill("900");
  await page.keyboard.press("Enter");
  await until("the radio has the node there", () => ctl("--node", "1", "position").nodes[0].local.y === 900);
  const moved = ctl("--node", "1", "position").time_s;
  await until("a minute has passed in the run", () => ctl("--node", "1", "position").time_s > moved + 60);
  return moved;
}

writeFileSync(join(folder, "walked.toml"), SCENARIO);
let server, browser;
try {
  let address;
  ({ server, address } = await serve(["--runs", join(folder, "runs"), join(folder, "walked.toml")], env));
  browser = await launch();
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  const errors = errorsOf(page);
  await page.goto(address);
  await page.getByLabel("Run mode").selectOption({ label: "followed at 10×" });
  await shoot(page, "followed-editor");
  await page.getByRole("button", { name: "▶ Run" }).click();
  await page.getByText("● live", { exact: true }).waitFor();
  await clockIsTenTimesAsFast(page);
  await shoot(page, "followed");
  const moved = await nodeIsMoved(page);
  await shoot(page, "followed-moved");
  await page.getByRole("button", { name: /■ Stop/ }).click();
  await page.getByText("■ ended", { exact: true }).waitFor({ state: "detached" });
  await until("the recorded run is open", async () => (await page.locator("header .about").textContent()).includes("seed 1"));
  await page.locator("#moment").fill(String(Math.ceil(moved) + 30));
  await page.keyboard.press("Enter");
  // The record has the node where the radio had it.
  await until("the node is shown away", async () => (await page.locator("tbody tr").nth(1).textContent()).includes("900.0"));
  await shoot(page, "followed-recorded");
  const [run] = readdirSync(join(folder, "runs"));
  const summary = JSON.parse(readFileSync(join(folder, "runs", run, "summary.json"), "utf8"));
  assert.ok(summary.simulated_s > 20 && summary.simulated_s < 10000, `${summary.simulated_s} s`);
  assert.ok(summary.totals.delivery_ratio > 0.05 && summary.totals.delivery_ratio < 0.99, "packets were lost once the node was away");
  assert.deepEqual(errors, []);
} finally {
  await browser?.close();
  server?.kill();
  await wait(300);
  rmSync(folder, { recursive: true, force: true });
}
console.log("followed: all done");
