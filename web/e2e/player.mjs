// The studio as its users have it: a recorded run, a browser, a keyboard.
//   WAYHOP=target/debug/wayhop node e2e/player.mjs [FOLDER FOR SCREENSHOTS]
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { rmSync, truncateSync, statSync, cpSync } from "node:fs";
import { join } from "node:path";
import { drawn, errorsOf, launch, newFolder, noSeriousViolation, readTable, run, serve, shoot, shots } from "./studio.mjs";

const folder = newFolder("player");

/** The legs of a node. */
function legs(name, node) {
  return table(name, "positions").filter((r) => Number(r.node) === node).map((r) => ({
    from: Number(r.time_ns), x: Number(r.x_m), y: Number(r.y_m), vx: Number(r.vx_mps), vy: Number(r.vy_mps),
  }));
}

function placeBy(list, t) {
  const leg = list.filter((l) => l.from <= t).sort((a, b) => a.from - b.from).at(-1);
  const s = (t - leg.from) * 1e-9;
  return [leg.x + leg.vx * s, leg.y + leg.vy * s];
}

const settled = (page) => page.waitForFunction(() => document.querySelectorAll("table tbody tr").length > 0
  && document.querySelector(".u-wrap") !== null);
const now = (page) => page.locator("input[type=range]").inputValue().then(Number);

/** The position on the screen is the position in the radio: the selected node's frame lies around where the formula says. */
async function positionIsTheFormulas(page, address) {
  const t = 61.7, node = 0;
  await page.goto(`${address}?run=first&t=${t}&node=${node}&camera=750,150,0.5`);
  await settled(page);
  await drawn(page);
  const [x, y] = placeBy(legs("first", node), t * 1e9);
  const found = await page.evaluate(([gx, gy]) => {
    const canvas = document.querySelector(".map canvas");
    const { width, height } = canvas.getBoundingClientRect();
    const sx = width / 2 + (gx - 750) * 0.5, sy = height / 2 - (gy - 150) * 0.5;
    const g = canvas.getContext("2d"), scale = canvas.width / width;
    const at = (dx, dy) => g.getImageData(Math.round((sx + dx) * scale), Math.round((sy + dy) * scale), 1, 1).data.slice(0, 3).join();
    const frame = [[-11, -8], [11, -8], [-8, -11], [-8, 11]].map(([dx, dy]) => at(dx, dy));
    return { inside: sx > 12 && sy > 12 && sx < width - 12 && sy < height - 12, ground: at(-9, 0), frame };
  }, [x, y]);
  assert.ok(found.inside, "the node is on the screen");
  for (const pixel of found.frame) assert.notEqual(pixel, "255,255,255", `the frame is around ${x}, ${y}: ${JSON.stringify(found)}`);
  const row = await page.locator("tr.selected td").allTextContents();
  assert.deepEqual(row.slice(0, 2), [x.toFixed(1), y.toFixed(1)], "the table says the same");
}

async function keyboardAlone(page, address) {
  await page.goto(`${address}?run=first&t=10`);
  await settled(page);
  const key = (k) => page.keyboard.press(k);
  await key("ArrowRight");
  assert.equal(await now(page), 11);
  await key("Shift+ArrowRight");
  const events = run("export", "csv", join(folder, "first"), "packets").split("\n").slice(1).map((l) => Number(l.split(",")[0]));
  assert.equal(Math.round((await page.waitForFunction(() => {
    const v = Number(document.querySelector("input[type=range]").value);
    return v > 11 ? v : false;
  }).then((h) => h.jsonValue())) * 1e9), events.find((e) => e > 11e9), "the next event of the table");
  await key(".");
  assert.equal(await page.locator(".speed select").inputValue(), "2");
  await key("j");
  await page.keyboard.type("1:02.5");
  await key("Enter");
  assert.equal(await now(page), 62.5);
  await key("Space");
  await page.waitForFunction(() => Number(document.querySelector("input[type=range]").value) > 62.6);
  await key("Space");
  const paused = await now(page);
  await drawn(page);
  assert.equal(await now(page), paused, "a pause holds");
  await key("/");
  const name = await page.locator("tbody th button").nth(3).textContent();
  await page.keyboard.type(name);
  await key("Enter");
  await key("Escape");
  assert.equal(await page.locator("tr.selected button").textContent(), name);
  await page.waitForFunction(() => location.search.includes("node=3") && location.search.includes("speed=2"));
  await key("?");
  await page.locator("dialog[open]").waitFor();
  await noSeriousViolation(page, "help");
  await key("Escape");
}

