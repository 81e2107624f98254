// The editor as its users have it: an empty scenario, a browser, a mouse or a keyboard.
//   WAYHOP=target/debug/wayhop node e2e/editor.mjs [FOLDER FOR SCREENSHOTS]
import assert from "node:assert/strict";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { drawn, errorsOf, launch, newFolder, noSeriousViolation, readTable, run, serve, shoot, shots } from "./studio.mjs";

const folder = newFolder("editor");
const file = join(folder, "net.toml"), runs = join(folder, "runs");
const BEGIN = "# Written by hand.\nduration_s = 100 # not longer\n\n[receptions] # the editor has no form for these\nall = true # all of them\n";

const saved = () => readFileSync(file, "utf8");

const edit = (scenario) => serve([scenario, "--runs", runs]);
const table = (name, of) => readTable(join(runs, name), of);

const text = (page) => page.locator("textarea.text").inputValue();
/** Waits until the page has said what it did. */
const said = (page, what) => page.locator(".said").filter({ hasText: what }).waitFor({ state: "attached" });
const button = (page, name) => page.getByRole("button", { name, exact: true });
const field = (page, label) => page.getByRole("spinbutton", { name: label, exact: true });

/** Where a place of the scenario is on the page. */
async function onPage(page, x, y) {
  return page.evaluate(([gx, gy]) => {
    const canvas = document.querySelector(".map canvas");
    const [cx, cy, scale] = canvas.dataset.camera.split(",").map(Number);
    const r = canvas.getBoundingClientRect();
    return [r.left + r.width / 2 + (gx - cx) * scale, r.top + r.height / 2 - (gy - cy) * scale];
  }, [x, y]);
}

async function type(page, label, value) {
  await field(page, label).fill(String(value));
  await page.keyboard.press("Enter");
}

/** Selects a node by its button in the table; one that is selected stays so. */
async function select(page, name) {
  const of = button(page, name);
  if (await of.getAttribute("aria-pressed") !== "true") await of.click();
}

/** Three nodes in a row, by the mouse; then exactly 200 m apart, in the table. */
async function drawsThreeNodes(page) {
  await button(page, "Add nodes").click();
  for (const [i, x] of [100, 300, 500].entries()) {
    await page.mouse.click(...(await onPage(page, x, 300)));
    await page.locator("table.nodes tbody tr").nth(i).waitFor();
  }
  for (const i of [0, 1, 2]) {
    await type(page, `Start x of node ${i}, metres`, 100 + 200 * i);
    await type(page, `Start y of node ${i}, metres`, 300);
  }
  await page.waitForFunction(() => [100, 300, 500].every((x) => document.querySelector("textarea.text").value.includes(`start = { x = ${x}, y = 300 }`)));
  await button(page, "Show all").click();
  await drawn(page);
}

/** Node 2 leaves to the north at 10 m/s, with one click on the map. */
async function drawsATrajectory(page) {
  await select(page, "2");
  await button(page, "Trajectory").click();
  await type(page, "Speed, m/s", 10);
  await page.mouse.click(...(await onPage(page, 500, 400)));
  await said(page, "Waypoint 1 of node 2");
  await type(page, "y of waypoint 1", 1200);
  await said(page, "Change waypoint 1");
  await type(page, "x of waypoint 1", 500);
  await type(page, "Pause at the start, s", 20);
  await said(page, "Pause of node 2");
  await button(page, "Select").click();
  await button(page, "Show all").click();
}

async function addsAFlow(page) {
  await select(page, "0");
  await button(page, "+ cbr").click();
  await page.locator("[role=alert]", { hasText: "0 is the source of the new flow: choose its destination" }).waitFor();
  assert.ok(!(await text(page)).includes("[[traffic]]"), "with one node there is no flow");
  await page.getByLabel("Destination of the new flow").selectOption("2");
  await button(page, "+ cbr").click();
  await said(page, "Add a flow: cbr");
  await type(page, "Start of flow 0, seconds", 1);
  await said(page, "Change flow 0");
  await page.getByText("0 → 2: 2 hops").waitFor();
}

