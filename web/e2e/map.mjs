// What the map says of flows and of a packet's way, the legend, the sizes of panels and tables, and the map saved as picture and video.
//   WAYHOP=target/debug/wayhop node e2e/map.mjs [FOLDER FOR SCREENSHOTS]
import assert from "node:assert/strict";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { drawn, errorsOf, launch, newFolder, noSeriousViolation, readTable, run, serve, shoot, shots } from "./studio.mjs";

const folder = newFolder("map");

// Two flows over a chain, in both directions; at 10 s node 2 walks away, and packets are lost on the link from node 1 to it.
const SCENARIO = `
name = "two-flows"
duration_s = 20
protocol = { name = "dsr" }
radio = { preset = "wavelan-914-cmu" }

[movement]
kind = "waypoints"
tracks = [
  { start = { x = 0, y = 0 } }, { start = { x = 200, y = 0 } },
  { start = { x = 400, y = 0 }, pause_s = 10, waypoints = [{ at = { x = 400, y = 900 }, speed_mps = 100 }] },
  { start = { x = 600, y = 0 } },
]

[[traffic]]
kind = "cbr"
src = 0
dst = 3
rate_pps = 20
payload_bytes = 500

[[traffic]]
kind = "cbr"
src = 3
dst = 0
rate_pps = 5
payload_bytes = 200
`;

const table = (of) => readTable(join(folder, "flows"), of);

/** Metres of a camera at (300, 100) with 1 pixel a metre, as pixels of the map. */
async function onMap(page, x, y) {
  const box = await page.locator(".map canvas").boundingBox();
  return [box.width / 2 + (x - 300), box.height / 2 - (y - 100)];
}
const colours = (page, points) => page.evaluate((all) => {
  const canvas = document.querySelector(".map canvas"), scale = canvas.width / canvas.getBoundingClientRect().width;
  const g = canvas.getContext("2d");
  return all.map(([x, y]) => [...g.getImageData(Math.round(x * scale), Math.round(y * scale), 1, 1).data.slice(0, 3)].map((v) => v.toString(16).padStart(2, "0")).join(""));
}, points);

/** Whether a pixel has a colour, but for rounding where lines lie on each other. */
const isColour = (pixel, wanted) => [0, 2, 4].every((i) => Math.abs(parseInt(pixel.slice(i, i + 2), 16) - parseInt(wanted.slice(i, i + 2), 16)) <= 4);

const CAMERA = "camera=300,100,1";
const settled = (page) => page.locator(".flow-table tbody tr").first().waitFor();

/** The rates are those of the table packets in the two seconds before the clock. */
async function rates(page, address) {
  await page.goto(`${address}?run=flows&t=8&${CAMERA}`);
  await settled(page);
  const bits = (event, flow) => 8 * table("packets").filter((r) => r.event === event && r.flow === String(flow) && Number(r.time_ns) > 6e9 && Number(r.time_ns) <= 8e9)
    .reduce((sum, r) => sum + Number(r.bytes), 0) / 2;
  const show = (bps) => (bps >= 1e3 ? `${bps >= 1e5 ? (bps / 1e3).toFixed(0) : Number((bps / 1e3).toPrecision(2))} kb/s` : `${bps} b/s`);
  const rows = await page.locator(".flow-table tbody tr").allTextContents();
  for (const flow of [0, 1]) {
    assert.ok(bits("deliver", flow) > 0);
    await page.locator(".flow-table tbody tr").nth(flow).filter({ hasText: show(bits("deliver", flow)) }).waitFor().catch(() => assert.fail(`${show(bits("deliver", flow))} of flow ${flow} in ${rows}`));
  }
  await page.getByLabel("Rates on the map").check();
  await drawn(page);
  await shoot(page, "flows");
  await noSeriousViolation(page, "flows");
}

