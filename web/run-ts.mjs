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
process.exit(
  spawnSync(
    process.execPath,
    [
      ...(basename(source).includes(".test.") ? ["--test", "--test-timeout=3600000"] : []),
      target,
      ...rest,
    ],
    { stdio: "inherit" },
  ).status ?? 1,
);
