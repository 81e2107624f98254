// The first page of the studio: runs in folders, a sweep's figures; and the page while a crowd holds connections.
//   WAYHOP=target/debug/wayhop node e2e/home.mjs [FOLDER FOR SCREENSHOTS]
import assert from "node:assert/strict";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { errorsOf, launch, newFolder, noSeriousViolation, readCsv, run, serve, shoot, shots } from "./studio.mjs";

const folder = newFolder("home");

async function runsInFolders(page, address) {
  await page.goto(address);
  const folders = page.locator("main.start > details > summary");
  await folders.first().waitFor();
  assert.deepEqual(await folders.allTextContents(), ["Runs (1)", "paper/one (1)", "Sweep sweep-pause (4 runs)"]);
  const totals = JSON.parse(readFileSync(join(folder, "top/summary.json"), "utf8")).totals;
  const cells = await page.getByRole("region", { name: "Table of runs", exact: true }).locator("tbody td").allTextContents();
  assert.deepEqual(cells.slice(1, 5), ["aodv", "5", "20", `${(100 * totals.delivery_ratio).toFixed(1)} %`]);
  await noSeriousViolation(page, "home");
}

/** The points of the figure are the means of the sweep's own table. */
async function figuresOfASweep(page) {
  await page.locator("summary", { hasText: "Sweep sweep-pause" }).click();
  const figure = page.locator(".sweep svg.figure");
  await figure.waitFor();
  const wanted = readCsv(readFileSync(join(folder, "sweep-pause/table.csv"), "utf8")).filter((r) => r.metric === "totals.routing_packets");
  await page.locator(".sweep select").first().selectOption("totals.routing_packets");
  const titles = await figure.locator("title").allTextContents();
  const expected = wanted.map((r) => `${r["protocol.name"] ?? r.protocol} ${r["duration_s"]}: ${Number(Number(r.mean).toPrecision(4))}`);
  assert.deepEqual([...titles].sort(), expected.sort());
  // Heights are as the means are.
  const heights = await figure.evaluate((svg) => [...svg.querySelectorAll(".series g")].map((g) => [Number(g.querySelector("title").textContent.split(": ")[1]), g.lastElementChild.getBoundingClientRect().top]));
  const [low, high] = [...heights].sort((a, b) => a[0] - b[0]).filter((_, i, all) => i === 0 || i === all.length - 1);
  assert.ok(low[1] > high[1], `the greater mean is higher: ${JSON.stringify(heights)}`);
  await noSeriousViolation(page, "sweep");
  await shoot(page, "home");
  await page.locator("summary", { hasText: "Runs (4)" }).click();
  await page.getByRole("region", { name: "Table of runs in sweep-pause" }).locator("tbody button").first().click();
  await page.locator(".map canvas").waitFor();
  assert.match(await page.locator("header select").first().inputValue(), /^run sweep-pause\/runs\//);
}

/** A sweep that kept no runs, opened by its own folder, shows its figures at once. */
async function theSweepAlone(browser) {
  rmSync(join(folder, "sweep-pause/runs"), { recursive: true });
  const alone = await serve([join(folder, "sweep-pause")]);
  const page = await browser.newPage();
  await page.goto(alone.address);
  await page.locator(".sweep svg.figure").waitFor();
  assert.equal(await page.locator("main.start > details > summary").first().textContent(), "This sweep (4 runs)");
  await page.close();
  alone.server.kill();
}

/** 200 connections that ask and do not read: the page opens all the same. How soon is measured by the server's own tests. */
async function inACrowd(browser, address) {
  const { hostname, port } = new URL(address);
  const asked = `GET /studio.js HTTP/1.1\r\nHost: ${hostname}:${port}\r\n\r\n`.repeat(40);
  const crowd = Array.from({ length: 200 }, () => {
    const socket = connect(Number(port), hostname, () => { socket.pause(); socket.write(asked); });
    socket.on("error", () => undefined);
    return socket;
  });
  await new Promise((done) => setTimeout(done, 500));
  const page = await browser.newPage();
  await page.goto(address);
  await page.locator("main.start details").first().waitFor();
  await page.close();
  for (const socket of crowd) socket.destroy();
}

const short = ["--set", "duration_s=20"];
run("run", "scenarios/chain.toml", ...short, "--out", join(folder, "top"));
run("run", "scenarios/chain.toml", ...short, "--out", join(folder, "paper/one/dsr"));
writeFileSync(join(folder, "notes.txt"), "none of the studio's");
run("sweep", "scenarios/chain.toml", "--vary", "protocol.name=dsr,aodv", "--vary", "duration_s=10,20", "--tables", "--metric", "totals.routing_packets", "--metric", "totals.delivery_ratio", "--out", join(folder, "sweep-pause"));
const { server, address } = await serve([folder]);
const browser = await launch();
try {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  const errors = errorsOf(page);
  await runsInFolders(page, address);
  await figuresOfASweep(page);
  await inACrowd(browser, address);
  await theSweepAlone(browser);
  if (shots) {
    const phone = await browser.newPage({ viewport: { width: 390, height: 844 }, colorScheme: "dark" });
    await phone.goto(address);
    await phone.locator("summary", { hasText: "Sweep" }).click();
    await phone.locator("svg.figure").waitFor();
    await shoot(phone, "home-phone");
  }
  assert.deepEqual(errors, []);
  console.log("home: runs in folders, a sweep's figures, a crowd");
} finally {
  await browser.close();
  server.kill();
  rmSync(folder, { recursive: true, force: true });
}