/** A click on a line has its flow stand out; a hidden flow is not drawn. */
async function clickAndFilter(page) {
  const map = page.locator(".map canvas");
  await page.getByLabel("Rates on the map").uncheck();
  await page.getByRole("checkbox", { name: "Draw flow 1" }).uncheck();
  await drawn(page);
  // Alone it lies on the line between the nodes.
  const middle = await onMap(page, 90, 0);
  const [coloured] = await colours(page, [middle]);
  assert.ok(isColour(coloured, "0072b2"), `flow 0 has its colour: ${coloured}`);
  await map.click({ position: { x: middle[0], y: middle[1] } });
  await page.locator(".flow-table tr.selected", { hasText: "0 → 3" }).waitFor();
  await page.getByRole("button", { name: "Hide all flows" }).click();
  await drawn(page);
  assert.ok(!isColour((await colours(page, [middle]))[0], "0072b2"), "a hidden flow is not drawn");
  await page.getByRole("button", { name: "Show all flows" }).click();
  await page.keyboard.press("Escape");
  assert.equal(await page.locator(".flow-table tr.selected").count(), 0);
}

/** The failing link of a lost packet is marked, and so is what it came by. */
async function wayOfALostPacket(page, address) {
  const packets = table("packets"), drop = packets.findLast((r) => r.event === "drop" && r.flow === "0" && r.node === "1");
  assert.ok(drop, "a packet is lost at node 1");
  const sent = packets.find((r) => r.packet === drop.packet && r.node === "0" && r.event === "send");
  await page.goto(`${address}?run=flows&t=${Number(drop.time_ns) / 1e9}&packet=${drop.packet}&${CAMERA}`);
  await page.locator(".tale > li").first().waitFor();
  await page.locator(".map-legend", { hasText: "hop that failed" }).waitFor();
  await drawn(page);
  assert.ok(sent, "it came from node 0");
  const [arrived] = await colours(page, [await onMap(page, 110, 0)]);
  assert.ok(isColour(arrived, "1a1d21"), `the hop that it came by: ${arrived}`);
  // Node 2 is on its way: where its legs say.
  const leg = table("positions").filter((r) => r.node === "2" && Number(r.time_ns) <= Number(drop.time_ns)).at(-1);
  const y = Number(leg.y_m) + Number(leg.vy_mps) * (Number(drop.time_ns) - Number(leg.time_ns)) / 1e9;
  const points = [];
  for (let k = 0.2; k < 0.8; k += 0.004) points.push(await onMap(page, 200 + 200 * k, y * k));
  const inside = points.filter(([x, py]) => x > 0 && py > 0);
  assert.ok((await colours(page, inside)).filter((c) => isColour(c, "b34600")).length > 5, "the link on which it was lost");
  await shoot(page, "way");
}

async function widerPanels(page, address) {
  const width = () => page.locator(".panels").evaluate((e) => e.offsetWidth);
  const before = await width();
  await page.getByRole("separator", { name: "Width of the panels" }).focus();
  await page.keyboard.press("ArrowLeft");
  assert.ok((await width()) >= before + 20);
  const box = await page.locator(".splitter").boundingBox();
  await page.mouse.move(box.x + 4, box.y + 100);
  await page.mouse.down();
  await page.mouse.move(box.x - 96, box.y + 100, { steps: 3 });
  await page.mouse.up();
  const wide = await width();
  assert.ok(wide >= before + 100, `${before} to ${wide}`);
  await page.goto(`${address}?run=flows&t=8&${CAMERA}`);
  await settled(page);
  assert.equal(await width(), wide, "it stays");
  await page.locator(".splitter").dblclick();
  assert.equal(await width(), before);
}

async function higherTables(page) {
  const table = page.locator(".panels .scroll", { has: page.locator(".flow-table") });
  await table.scrollIntoViewIfNeeded();
  const { x, y, width, height } = await table.boundingBox();
  await page.mouse.move(x + width - 4, y + height - 4);
  await page.mouse.down();
  await page.mouse.move(x + width - 4, y + height + 346, { steps: 4 });
  await page.mouse.up();
  assert.ok(Math.abs((await table.boundingBox()).height - height - 350) < 6, "higher than it is by itself");
}

/** From loss to loss by keyboard, until there is none; each has its story. */
async function nextLoss(page, address) {
  const lost = new Set(table("packets").filter((r) => r.event === "drop").map((r) => r.packet));
  await page.goto(`${address}?run=flows&t=0&${CAMERA}`);
  await settled(page);
  await page.keyboard.press("l");
  await page.locator(".story .fate.lost").waitFor();
  const number = async () => (await page.locator(".story > summary").textContent()).replace("Packet ", "");
  assert.ok(lost.has(await number()), `${await number()} of ${[...lost]}`);
  await page.goto(`${address}?run=flows&t=20&${CAMERA}`);
  await settled(page);
  await page.getByRole("button", { name: "Next loss" }).click();
  await page.getByRole("button", { name: "No more losses" }).waitFor();
}