async function brokenRunsSayWhatIsWrong(page, address) {
  await page.goto(`${address}?run=half`);
  const text = await page.locator("[role=alert]").filter({ hasText: "packets.parquet" }).textContent();
  assert.match(text, /damaged/);
  await page.goto(`${address}?run=nowhere`);
  await page.locator("[role=alert]").filter({ hasText: "no run nowhere" }).waitFor();
}

async function strangersGetNothing(browser, address) {
  const other = await browser.newPage();
  await other.route("http://stranger.example/**", (r) => r.fulfill({ contentType: "text/html", body: "<p>a page" }));
  await other.goto("http://stranger.example/");
  const got = await other.evaluate((a) => fetch(`${a}api/runs`, { mode: "cors" }).then((r) => r.text(), () => "nothing"), address);
  assert.equal(got, "nothing");
  await other.close();
}

const table = (name, of) => readTable(join(folder, name), of);

/** A lost packet, found by its flow: its story is that of `wayhop why`, each line goes to its moment, and a link keeps it. */
async function storyOfAPacket(page, address) {
  const lost = table("traced", "packets").filter((r) => r.event === "drop" && r.flow !== "").at(-1);
  const why = JSON.parse(run("why", join(folder, "traced"), lost.packet, "--json").trim().split("\n")[0]);
  await page.goto(`${address}?run=traced&t=1`);
  await settled(page);
  await page.keyboard.press("p");
  await page.keyboard.type(`${lost.flow}:${lost.seq}`);
  await page.keyboard.press("Enter");
  await page.locator(".story .fate", { hasText: lost.reason }).waitFor();
  const lines = page.locator(".tale > li");
  assert.equal(await lines.count(), why.steps.length);
  for (const [i, step] of why.steps.entries()) {
    if (i % 5 === 0) assert.ok((await lines.nth(i).textContent()).includes(step.text), `line ${i} is shown: ${step.text}`);
  }
  assert.ok(why.steps.some((s) => s.what === "rts" && s.at[0].outcome !== "received"), "the run knows what became of frames");
  const last = why.steps.length - 1;
  await lines.nth(last).locator("button").focus();
  await page.keyboard.press("Enter");
  assert.equal(Math.round((await now(page)) * 1e9), Math.round(why.steps[last].time_s * 1e9), "the line goes to its moment");
  assert.equal(await page.locator("[aria-current=step]").count(), 1);
  await page.waitForFunction(([packet, node]) => location.search.includes(`packet=${packet}`) && location.search.includes(`node=${node}`),
    [lost.packet, why.steps[last].node]);
  await page.reload();
  await page.locator(".story .fate", { hasText: lost.reason }).waitFor();
  await page.locator(".tale > li.now", { hasText: why.steps[last].text }).waitFor();
  await shoot(page, "story");
  await noSeriousViolation(page, "story");
  await page.keyboard.press("p");
  await page.keyboard.type("999999999");
  await page.keyboard.press("Enter");
  await page.locator(".story .wrong", { hasText: "no packet 999999999" }).waitFor();
  return lost.packet;
}

