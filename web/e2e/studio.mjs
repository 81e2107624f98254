// What the tests of the page share: Wayhop's binary, a studio, a browser, screenshots, axe.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { chromium } from "playwright-core";

export const root = resolve(import.meta.dirname, "../..");
export const wayhop = resolve(process.env.WAYHOP ?? join(root, "target/debug/wayhop"));
/** Where screenshots go; without it none are taken. */
export const shots = process.argv[2];
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

export const newFolder = (name) => mkdtempSync(join(tmpdir(), `studio-${name}-`));
export const wait = (ms) => new Promise((done) => setTimeout(done, ms));

/** Runs a command of Wayhop to its end and returns what it prints. */
export const run = (...args) => execFileSync(wayhop, args, { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"], maxBuffer: 1 << 28 });

/** The rows of CSV without quotes, as objects. */
export function readCsv(text) {
  const [head, ...lines] = text.trim().split("\n").map((l) => l.split(","));
  return lines.map((l) => Object.fromEntries(head.map((h, i) => [h, l[i]])));
}

/** The rows of a table of a run, read by another way than the page's. */
export const readTable = (folder, table) => readCsv(run("export", "csv", folder, table));

/** Starts a command; with `ready`, waits for its first line. Fails with its messages if it ends with an error. */
export function start(command, args, { env = process.env, ready = false } = {}) {
  const child = spawn(command, args, { env, stdio: ["ignore", "pipe", "pipe"] });
  let messages = "";
  child.stderr.on("data", (text) => { messages += text; });
  return new Promise((done, fail) => {
    if (ready) child.stdout.once("data", (line) => done({ child, line: String(line).trim().split("\n")[0] }));
    else done({ child });
    child.once("exit", (status) => { if (status || ready) fail(new Error(`${command} ${args.join(" ")} ended with ${status}: ${messages}`)); });
  });
}

/** A studio, and the address that it prints. */
export async function serve(args, env) {
  const { child, line } = await start(wayhop, ["studio", "--no-browser", ...args], { env, ready: true });
  return { server: child, address: line };
}

/** What a busy machine may need until an action on a page is done, or something has happened, ms. */
const PATIENCE = 120_000;

export async function launch() {
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
  const newContext = browser.newContext.bind(browser);
  // Also the context of `browser.newPage`.
  browser.newContext = async (options) => {
    const context = await newContext(options);
    context.setDefaultTimeout(PATIENCE);
    return context;
  };
  return browser;
}

export const shoot = (page, name) => (shots ? page.screenshot({ path: join(shots, `${name}.png`) }) : undefined);

/** Lets the page draw what it has been told. */
export const drawn = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));

/** The errors of a page, as they come. A request that got no answer is printed, but for those of a page that was left. */
export function errorsOf(page) {
  const errors = [];
  page.on("requestfailed", (r) => { if (r.failure().errorText !== "net::ERR_ABORTED") console.error(`${r.url()}: ${r.failure().errorText}`); });
  page.on("pageerror", (e) => errors.push(String(e)));
  return errors;
}

export async function until(what, holds) {
  const end = Date.now() + PATIENCE;
  while (!(await holds())) {
    assert.ok(Date.now() < end, `waited too long until ${what}`);
    await wait(100);
  }
}

export async function noSeriousViolation(page, where) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => window.axe.run());
  const serious = violations.filter((v) => ["serious", "critical"].includes(v.impact));
  assert.deepEqual(serious.map((v) => `${v.id}: ${v.nodes[0].html}: ${v.nodes[0].failureSummary}`), [], where);
}
