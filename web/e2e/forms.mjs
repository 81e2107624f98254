// The editor's forms as their users have them: who has which interface, random outages, batteries, keys, stalled queues, programs,
// captures; bars above the clock. What they write is what `wayhop emulate --check` reads.
//   WAYHOP=target/debug/wayhop node e2e/forms.mjs [FOLDER FOR SCREENSHOTS]
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { drawn, errorsOf, launch, newFolder, noSeriousViolation, serve, shoot, shots, wayhop } from "./studio.mjs";

const folder = newFolder("forms");
const file = join(folder, "net.toml");
const BEGIN = `# By hand.
name = "forms"
duration_s = 100
nodes.count = 4
movement = { kind = "static", positions = [{ x = 0, y = 0 }, { x = 100, y = 0 }, { x = 200, y = 0 }, { x = 300, y = 0 }] }

[[outages]] # the one that is dragged
node = 1
start_s = 20
length_s = 20
`;

const text = (page) => page.locator("textarea.text").inputValue();
const said = (page, what) => page.locator(".said").filter({ hasText: what }).waitFor({ state: "attached" });
const button = (page, name) => page.getByRole("button", { name, exact: true });
/** A part of the panel, open. */
async function section(page, title) {
  const part = page.locator("details").filter({ has: page.locator("> summary", { hasText: new RegExp(`^${title}`) }) }).last();
  if (!(await part.evaluate((e) => e.open))) await part.locator("> summary").click();
  return part;
}
const field = (part, label) => part.locator("label.field").filter({ has: part.page().locator("> span", { hasText: new RegExp(`^${label}$`) }) }).locator("input, select").first();
async function type(part, label, value) {
  await field(part, label).fill(String(value));
  await part.page().keyboard.press("Enter");
}