/** The frames are those of the capture, and the file for Wireshark has them. */
async function framesOfAPacket(page, address, packet) {
  await page.goto(`${address}?run=traced&packet=${packet}`);
  await page.locator(".frames > summary").click();
  await page.locator(".frame").first().waitFor();
  const known = new Set(table("traced", "receptions").filter((r) => r.packet === packet).map((r) => `${r.sender} ${r.sent_ns}`));
  const shown = Number(/\((\d+)\)/.exec(await page.locator(".frames > summary").textContent())[1]);
  assert.ok(shown >= known.size, `${shown} sightings of ${known.size} frames`);
  await page.locator(".frame > summary", { hasText: "data" }).first().click();
  await page.locator(".frame[open] dt", { hasText: "DSR: source_route" }).first().waitFor();
  await shoot(page, "frames");
  await noSeriousViolation(page, "frames");
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: "Open in Wireshark" }).click()]);
  assert.equal(download.suggestedFilename(), `traced-packet-${packet}.pcapng`);
  await page.locator("code", { hasText: `wireshark -r traced-packet-${packet}.pcapng` }).waitFor();
  const file = await download.path();
  const filter = ["-r", file, "-Y", "frame.packet_flags_direction == 2", "-T", "fields", "-e", "frame.interface_name", "-e", "frame.time_epoch"];
  const sent = execFileSync("tshark", filter, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim().split("\n");
  const of = sent.map((l) => { const [name, at] = l.split("\t"); return `${name} ${at.replace(".", "").replace(/^0+/, "")}`; });
  assert.deepEqual(new Set(of), known, "tshark reads the frames that were sent, and no others");
  await page.goto(`${address}?run=first&packet=${packet}`);
  await page.locator(".frames > summary").click();
  await page.locator(".frames .wrong", { hasText: "--captures" }).waitFor();
}

/** A click on a sign goes to its loss. Of 50 nodes node n stands at n + 1 of 51 parts of the axis, of 120 s moment t at t. */
async function clickOnASign(page, loss) {
  const box = await page.locator(".charts .u-over").boundingBox();
  const x = (Number(loss.time_ns) / 120e9) * box.width, y = box.height * (1 - (Number(loss.node) + 1) / 51);
  await page.locator(".charts .u-over").click({ position: { x: Math.min(x, box.width - 2), y } });
  await page.waitForFunction((packet) => location.search.includes(`packet=${packet}`), loss.packet);
  assert.equal(Math.round((await now(page)) * 1e9), Number(loss.time_ns));
}

/** The sign of a loss on the map tells its packet. */
async function clickOnALoss(page, address, loss) {
  const t = Number(loss.time_ns), [x, y] = placeBy(legs("traced", Number(loss.node)), t);
  await page.goto(`${address}?run=traced&t=${t / 1e9 + 0.000001}&camera=${x},${y},1`);
  await settled(page);
  await drawn(page);
  const map = page.locator(".map canvas"), box = await map.boundingBox();
  await map.click({ position: { x: box.width / 2 + 1, y: box.height / 2 + 14 } });
  await page.waitForFunction((packet) => location.search.includes(`packet=${packet}`), loss.packet);
  await page.locator(".story .fate", { hasText: loss.reason }).waitFor();
  await page.locator(".events button", { hasText: `packet ${loss.seq} of flow ${loss.flow}` }).first().waitFor();
  await page.getByRole("button", { name: "Close the story" }).click();
  assert.equal(await page.locator(".tale").count(), 0);
  await page.locator(".events button", { hasText: `packet ${loss.seq} of flow ${loss.flow}` }).first().click();
  await page.locator(".story .fate", { hasText: loss.reason }).waitFor();
}

