// Bundles a TypeScript program for Node and runs it: node run-ts.mjs FILE [ARGUMENTS]
import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const [source, ...rest] = process.argv.slice(2);
const out = join(here, "node_modules/.cache/weir");
mkdirSync(out, { recursive: true });
const target = join(out, `${basename(source, ".ts")}.mjs`);
await build({
  entryPoints: [source],
  outfile: target,
  bundle: true,
  platform: "node",
  format: "esm",
  packages: "external",
  logLevel: "warning",
});
// a busy machine is slow, not wrong; Node 18, which Debian 12 has, knows no such limit
const [major, minor] = process.versions.node.split(".").map(Number);
const limit = major > 20 || (major === 20 && minor >= 11) ? ["--test-timeout=3600000"] : [];
process.exit(
  spawnSync(
    process.execPath,
    [...(basename(source).includes(".test.") ? ["--test", ...limit] : []), target, ...rest],
    { stdio: "inherit" },
  ).status ?? 1,
);
