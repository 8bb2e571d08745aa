// A small server of the page with the headers of `weir view`, and the exported form, for tests.

import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { join } from "node:path";
import { open } from "../src/format";

export interface Data {
  title: string;
  /** More runs will come; so much is done. */
  live?: boolean;
  done?: number;
  runs: { label: string; scheme: string; bytes: Uint8Array; live?: boolean }[];
}

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'";
const TYPES: Record<string, string> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript",
  css: "text/css",
  json: "application/json",
  weir: "application/octet-stream",
};

function manifest(data: Data): string {
  const runs = data.runs.map(({ label, scheme, live = false }, i) => ({
    label,
    scheme,
    file: `${i}/timeline.weir`,
    live,
  }));
  return JSON.stringify({ title: data.title, live: data.live, done: data.done, runs });
}

/** Serves `data` below /token/ on a free port of 127.0.0.1. */
export async function serve(assets: string, data: Data): Promise<{ url: string; server: Server }> {
  const server = createServer(async (request, response) => {
    const path = (request.url ?? "").replace(/^\/token\//, "").split(/[?#]/)[0] || "index.html";
    const run = /^(\d+)\/timeline\.weir$/.exec(path);
    try {
      const body =
        path === "manifest.json"
          ? manifest(data)
          : run
            ? data.runs[Number(run[1])]?.bytes
            : await readFile(join(assets, path));
      response.setHeader("content-type", TYPES[path.split(".").pop() ?? ""] ?? "text/plain");
      response.setHeader("content-security-policy", POLICY);
      response.end(body);
    } catch {
      response.statusCode = 404;
      response.end();
    }
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const address = server.address();
  const port = typeof address === "object" && address ? address.port : 0;
  return { url: `http://127.0.0.1:${port}/token/`, server };
}

const hash = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

/** One file with everything in it. */
export async function exported(assets: string, data: Data): Promise<string> {
  const [html, script, style] = await Promise.all(
    ["index.html", "app.js", "app.css"].map((name) => readFile(join(assets, name), "utf8")),
  );
  const block = (id: string, bytes: Uint8Array) =>
    `<script type="application/octet-stream" id="${id}">${Buffer.from(bytes).toString("base64")}</script>`;
  const blocks = [
    block("manifest", Buffer.from(manifest(data))),
    ...data.runs.map((run, i) => block(`run-${i}`, run.bytes)),
  ];
  const policy = `default-src 'none'; script-src ${hash(script as string)}; style-src ${hash(style as string)}; img-src data:; base-uri 'none'`;
  return (html as string)
    .replace(
      '<meta charset="utf-8">',
      () => `<meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${policy}">`,
    )
    .replace('<link rel="stylesheet" href="app.css">', () => `<style>${style}</style>`)
    .replace(
      '<script defer src="app.js"></script>',
      () => `${blocks.join("\n")}<script>${script}</script>`,
    );
}

/**
 * The address of a page that was given as an address, or as recordings separated by commas, which
 * are then served.
 */
export async function addressOf(
  assets: string,
  given: string,
): Promise<{ url: string; server: Server | null }> {
  if (!given.endsWith(".weir")) return { url: given, server: null };
  const runs = await Promise.all(
    given.split(",").map(async (path) => {
      const bytes = new Uint8Array(await readFile(path));
      const { header } = await open(bytes);
      return { label: header.label, scheme: header.scheme, bytes };
    }),
  );
  return serve(assets, { title: "", runs });
}
