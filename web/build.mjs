// Builds the page into crates/view/assets: index.html, app.js, app.css. The output depends on the
// sources and the lock file only.
import { copyFile, mkdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2] ?? join(here, "../crates/view/assets");
await mkdir(out, { recursive: true });

/** The notices that the licences of the bundled libraries ask for, in full. */
const LIBRARIES = {
  sigma: "LICENSE.txt",
  graphology: "LICENSE.txt",
  "graphology-utils": "LICENSE.txt",
  events: "LICENSE",
  uplot: "LICENSE",
};
const notices = await Promise.all(
  Object.entries(LIBRARIES).map(async ([name, file]) => {
    const folder = join(here, "node_modules", name);
    const { version } = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
    const licence = await readFile(join(folder, file), "utf8");
    return `${name} ${version}\n${licence.trim()}`;
  }),
);
const banner = `/*! The page of weir view, built from web/. It contains:\n\n${notices.join("\n\n")}\n*/`;

await build({
  absWorkingDir: here,
  entryPoints: [{ in: "src/main.ts", out: "app" }],
  outdir: out,
  bundle: true,
  minify: true,
  format: "iife",
  target: "es2022",
  charset: "utf8",
  banner: { js: banner },
  legalComments: "none",
  logLevel: "warning",
});
await build({
  absWorkingDir: here,
  entryPoints: [{ in: "src/styles.css", out: "app" }],
  outdir: out,
  bundle: true,
  minify: true,
  charset: "utf8",
  target: "chrome111",
  logLevel: "warning",
});
await copyFile(join(here, "src/index.html"), join(out, "index.html"));