/** Losses by time and place, strips, and the time-sequence plot, by the keyboard where there is no picture to click. */
async function charts(page, address) {
  await page.goto(`${address}?run=traced&t=0`);
  await settled(page);
  await page.locator(".charts > summary").click();
  await page.getByRole("button", { name: "Loss ▶" }).focus();
  await page.locator(".charts .plot canvas").waitFor();
  const drops = table("traced", "packets").filter((r) => r.event === "drop");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => location.search.includes("packet="));
  assert.equal(Math.round((await now(page)) * 1e9), Number(drops[0].time_ns), "the first loss of the table");
  await page.locator(".charts .note", { hasText: drops[0].reason }).waitFor();
  await clickOnASign(page, drops.at(-1));
  await page.getByLabel("Place").selectOption("x");
  await page.getByRole("img", { name: "losses over time, by position" }).waitFor();
  await drawn(page);
  await shoot(page, "losses");
  await noSeriousViolation(page, "losses");
  await page.getByRole("radio", { name: "Strips" }).check();
  const strip = async (quantity, node) => {
    await page.getByLabel("Quantity").selectOption(quantity);
    await page.getByLabel("Node of the strip").selectOption(node);
    await page.getByRole("button", { name: "Add strip" }).click();
  };
  await strip("deliver", "");
  await strip("routing/rreq", "");
  await strip("sends/queued", drops[0].node);
  assert.equal(await page.locator(".strip-chart").count(), 3);
  await page.locator(".strip-chart .note", { hasText: "Maximum:" }).nth(2).waitFor();
  // The length of a route cache over time: as long as the table says.
  const cached = table("traced", "sizes").filter((r) => r.node === "0" && r.what === "route_cache").map((r) => Number(r.count));
  await strip("sizes/route_cache", "0");
  await page.locator(".strip-chart .note", { hasText: `Maximum: ${Math.max(...cached)} entries` }).waitFor();
  await strip("sizes/queue", "");
  assert.equal(await page.locator(".strip-chart").count(), 5);
  await page.locator(".strip-chart").last().scrollIntoViewIfNeeded();
  await drawn(page);
  await shoot(page, "strips");
  for (const name of [/Remove the strip route cache/, /Remove the strip interface queue, length/]) await page.getByRole("button", { name }).click();
  await page.getByRole("button", { name: /Remove the strip rreq/ }).click();
  assert.equal(await page.locator(".strip-chart").count(), 2);
  await page.getByRole("radio", { name: "Losses" }).check();
  await page.getByRole("radio", { name: "Strips" }).check();
  assert.equal(await page.locator(".strip-chart").count(), 2, "strips stay");

  await page.goto(`${address}?run=tcp&t=20`);
  await settled(page);
  await page.locator(".charts > summary").click();
  await page.getByRole("radio", { name: "TCP" }).check();
  const segments = table("tcp", "tcp");
  const count = (event) => segments.filter((r) => r.event === event).length;
  await page.getByRole("img", { name: `${count("send")} segments sent, ${count("resend") + count("probe")} retransmitted, ${count("timeout")} timeouts` }).waitFor();
  await page.locator(".charts").getByRole("combobox", { name: "Time" }).selectOption("10");
  await shoot(page, "tcp");
  await noSeriousViolation(page, "tcp");
}

/** What the tables have of a node at a moment; what they do not have is said. */
async function nodeAtAMoment(page, address) {
  const t = 60, node = table("traced", "sends").filter((r) => Number(r.time_ns) <= t * 1e9).at(-1).node;
  await page.goto(`${address}?run=traced&t=${t}&node=${node}`);
  await settled(page);
  const value = (name) => page.locator("dt", { hasText: name }).locator("xpath=following-sibling::dd[1]").textContent();
  const last = table("traced", "sends").filter((r) => r.node === node && Number(r.time_ns) <= t * 1e9).at(-1);
  await page.locator("dd", { hasText: last.decision }).first().waitFor();
  assert.match(await value("Queue at that time"), new RegExp(`^${last.queued} packet`));
  // The queues and tables of the last look, as the table has them.
  const looks = table("traced", "sizes").filter((r) => r.node === node && Number(r.time_ns) <= t * 1e9);
  const look = looks.filter((r) => r.time_ns === looks.at(-1).time_ns);
  assert.ok(look.some((r) => r.what === "route_cache"), JSON.stringify(look));
  const words = (r) => `${r.what === "queue" ? "interface queue" : r.what.replaceAll("_", " ")} ${r.count}`;
  assert.ok((await value("Queues and tables")).startsWith(look.map(words).join(", ")), await value("Queues and tables"));
  assert.match(await value("GPS fix"), /the position is exact/);
  const heard = table("traced", "packets").filter((r) => r.event === "receive" && r.node === node && Number(r.time_ns) <= t * 1e9 && Number(r.time_ns) >= (t - 5) * 1e9);
  // Node 0 has the address 10.0.0.1.
  const senders = new Set(heard.map((r) => String(Number(r.peer.split(".").at(-1)) - 1)));
  const listed = () => page.waitForFunction(([all, n]) => {
    const dt = [...document.querySelectorAll("dt")].find((d) => d.textContent.startsWith("Heard"));
    const names = (dt?.nextElementSibling.textContent ?? "").replaceAll(/ \([^)]*\)|, and \d+ more|nobody sent it anything/g, "").split(", ").filter((name) => name !== "");
    return names.length === n && names.every((name) => all.includes(name));
  }, [[...senders], Math.min(senders.size, 12)]);
  await listed();
  // Packets that come after the tables are shown, too.
  await page.route("**/api/packets?*", async (r) => { await page.locator("dd.sizes").waitFor(); await page.waitForTimeout(200); await r.continue(); });
  await page.reload();
  await listed();
  await page.unroute("**/api/packets?*");
  await shoot(page, "around");
  await noSeriousViolation(page, "node");
}

