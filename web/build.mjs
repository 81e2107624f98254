// Builds the page into crates/tools/studio/page; with --check, says whether what is there is what the sources give.
import { createHash } from "node:crypto";
import { readFileSync, readdirSync, writeFileSync, mkdirSync } from "node:fs";
import { build } from "esbuild";

const web = new URL(".", import.meta.url).pathname;
const page = `${web}../crates/tools/studio/page/`;

// The digest that `sources_and_page_agree` in crates/tools/studio computes, too: of each source's name and content, in order of the names.
const digest = createHash("sha256");
const sources = readdirSync(`${web}src`, { recursive: true, withFileTypes: true }).filter((e) => e.isFile())
  .map((e) => `${e.parentPath}/${e.name}`.slice(web.length)).sort();
for (const name of ["build.mjs", "package-lock.json", ...sources]) {
  digest.update(`${name}\0`).update(readFileSync(web + name)).update("\0");
}
const stamp = `/* sources: sha256 ${digest.digest("hex")} */`;

const built = await build({
  absWorkingDir: web,
  entryPoints: { studio: "src/main.tsx" },
  outdir: page,
  bundle: true,
  minify: true,
  write: false,
  target: "es2022",
  format: "esm",
  jsx: "automatic",
  jsxImportSource: "preact",
  legalComments: "inline",
  banner: { js: stamp },
});
const files = Object.fromEntries(built.outputFiles.map((f) => [f.path.split("/").at(-1), f.text]));
files["index.html"] = readFileSync(`${web}src/index.html`, "utf8");

if (process.argv.includes("--check")) {
  const stale = Object.entries(files).filter(([name, text]) => readFileSync(page + name, "utf8") !== text);
  if (stale.length > 0) {
    console.error(`crates/tools/studio/page/${stale[0][0]} is not what web/ gives: run npm run build in web/`);
    process.exit(1);
  }
} else {
  mkdirSync(page, { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(page + name, text);
}