async function whoHasWhichRadio(page) {
  const part = await section(page, "Interfaces");
  await part.getByRole("button", { name: /^\+ radio/ }).click();
  await said(page, "Add a radio");
  const box = (node, radio) => page.getByRole("checkbox", { name: `Node ${node} has ${radio}`, exact: true });
  assert.ok(await box(2, "radio1").isChecked(), "a radio without a list is everybody's");
  await box(2, "radio1").click();
  await said(page, "Remove node 2 from radio1");
  assert.match(await text(page), /\[\[radios\]\][^[]*nodes = \[0, 1, 3\]/);
  assert.ok(!(await box(2, "radio1").isChecked()));
  await box(2, "radio1").focus();
  await page.keyboard.press("Space");
  await said(page, "Add node 2 to radio1");
  assert.doesNotMatch((await text(page)).split("[[radios]]")[1], /nodes =/, "all of them: no list");
  await box(0, "radio1").click();
  await said(page, "Remove node 0 from radio1");
  await drawn(page);
  await shoot(page, "forms-interfaces");
}

async function outagesAtRandom(page) {
  const part = await section(page, "Outages");
  // Of another node: outages of one node may not overlap.
  await button(page, "3").first().click();
  await part.getByRole("button", { name: "+ random outages" }).click();
  await said(page, "Add random outages");
  await type(part, "mean_up_s", 30);
  await said(page, "Set outages[1].mean_up_s");
  assert.match(await text(page), /mean_up_s = 30\nnodes = \[3\]\n/);
  // The simulator has drawn them, and the lane shows each.
  await page.locator(".happenings .lane").nth(1).locator(".again.outage").first().waitFor();
  await drawn(page);
  await shoot(page, "forms-outages");
}

async function batteriesAndKeys(page) {
  const batteries = await section(page, "Batteries");
  await type(batteries, "initial_j", 500);
  await said(page, "Set energy.initial_j");
  assert.match(await text(page), /initial_j = 500/);
  // With a second radio the simulator has no batteries, and says so; without it, all is well again.
  await page.locator("[role=alert]").filter({ hasText: "energy: batteries require one radio per node" }).waitFor();
  await section(page, "Interfaces");
  await page.locator('details.entry[data-path="radios[0]"] > summary').click();
  await button(page, "Delete radios[0]").click();
  await said(page, "Delete radios[0]");
  await page.locator("[role=alert]").filter({ hasText: "energy" }).waitFor({ state: "detached" });
  const keys = await section(page, "Authentication keys");
  await button(page, "+ keys to security.keys").click();
  await said(page, "Add to security.keys");
  assert.match(await text(page), /key = "[0-9a-f]{64}"/, "a key of 256 bits");
  await drawn(page);
  await keys.scrollIntoViewIfNeeded();
  await shoot(page, "forms-keys");
}

async function queuesProgramsCaptures(page) {
  const stalls = await section(page, "Stalled queues");
  await stalls.getByRole("button", { name: "+ a stall" }).click();
  await said(page, "Add a stall");
  await type(stalls, "length_s", 7);
  await said(page, "Set stalls[0].length_s");
  const programs = await section(page, "Programs");
  await programs.getByRole("button", { name: "+ a program" }).click();
  await said(page, "Add a program");
  await programs.locator("textarea").first().fill("ping\n-c\n3\nmesh-2");
  await programs.locator("textarea").first().blur();
  await said(page, "Set programs[0].command");
  assert.match(await text(page), /command = \["ping", "-c", "3", "mesh-2"\]/);
  const captures = await section(page, "Captures");
  // Nodes that are chosen on the map, and a word that is no node.
  await button(page, "1").first().click();
  await page.getByRole("button", { name: /^Use the 1 selected nodes as nodes of captures/ }).click();
  await said(page, "Set captures.nodes");
  await type(captures, "nodes", "1, 3");
  await page.waitForFunction(() => /\[captures\]\nnodes = \[1, 3\]/.test(document.querySelector("textarea.text").value));
  await type(captures, "nodes", "nobody");
  await page.locator("[role=alert]").filter({ hasText: "nobody is not a node" }).waitFor();
  assert.match(await text(page), /nodes = \[1, 3\]/, "what is wrong changes nothing");
  assert.equal(await field(captures, "nodes").inputValue(), "1, 3", "and the field says again what holds");
  await page.getByRole("button", { name: "Dismiss" }).click().catch(() => undefined);
  await captures.scrollIntoViewIfNeeded();
  await drawn(page);
  await shoot(page, "forms-captures");
}

/** A bar is dragged by its middle, then by its right end; one undo each. */
async function barsAreDragged(page) {
  const bar = page.locator(".bar-of.outage").first();
  await bar.scrollIntoViewIfNeeded();
  const before = await text(page);
  const lane = await page.locator(".happenings .lane").first().boundingBox();
  const x = (s) => lane.x + (lane.width * s) / 100, y = lane.y + lane.height / 2;
  const drag = async (from, to) => {
    await page.mouse.move(from, y);
    await page.mouse.down();
    await page.mouse.move((from + to) / 2, y, { steps: 4 });
    await page.mouse.move(to, y, { steps: 4 });
    assert.equal(await text(page), before, "nothing is changed while it is dragged");
    await page.mouse.up();
  };
  // The text goes back first, the bar once the server has read it.
  const undo = async (what) => {
    await button(page, "↶ Undo").click();
    await said(page, `Undone: ${what}`);
    assert.equal(await text(page), before);
  };
  await drag(x(30), x(55));
  await said(page, "Move outages[0]");
  const times = async () => { const t = (await text(page)).split("[[outages]]")[1]; return ["start_s", "length_s"].map((k) => Number(t.match(new RegExp(`${k} = ([\\d.]+)`))[1])); };
  const near = (a, b, what) => assert.ok(Math.abs(a - b) <= 100 / lane.width + 0.11, `${what}: ${a}, not ${b}`);
  let [start, length] = await times();
  near(start, 45, "25 s later");
  assert.equal(length, 20, "as long as before");
  assert.match(await text(page), /\[\[outages\]\] # the one that is dragged\n/, "its comment stays");
  await undo("Move outages[0]");
  await drag(x(40) - 3, x(60) - 3);
  await said(page, "Resize outages[0]");
  [start, length] = await times();
  assert.equal(start, 20);
  near(length, 40, "20 s longer");
  await shoot(page, "forms-bars");
  await undo("Resize outages[0]");
}

/** Doc comments are words, not their source; nothing that a field says is cut. */
async function wordsAreWhole(page) {
  const found = await page.evaluate(() => {
    document.querySelectorAll(".panels details").forEach((d) => { d.open = true; });
    const ticks = [...document.querySelectorAll(".panels .note")].filter((n) => n.textContent.includes("`")).map((n) => n.textContent);
    const measure = document.createElement("canvas").getContext("2d");
    const cut = [...document.querySelectorAll(".key select, .fields select")].filter((s) => {
      measure.font = getComputedStyle(s).font;
      return s.clientWidth > 0 && s.selectedOptions[0] && measure.measureText(s.selectedOptions[0].text).width > s.clientWidth - 20 && !s.closest(".fields");
    }).map((s) => s.selectedOptions[0].text);
    return { ticks, cut, keys: document.querySelectorAll(".key").length };
  });
  assert.ok(found.keys > 50, "there are fields");
  assert.deepEqual([found.ticks, found.cut], [[], []]);
}

let server, browser;
try {
  writeFileSync(file, BEGIN);
  let address;
  ({ server, address } = await serve([file, "--runs", join(folder, "runs")]));
  browser = await launch();
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, colorScheme: "light" });
  const errors = errorsOf(page);
  await page.goto(address);
  await page.locator(".editor-head").waitFor();
  await page.locator(".happenings .bar-of").first().waitFor();
  await whoHasWhichRadio(page);
  await outagesAtRandom(page);
  await barsAreDragged(page);
  await batteriesAndKeys(page);
  await queuesProgramsCaptures(page);
  await noSeriousViolation(page, "forms, light");
  await button(page, "Save").click();
  await said(page, "Saved");
  const saved = readFileSync(file, "utf8");
  assert.equal(saved, await text(page));
  for (const words of ["[[outages]]", "[energy]", "[[security.keys]]", "[[stalls]]", "[[programs]]", "[captures]"]) assert.ok(saved.includes(words), `${words}: ${saved}`);
  execFileSync(wayhop, ["emulate", file, "--check"], { stdio: ["ignore", "ignore", "inherit"] });
  await page.emulateMedia({ colorScheme: "dark" });
  await drawn(page);
  await noSeriousViolation(page, "forms, dark");
  await shoot(page, "forms-dark");
  await wordsAreWhole(page);
  await page.setViewportSize({ width: 390, height: 844 });
  await drawn(page);
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "nothing is wider than a phone");
  await noSeriousViolation(page, "forms, phone");
  if (shots) await page.screenshot({ path: join(shots, "forms-phone.png"), fullPage: true });
  assert.deepEqual(errors, [], "no error in the page");
  console.log("the studio's forms: all checks passed");
} finally {
  await browser?.close();
  server?.kill();
  rmSync(folder, { recursive: true, force: true });
}