/** Runs and reports to choose from; a report is a stranger to the studio. */
async function startsWithRunsAndReports(page, address) {
  await page.goto(address);
  await page.getByRole("region", { name: "Table of runs" }).waitFor();
  const runs = await page.locator("table.runs tbody th").allTextContents();
  assert.deepEqual(runs, ["first", "half", "large", "tcp", "traced"]);
  await drawn(page);
  await noSeriousViolation(page, "start");
  await shoot(page, "start");
  await page.emulateMedia({ colorScheme: "dark" });
  await page.setViewportSize({ width: 390, height: 844 });
  await drawn(page);
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "nothing is wider than a phone");
  await noSeriousViolation(page, "start, dark, phone");
  await shoot(page, "start-phone");
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize({ width: 1280, height: 800 });
  const [report] = await Promise.all([page.context().waitForEvent("page"), page.locator(".reports a").click()]);
  await report.waitForLoadState();
  assert.equal(await report.locator("h1").textContent(), await page.locator(".reports a").textContent());
  const asked = await report.evaluate((a) => fetch(`${a}/api/runs`).then(() => "answered", () => "refused"), new URL(address).origin);
  assert.deepEqual([asked, await report.evaluate(() => origin)], ["refused", "null"]);
  await report.locator("iframe.inset").scrollIntoViewIfNeeded();
  await report.frameLocator("iframe.inset").locator("tbody button").first().waitFor();
  await report.close();
  await page.getByRole("button", { name: "traced", exact: true }).click();
  await settled(page);
}

/** Charts have the colours of the page, also after it has turned dark. */
async function chartsTurnDark(page, address) {
  /** Of each chart, how many pixels are of the grid by day, and of that by night. */
  const grids = () => page.evaluate(() => [...document.querySelectorAll(".chart canvas")].map((canvas) => {
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height), count = { "227,230,234": 0, "43,51,60": 0 };
    for (let i = 0; i < data.length; i += 4) if (data[i + 3] === 255) count[data.slice(i, i + 3).join()] += 1;
    return [count["227,230,234"], count["43,51,60"]];
  }));
  await page.emulateMedia({ colorScheme: "light" });
  await page.goto(`${address}?run=first&with=traced&t=60`);
  await page.locator(".chart canvas").nth(1).waitFor();
  await drawn(page);
  const before = await grids();
  await page.emulateMedia({ colorScheme: "dark" });
  await page.waitForFunction(() => matchMedia("(prefers-color-scheme: dark)").matches);
  await drawn(page);
  const after = await grids();
  assert.ok(before.length >= 2 && before.every(([day, dark]) => day > 50 && dark === 0), `by day: ${before}`);
  assert.ok(after.every(([day, dark]) => day === 0 && dark > 50), `by night: ${after}`);
  // The line of the present is nearly black by day, and nearly white by night.
  const lines = await page.locator(".present").evaluateAll((all) => all.map((l) => getComputedStyle(l).backgroundColor));
  assert.ok(lines.length >= 2 && lines.every((c) => c === "rgb(238, 241, 244)"), `every chart has the night's line of the present: ${lines}`);
  await shoot(page, "turned-dark");
  await page.emulateMedia({ colorScheme: "light" });
}

/** Measured and printed; how fast it must be depends on the machine. */
async function rate(page, address) {
  await page.goto(`${address}?run=large&speed=1`);
  await settled(page);
  await page.keyboard.press("Space");
  const ms = await page.evaluate(() => new Promise((done) => {
    const times = [];
    const frame = (t) => (times.push(t) < 120 ? requestAnimationFrame(frame) : done((times.at(-1) - times[0]) / (times.length - 1)));
    requestAnimationFrame(frame);
  }));
  assert.ok((await now(page)) > 0, "it plays");
  console.log(`1,000 nodes: ${ms.toFixed(1)} ms from picture to picture`);
}