const saved = async (page, press) => {
  const [download] = await Promise.all([page.waitForEvent("download"), press()]);
  return { name: download.suggestedFilename(), octets: readFileSync(await download.path()) };
};

async function savesTheMap(page) {
  await page.keyboard.press("s");
  const dialog = page.locator("dialog[open]");
  await dialog.waitFor();
  await noSeriousViolation(page, "export");
  const svg = await saved(page, () => dialog.getByRole("button", { name: "SVG" }).click());
  assert.equal(svg.name, "flows-8.000s.svg");
  const text = svg.octets.toString();
  const size = await page.locator(".map canvas").evaluate((c) => [c.clientWidth, c.clientHeight]);
  assert.ok(text.startsWith(`<svg xmlns="http://www.w3.org/2000/svg" width="${size[0]}" height="${size[1]}"`), text.slice(0, 120));
  for (const part of ["two-flows  0:08.000", ">flow 0<", ">flow 1<", 'stroke="#0072B2"', ">3</text>"]) assert.ok(text.includes(part), part);
  const png = await saved(page, () => dialog.getByRole("button", { name: "PNG" }).click());
  assert.deepEqual([...png.octets.subarray(0, 4)], [0x89, 0x50, 0x4e, 0x47]);
  assert.deepEqual([png.octets.readUInt32BE(16), png.octets.readUInt32BE(20)], size.map((v) => 2 * Math.round(v)));
  await dialog.getByLabel("From").fill("8");
  await dialog.getByLabel("to", { exact: true }).fill("12");
  await dialog.getByLabel("Speed").selectOption("5");
  const video = await saved(page, () => dialog.getByRole("button", { name: /^Record a video/ }).click());
  assert.match(video.name, /\.webm$/);
  assert.equal(video.octets.readUInt32BE(0), 0x1a45dfa3, "a Matroska file (RFC 9559)");
  // It plays, and its pictures are as large as the map, twice. (The studio's own page may load no videos.)
  const cinema = await page.context().browser().newPage();
  const got = await cinema.evaluate(async (base64) => {
    const film = document.createElement("video");
    film.muted = true;
    film.src = URL.createObjectURL(new Blob([Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))], { type: "video/webm" }));
    await new Promise((done, fail) => { film.onloadeddata = done; film.onerror = () => fail(new Error("it does not play")); });
    return { width: film.videoWidth, height: film.videoHeight, seconds: film.duration };
  }, video.octets.toString("base64"));
  await cinema.close();
  // 4 s at speed 5 are 0.8 s: 25 pictures.
  assert.deepEqual([got.width, got.height, Math.round(got.seconds * 30)], [...size.map((v) => 2 * Math.round(v)), 25]);
  await dialog.getByLabel("From").fill("12");
  await dialog.getByLabel("to", { exact: true }).fill("8");
  await dialog.getByRole("button", { name: /^Record a video/ }).click();
  await dialog.locator(".wrong", { hasText: "second after the first" }).waitFor();
  await page.keyboard.press("Escape");
}

writeFileSync(join(folder, "two-flows.toml"), SCENARIO);
run("run", join(folder, "two-flows.toml"), "--out", join(folder, "flows"));
const { server, address } = await serve([folder]);
const browser = await launch();
try {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  const errors = errorsOf(page);
  await rates(page, address);
  await clickAndFilter(page);
  await wayOfALostPacket(page, address);
  await widerPanels(page, address);
  await higherTables(page);
  await nextLoss(page, address);
  await page.goto(`${address}?run=flows&t=8&${CAMERA}`);
  await settled(page);
  await savesTheMap(page);
  if (shots) {
    const phone = await browser.newPage({ viewport: { width: 390, height: 844 }, colorScheme: "dark" });
    await phone.goto(`${address}?run=flows&t=8`);
    await settled(phone);
    await phone.locator(".map-legend summary").click();
    await shoot(phone, "map-phone");
  }
  assert.deepEqual(errors, []);
  console.log("map: rates, flows, a packet's way, panels, pictures and a video");
} finally {
  await browser.close();
  server.kill();
  rmSync(folder, { recursive: true, force: true });
}