/** While node 1 is dragged far away, and before it is dropped, the page says that the network falls apart. */
async function previewsWhileDragging(page) {
  const before = await text(page);
  const outlook = page.locator(".outlook");
  assert.match(await outlook.textContent(), /2 links, one network/);
  await page.mouse.move(...(await onPage(page, 300, 300)));
  await page.mouse.down();
  await page.mouse.move(...(await onPage(page, 300, 500)), { steps: 4 });
  await page.mouse.move(...(await onPage(page, 300, 1150)), { steps: 4 });
  await outlook.filter({ hasText: "3 partitions" }).waitFor();
  assert.equal(await text(page), before, "nothing is changed while it is dragged");
  await shoot(page, "editor-drag");
  await page.keyboard.press("Escape");
  await outlook.filter({ hasText: "one network" }).waitFor();
  await page.mouse.up();
  assert.equal(await text(page), before, "Escape gives the drag up");
  await page.mouse.move(...(await onPage(page, 300, 300)));
  await page.mouse.down();
  await page.mouse.move(...(await onPage(page, 300, 500)), { steps: 4 });
  await page.mouse.move(...(await onPage(page, 300, 1150)), { steps: 4 });
  await outlook.filter({ hasText: "3 partitions" }).waitFor();
  await page.mouse.up();
  await said(page, "Move node 1");
  assert.notEqual(await text(page), before);
  await page.locator("[role=alert]", { hasText: "flow 0 (0 to 2): no path ever exists with a range of 250 m" }).waitFor();
  await page.keyboard.press("Control+z");
  await said(page, "Undone: Move node 1");
  assert.equal(await text(page), before, "undone to the letter");
  await page.keyboard.press("Control+y");
  await said(page, "Redone: Move node 1");
  await page.keyboard.press("Control+z");
  await page.waitForFunction((t) => document.querySelector("textarea.text").value === t, before);
}