let server, browser;
try {
  run("run", "scenarios/first.toml", "--out", join(folder, "first"), "--quiet");
  run("run", "scenarios/first.toml", "--receptions", "--captures", "--out", join(folder, "traced"), "--quiet");
  run("run", "scenarios/holland-vaidya/pattern.toml", "--duration", "60", "--out", join(folder, "tcp"), "--quiet");
  run("run", "web/e2e/large.toml", "--out", join(folder, "large"), "--quiet");
  run("report", join(folder, "first"), "--replay", "--out", join(folder, "report.html"));
  cpSync(join(folder, "first"), join(folder, "half"), { recursive: true });
  const half = join(folder, "half/packets.parquet");
  truncateSync(half, Math.floor(statSync(half).size / 2));
  let address;
  ({ server, address } = await serve([folder]));
  browser = await launch();
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, colorScheme: "light" });
  const errors = errorsOf(page), elsewhere = [];
  page.on("console", (m) => { if (m.text().includes("Content Security Policy")) errors.push(m.text()); });
  page.on("request", (r) => { if (!r.url().startsWith(address) && !r.url().startsWith("data:")) elsewhere.push(r.url()); });

  await positionIsTheFormulas(page, address);
  await page.keyboard.press("0");
  await drawn(page);
  await shoot(page, "node");
  await noSeriousViolation(page, "light");
  await keyboardAlone(page, address);
  await page.goto(`${address}?run=first&t=64`);
  await settled(page);
  await page.keyboard.press("Space");
  await page.waitForFunction(() => Number(document.querySelector("input[type=range]").value) > 64.6);
  await page.keyboard.press("Space");
  await shoot(page, "light");
  await page.emulateMedia({ colorScheme: "dark" });
  await page.reload();
  await settled(page);
  await drawn(page);
  await shoot(page, "dark");
  await noSeriousViolation(page, "dark");
  await page.emulateMedia({ colorScheme: "light" });
  const packet = await storyOfAPacket(page, address);
  await clickOnALoss(page, address, table("traced", "packets").filter((r) => r.event === "drop").at(0));
  await framesOfAPacket(page, address, packet);
  await charts(page, address);
  await nodeAtAMoment(page, address);
  await startsWithRunsAndReports(page, address);
  await chartsTurnDark(page, address);
  await page.emulateMedia({ colorScheme: "dark" });
  await page.goto(`${address}?run=traced&packet=${packet}&t=60&node=0`);
  await page.locator(".tale > li").first().waitFor();
  await page.locator(".charts > summary").click();
  await page.locator(".charts .plot canvas").waitFor();
  await noSeriousViolation(page, "story, dark");
  await page.emulateMedia({ colorScheme: "light" });
  await brokenRunsSayWhatIsWrong(page, address);
  await shoot(page, "broken");
  await rate(page, address);
  await shoot(page, "large");
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto(`${address}?run=traced&t=64.5&node=0&packet=${packet}`);
  await settled(page);
  assert.ok(await page.locator(".map").evaluate((e) => e.clientWidth === document.documentElement.clientWidth), "the map is as wide as the phone");
  await page.locator(".frames > summary").click();
  await page.locator(".frame").first().waitFor();
  await page.locator(".charts > summary").click();
  await page.locator(".charts .plot canvas").waitFor();
  await drawn(page);
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "nothing is wider than a phone");
  await shoot(page, "phone");
  if (shots) await page.screenshot({ path: join(shots, "phone-whole.png"), fullPage: true });
  await noSeriousViolation(page, "phone");
  await strangersGetNothing(browser, address);
  assert.deepEqual(errors, [], "no error in the page");
  assert.deepEqual(elsewhere, [], "no request leaves the machine");
  console.log("the studio's player: all checks passed");
} finally {
  await browser?.close();
  server?.kill();
  rmSync(folder, { recursive: true, force: true });
}
