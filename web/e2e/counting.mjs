// What the page says while the server still counts a run, and while packets are on their way: that it waits, and no zeros.
//   WAYHOP=target/debug/wayhop node e2e/counting.mjs [FOLDER FOR SCREENSHOTS]
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { drawn, errorsOf, launch, newFolder, noSeriousViolation, readTable, run, serve, shoot } from "./studio.mjs";

const folder = newFolder("counting");

/** The frame as it would be with the first quarter of the run counted: docs/reference/studio-api.md has its layout. */
function quarter(octets) {
  const body = 8 + octets.readUInt32LE(4), head = JSON.parse(octets.subarray(8, body).toString());
  const columns = Buffer.from(octets.subarray(body));
  for (const { type, offset } of head.columns) {
    if (type === "f64" && head.bin_ns) for (let i = Math.floor(head.rows / 4); i < head.rows; i += 1) columns.writeDoubleLE(NaN, offset + 8 * i);
  }
  const text = Buffer.from(JSON.stringify({ ...head, done: 1, groups: 4, ...(head.bin_ns ? {} : { rows: 0 }) }));
  const padded = Buffer.alloc(Math.ceil(text.length / 8) * 8, " ");
  text.copy(padded);
  const length = Buffer.alloc(4);
  length.writeUInt32LE(padded.length);
  return Buffer.concat([octets.subarray(0, 4), length, padded, columns]);
}

const GREY = "223,227,231,255";

/** The colour of the timeline at a share of its width. */
const colourAt = (page, share) => page.evaluate((x) => {
  const canvas = document.querySelector(".timeline canvas");
  return canvas.getContext("2d").getImageData(Math.floor(canvas.width * x), 2, 1, 1).data.join();
}, share);

const settled = (page) => page.locator(".chart .u-wrap").first().waitFor();

async function countsAreNotZeroBeforeTheyAreKnown(page, address, drops) {
  let isCounting = true;
  const hold = async (route) => {
    const answer = await route.fetch();
    await route.fulfill({ response: answer, body: isCounting ? quarter(await answer.body()) : await answer.body() });
  };
  await page.route("**/api/overview?*", hold);
  await page.route("**/api/losses?*", hold);
  await page.goto(`${address}?run=first&t=1`);
  await settled(page);
  const progress = page.getByRole("progressbar", { name: /Counting packets/ });
  await progress.first().waitFor();
  assert.equal(await progress.first().getAttribute("value"), "25");
  assert.equal(await progress.count(), 2, "at the timeline and at the chart");
  await page.getByRole("img", { name: /the grey part is not counted yet/ }).waitFor();
  for (const share of [0.05, 0.2]) assert.notEqual(await colourAt(page, share), GREY, "what is counted has bars only");
  for (const share of [0.3, 0.6, 0.95]) assert.equal(await colourAt(page, share), GREY, "the rest is grey");
  await page.locator(".charts > summary").click();
  await page.getByRole("progressbar", { name: /Counting losses/ }).waitFor();
  assert.equal(await page.getByText("No packets were lost").count(), 0);
  await page.getByRole("radio", { name: "Strips" }).check();
  await page.getByLabel("Quantity").selectOption("recall");
  await page.getByRole("button", { name: "Add strip" }).click();
  await page.locator(".strip-chart").getByRole("progressbar").waitFor();
  assert.equal(await page.getByText("None in this run").count(), 0);
  await shoot(page, "counting");
  await noSeriousViolation(page, "counting");
  // The next loss is waited for.
  await page.keyboard.press("l");
  await page.getByRole("radio", { name: "Losses" }).check();
  isCounting = false;
  await page.waitForFunction((t) => Math.round(Number(document.querySelector("input[type=range]").value) * 1e9) === t, drops.find((t) => t > 1e9));
  await page.waitForFunction(() => !document.querySelector(".counting"));
  await page.getByRole("img", { name: `${drops.length} losses over time` }).waitFor();
  assert.equal(await page.getByRole("progressbar").count(), 0);
  assert.notEqual(await colourAt(page, 0.6), GREY);
  await page.unroute("**/api/overview?*");
  await page.unroute("**/api/losses?*");
}

async function packetsOnTheirWayAreNotSilence(page, address) {
  const waiting = [];
  let isHeld = true;
  await page.route("**/api/packets?*", (route) => (isHeld ? void waiting.push(route) : route.continue()));
  await page.goto(`${address}?run=first&t=60`);
  await settled(page);
  const loading = page.locator("[role=status]", { hasText: "Loading the packets of this time" });
  await loading.nth(1).waitFor();
  assert.equal(await page.getByText("No events up to this time").count(), 0);
  const rates = page.locator(".flow-table tbody tr").first().locator("td");
  assert.deepEqual((await rates.allTextContents()).slice(1, 3), ["–", "–"]);
  await drawn(page);
  await shoot(page, "loading");
  await noSeriousViolation(page, "loading");
  isHeld = false;
  for (const route of waiting) await route.continue();
  await page.locator(".events li").nth(5).waitFor();
  await page.waitForFunction(() => ![...document.querySelectorAll("[role=status]")].some((s) => s.textContent.startsWith("Loading")));
  assert.ok((await rates.allTextContents()).slice(1, 3).every((text) => /\d/.test(text)), "then rates are numbers");
}

let server, browser;
try {
  run("run", "scenarios/first.toml", "--out", join(folder, "first"), "--quiet");
  const drops = readTable(join(folder, "first"), "packets").filter((r) => r.event === "drop").map((r) => Number(r.time_ns));
  let address;
  ({ server, address } = await serve([folder]));
  browser = await launch();
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, colorScheme: "light" });
  const errors = errorsOf(page);
  await countsAreNotZeroBeforeTheyAreKnown(page, address, drops);
  await packetsOnTheirWayAreNotSilence(page, address);
  assert.deepEqual(errors, [], "no error in the page");
  console.log("the studio while it counts: all checks passed");
} finally {
  await browser?.close();
  server?.kill();
  rmSync(folder, { recursive: true, force: true });
}