/** Runs from the page; the saved file gives the same trace from the command line. */
async function runs2(page) {
  await button(page, "▶ Run").click();
  await page.locator(".timeline .bar").waitFor();
  const groups = await page.locator("header select").first().locator("optgroup").evaluateAll((all) => all.map((g) => g.label));
  assert.deepEqual(groups, ["Runs of net"]);
  const info = await page.evaluate(() => fetch("/api/run?run=net-studio-1").then((r) => r.json()));
  assert.equal(saved().startsWith("# Written by hand.\nduration_s = 100 # not longer\n"), true, saved());
  assert.match(saved(), /\[receptions\] # the editor has no form for these\nall = true # all of them\n/);
  const again = JSON.parse(run("run", file, "--out", join(folder, "again"), "--json"));
  assert.equal(again.trace_hash, info.trace_hash, "the same run");
  assert.notEqual(info.trace_hash, null);
  return info;
}

/** 200 m from node 1 and 250 m of range: node 2 is out of reach when it has gone 150 m to the north, from 20 s on at 10 m/s. */
function deliveryDropsWhenTheLinkBreaks(info) {
  const breaks = 20 + Math.sqrt(info.range_m ** 2 - 200 ** 2) / 10;
  const arrived = table("net-studio-1", "packets").filter((r) => r.event === "deliver" && r.flow === "0").map((r) => Number(r.time_ns) / 1e9);
  const before = arrived.filter((t) => t < breaks).length, after = arrived.filter((t) => t > breaks + 0.5).length;
  // 4 packets a second from 1 s on.
  assert.ok(before > 0.9 * 4 * (breaks - 1), `${before} packets arrive before ${breaks} s`);
  assert.equal(after, 0, "none afterwards");
}

/** The position on the screen is the position in the radio: the run's own legs say where node 2 is. */
async function positionIsTheRadios(page) {
  const t = 47.5;
  const leg = table("net-studio-1", "positions").filter((r) => r.node === "2" && Number(r.time_ns) <= t * 1e9).at(-1);
  const s = t - Number(leg.time_ns) / 1e9;
  const place = [Number(leg.x_m) + Number(leg.vx_mps) * s, Number(leg.y_m) + Number(leg.vy_mps) * s];
  assert.notEqual(place[1], 300, "it is under way");
  await button(page, "Edit scenario").click();
  await page.locator(".clock input").fill(String(t));
  await select(page, "1");
  await drawn(page);
  const [x, y] = await onPage(page, ...place);
  const colours = await page.evaluate(([px, py]) => {
    const canvas = document.querySelector(".map canvas"), r = canvas.getBoundingClientRect(), k = canvas.width / r.width;
    const g = canvas.getContext("2d");
    const at = (dx, dy) => [...g.getImageData(Math.round((px - r.left + dx) * k), Math.round((py - r.top + dy) * k), 1, 1).data.slice(0, 3)].join();
    return { centre: at(0, 0), around: [at(-9, 0), at(0, -9)] };
  }, [x, y]);
  assert.equal(colours.centre, "51,65,79", `a node is drawn at ${place}: ${JSON.stringify(colours)}`);
  assert.ok(colours.around.some((c) => c !== "51,65,79"), "and ends there");
}

/** Places a node, gives it a way and a flow, copies it, undoes, saves: no mouse. */
async function keyboardAlone(page) {
  await page.evaluate(() => document.activeElement?.blur());
  const key = (k) => page.keyboard.press(k);
  const to = async (locator) => { await locator.focus(); assert.ok(await locator.evaluate((e) => e === document.activeElement)); };
  const before = await page.locator("table.nodes tbody tr[class]").count();
  const start = await text(page);
  await to(button(page, "Add a node"));
  await key("Enter");
  await said(page, "Add a node");
  await to(field(page, "Start x of node 3, metres"));
  await key("Control+a");
  await page.keyboard.type("350");
  await key("Enter");
  await said(page, "Move node 3");
  await to(button(page, "Add a waypoint"));
  await key("Enter");
  await said(page, "Waypoint 1 of node 3");
  await to(button(page, "3"));
  await key("Control+c");
  await key("Control+v");
  await said(page, "Paste a node");
  assert.equal(await page.locator("table.nodes tbody tr[class]").count(), before + 2);
  await key("Delete");
  await said(page, "Delete node 4");
  await to(button(page, "+ ping"));
  await key("Enter");
  await said(page, "Add a flow: ping");
  await page.evaluate(() => document.activeElement?.blur());
  await key("Control+s");
  await said(page, "Saved");
  assert.equal(saved(), await text(page));
  for (let i = 0; i < 6; i += 1) await key("Control+z");
  await page.waitForFunction((t) => document.querySelector("textarea.text").value === t, start);
  await key("Control+s");
  await page.getByText("net.toml · saved").waitFor();
  assert.equal(saved(), start);
}

/** Lasso, generators, settings; what is wrong is said with its line. */
async function theRest(page) {
  const start = await text(page);
  await page.getByText("Generate nodes").click();
  await page.getByRole("combobox", { name: "Layout" }).selectOption("convoy");
  await type(page, "y of the first, m", 700);
  await button(page, "Generate").click();
  await said(page, "Generate 9 nodes: convoy");
  await button(page, "Show all").click();
  await drawn(page);
  await button(page, "Lasso").click();
  const corner = async (x, y, how = {}) => page.mouse.move(...(await onPage(page, x, y)), how);
  await corner(60, 260); await page.mouse.down();
  for (const [x, y] of [[340, 260], [340, 340], [60, 340]]) await corner(x, y, { steps: 3 });
  await page.mouse.up();
  await button(page, "Select").click();
  assert.deepEqual(await page.locator("tr.selected th").allTextContents(), ["0", "1"], "the lasso has caught them");
  await page.keyboard.press("Control+z");
  await page.waitForFunction((t) => document.querySelector("textarea.text").value === t, start);
  await page.getByPlaceholder("such as power or hop limit").fill("tx_power_dbm");
  await type(page, "tx_power_dbm", 5);
  await said(page, "Set radio.tx_power_dbm");
  assert.match(await text(page), /\[radio\]\ntx_power_dbm = 5\n/);
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+z");
  await page.getByPlaceholder("such as power or hop limit").fill("");
  await page.locator("summary").filter({ hasText: "The text (TOML)" }).click();
  await page.locator("textarea.text").fill(start.replace("duration_s = 100", "duration_s = -3"));
  await page.locator("textarea.text").blur();
  await page.locator("[role=alert]").filter({ hasText: "net.toml:2:1: duration_s" }).waitFor();
  assert.ok(await button(page, "▶ Run").isDisabled());
  await page.keyboard.press("Control+z");
  await page.waitForFunction((t) => document.querySelector("textarea.text").value === t, start);
  await page.locator("summary").filter({ hasText: "The text (TOML)" }).click();
}

/** A picture, red on its right half, lies where its control points say. */
async function picturesLieWhereTheyAre(page) {
  const data = await page.evaluate(() => {
    const c = document.createElement("canvas");
    c.width = 100; c.height = 50;
    const g = c.getContext("2d");
    g.fillStyle = "#ffffff"; g.fillRect(0, 0, 50, 50); g.fillStyle = "#ff0000"; g.fillRect(50, 0, 50, 50);
    return c.toDataURL("image/png").split(",")[1];
  });
  await page.locator("summary").filter({ hasText: "Background image" }).click();
  await page.locator("input[type=file]").setInputFiles({ name: "plan.png", mimeType: "image/png", buffer: Buffer.from(data, "base64") });
  await said(page, "Background image");
  const values = { "Pixels to the right": [0, 100], "Pixels down": [50, 50], x: [150, 350], y: [500, 500] };
  for (const [words, both] of Object.entries(values)) {
    for (const k of [0, 1]) await type(page, `${words} of control point ${k + 1}`, both[k]);
  }
  // Edits come one after the other; saving comes after them all.
  await button(page, "Save").click();
  await said(page, "Saved");
  await drawn(page);
  const reddish = async (x, y) => {
    const [px, py] = await onPage(page, x, y);
    return page.evaluate(([px, py]) => {
      const canvas = document.querySelector(".map canvas"), r = canvas.getBoundingClientRect(), k = canvas.width / r.width;
      const [red, green] = canvas.getContext("2d").getImageData(Math.round((px - r.left) * k), Math.round((py - r.top) * k), 1, 1).data;
      return red > 200 && green < 150;
    }, [px, py]);
  };
  // 2 m a pixel: 200 m wide, 100 m high, its bottom at y = 500 m, red from x = 250 m on.
  for (const [x, y, is] of [[255, 505, true], [345, 595, true], [245, 550, false], [355, 550, false], [300, 495, false], [300, 605, false]]) {
    assert.equal(await reddish(x, y), is, `${x}, ${y}`);
  }
  assert.match(saved(), /\[background\][^[]*picture = "plan\.png"/);
  run("run", file, "--out", join(folder, "with-picture"));
  await button(page, "Remove the image").click();
  await said(page, "Remove the image");
  await page.locator("summary").filter({ hasText: "Background image" }).click();
}

/** A radio, a wire by the mouse, an outage and an attack: forms write what `wayhop run` reads, and all of it can be undone. */
async function radiosWiresOutagesAttacks(page) {
  const start = await text(page);
  await button(page, "Show all").click();
  await page.keyboard.press("Escape");
  await select(page, "0");
  await page.locator("summary").filter({ hasText: /^Interfaces/ }).click();
  await page.getByRole("button", { name: /^\+ radio/ }).click();
  await said(page, "Add a radio");
  await button(page, "Wire").click();
  await page.mouse.move(...(await onPage(page, 100, 300)));
  await page.mouse.down();
  await page.mouse.move(...(await onPage(page, 300, 300)), { steps: 5 });
  await page.mouse.up();
  await said(page, "Wire 0 – 1");
  await button(page, "Select").click();
  await page.locator("summary").filter({ hasText: /^Outages/ }).click();
  await button(page, "+ an outage").click();
  await said(page, "Add an outage");
  await page.locator("summary").filter({ hasText: /^Attacks/ }).click();
  await button(page, "+ black hole").click();
  await said(page, "Add black hole");
  // The bar above the clock is moved by keyboard.
  await page.locator(".bar-of.outage").focus();
  await page.keyboard.press("ArrowRight");
  await said(page, "Move outages[0]");
  await drawn(page);
  await noSeriousViolation(page, "forms");
  await shoot(page, "editor-forms");
  await button(page, "Save").click();
  await said(page, "Saved");
  for (const section of ["radios", "wires", "outages", "attacks"]) assert.ok(saved().includes(section), `${section}: ${saved()}`);
  assert.match(saved(), /# not longer/);
  run("run", file, "--out", join(folder, "with-forms"));
  for (let i = 0; i < 5; i += 1) {
    const before = await text(page);
    await button(page, "↶ Undo").click();
    await page.waitForFunction((t) => document.querySelector("textarea.text").value !== t, before);
  }
  assert.equal(await text(page), start, "undone to the letter");
  await button(page, "Save").click();
  await said(page, "Saved");
}

async function exportsForOthers(page) {
  await page.locator("summary").filter({ hasText: "Export" }).click();
  const got = async (name) => {
    const [download] = await Promise.all([page.waitForEvent("download"), button(page, name).click()]);
    return readFileSync(await download.path(), "utf8");
  };
  assert.match(await got("ns-2 movement"), /\$node_\(2\) setdest 500\.0+ 1200\.0+ 10\.0+/);
  writeFileSync(join(folder, "of-cli"), run("export", "macfilter", file));
  assert.equal(await got("macfilter trace"), readFileSync(join(folder, "of-cli"), "utf8"));
}

async function aFileThatChangedIsNotOverwritten(page) {
  const start = saved();
  await type(page, "Start x of node 0, metres", 120);
  await said(page, "Move node 0");
  const other = `${start}# somebody else\n`;
  writeFileSync(file, other);
  await button(page, "Save").click();
  await page.locator("[role=alert]").filter({ hasText: "the file was changed by another program" }).waitFor();
  assert.equal(saved(), other);
  await shoot(page, "editor-conflict");
  await button(page, "Reload").click();
  await page.waitForFunction(() => document.querySelector("textarea.text").value.includes("# somebody else"));
}

async function movementOfAFileIsConverted(browser) {
  const walk = join(folder, "walk.toml");
  writeFileSync(walk, "# walk\nduration_s = 50\nnodes.count = 4\narea = { x_m = 500, y_m = 300 }\nmovement = { kind = \"random-waypoint\", speed_max_mps = 10 }\n");
  const { server, address } = await edit(walk);
  try {
    const page = await browser.newPage();
    await page.goto(address);
    await page.getByText("read-only").waitFor();
    assert.ok(await field(page, "Start x of node 0, metres").isDisabled());
    await button(page, "Convert to waypoints").click();
    await said(page, "Convert the movement to waypoints");
    assert.ok(await field(page, "Start x of node 0, metres").isEnabled());
    assert.match(await text(page), /^# walk\n/);
    await page.close();
  } finally {
    server.kill();
  }
}

async function strangersGetNothing(browser, address) {
  const other = await browser.newPage();
  await other.route("http://stranger.example/**", (r) => r.fulfill({ contentType: "text/html", body: "<p>a page" }));
  await other.goto("http://stranger.example/");
  const { origin } = new URL(address);
  const got = await other.evaluate((a) => fetch(`${a}/api/editor/save`, { method: "POST", mode: "no-cors", credentials: "include", body: "{\"text\":\"\",\"over\":true}" })
    .then((r) => r.text(), () => ""), origin);
  assert.equal(got, "");
  assert.notEqual(saved(), "");
  await other.close();
}

const DEGREES = `# By GPS.
origin = { lat = 52.0, lon = 13.0 }
[movement]
kind = "waypoints"
[[movement.tracks]]
start = { lat = 52.0, lon = 13.0 }
waypoints = [{ at = { lat = 52.0018, lon = 13.0 }, speed_mps = 10 }]
[[movement.tracks]]
start = { x = 50, y = 0 }
[nodes]
node = [{ id = 1, name = "gate" }]
[[traffic]]
kind = "cbr"
src = "gate"
dst = 0
`;

/** What cannot be is not taken, and the field shows again what the text has; a mistake in the text leaves the map; names are known everywhere. */
async function mistakesAndNames(browser) {
  const scenario = join(folder, "degrees.toml");
  writeFileSync(scenario, DEGREES);
  const { server, address } = await edit(scenario);
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    await page.goto(address);
    await page.locator(".editor-head").waitFor();
    const alert = (words) => page.locator("[role=alert]").filter({ hasText: words }).waitFor();
    const start = field(page, "Start x of node gate, metres");
    await type(page, "Start x of node gate, metres", 1e300);
    await alert("Not applied: ");
    await page.waitForFunction((e) => e.value === "50", await start.elementHandle());
    assert.equal(await text(page), DEGREES);
    // A trajectory in degrees can be looked at only.
    await select(page, "0");
    const waypoints = page.getByRole("region", { name: "Table of waypoints" });
    assert.deepEqual(await waypoints.locator("tbody tr td").allTextContents(), ["52.0018", "13", "10", "0"]);
    assert.ok(await field(page, "Pause at the start, s").isDisabled());
    await select(page, "gate");
    await page.getByRole("textbox", { name: "Name", exact: true }).fill("tor");
    await page.keyboard.press("Enter");
    await button(page, "tor").waitFor();
    assert.equal(await text(page), DEGREES.replaceAll("gate", "tor"));
    await page.locator("textarea.text").evaluate((e) => { e.closest("details").open = true; });
    await page.locator("textarea.text").fill((await text(page)).replace("speed_mps = 10", "speed_mps = -1"));
    await page.locator("textarea.text").blur();
    await alert("speed_mps: -1 is not a number");
    await page.getByText("Last valid state").waitFor();
    await button(page, "tor").waitFor();
    await page.close();
  } finally {
    server.kill();
  }
}

let server, browser;
try {
  writeFileSync(file, BEGIN);
  let address;
  ({ server, address } = await edit(file));
  browser = await launch();
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, colorScheme: "light" });
  const errors = errorsOf(page);
  page.on("console", (m) => { if (m.text().includes("Content Security Policy")) errors.push(m.text()); });
  await page.goto(address);
  await page.locator(".editor-head").waitFor();
  await noSeriousViolation(page, "empty");
  await shoot(page, "editor-empty");
  await drawsThreeNodes(page);
  await drawsATrajectory(page);
  await addsAFlow(page);
  await previewsWhileDragging(page);
  await drawn(page);
  await shoot(page, "editor-light");
  await noSeriousViolation(page, "light");
  const info = await runs2(page);
  deliveryDropsWhenTheLinkBreaks(info);
  await shoot(page, "editor-run");
  await positionIsTheRadios(page);
  await keyboardAlone(page);
  await theRest(page);
  await picturesLieWhereTheyAre(page);
  await radiosWiresOutagesAttacks(page);
  await exportsForOthers(page);
  await aFileThatChangedIsNotOverwritten(page);
  await page.emulateMedia({ colorScheme: "dark" });
  await select(page, "2");
  await drawn(page);
  await noSeriousViolation(page, "dark");
  await shoot(page, "editor-dark");
  await page.setViewportSize({ width: 390, height: 844 });
  await button(page, "Show all").click();
  await drawn(page);
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "nothing is wider than a phone");
  await noSeriousViolation(page, "phone");
  await shoot(page, "editor-phone");
  if (shots) await page.screenshot({ path: join(shots, "editor-phone-whole.png"), fullPage: true });
  await strangersGetNothing(browser, address);
  await movementOfAFileIsConverted(browser);
  await mistakesAndNames(browser);
  assert.deepEqual(errors, [], "no error in the page");
  console.log("the studio's editor: all checks passed");
} finally {
  await browser?.close();
  server?.kill();
  rmSync(folder, { recursive: true, force: true });
}
