// The explorer in a real browser.
//
//   npm run e2e                                     with invented recordings
//   WEIR_PAIR=URL WEIR_RING=URL npm run e2e         with pages of `weir view`: OFC Fig. 1 under PFC
//                                                   and OFC, and the deadlocked ring. A URL may be
//                                                   http:// or file://, or recordings separated by
//                                                   commas; several are separated by blanks.
//
// WEIR_BIG may name a page with 1024 hosts to be measured. CHROMIUM names the browser, WEIR_FPS the frames per second that scrubbing must reach.

import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { pathToFileURL } from "node:url";
import type { Page } from "playwright-core";
import { chain, fatTree, ring } from "../test/synthetic";
import { alike, colourAt, launch, open, probe, scrubTo, timeOf, variable } from "./browser";
import { addressOf, type Data, exported, serve } from "./serve";

const assets = join(process.env.WEIR_WEB ?? ".", "../crates/view/assets");
const browser = await launch();
const folder = await mkdtemp(join(tmpdir(), "weir-explorer-"));
const servers: { close(): void }[] = [];
after(async () => {
  await browser.close();
  for (const server of servers) server.close();
  await rm(folder, { recursive: true });
});

const one = (label: string, bytes: Uint8Array): Data => ({
  title: "invented",
  runs: [{ label, scheme: label.toLowerCase(), bytes }],
});

async function served(data: Data): Promise<string> {
  const { url, server } = await serve(assets, data);
  servers.push(server);
  return url;
}

async function asFile(name: string, data: Data): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, await exported(assets, data));
  return pathToFileURL(path).href;
}

/** The addresses that a variable names, or those of invented pages. */
async function pages(name: string, file: string, invented: Data): Promise<string[]> {
  const given = (process.env[name] ?? "").split(" ").filter(Boolean);
  if (given.length === 0) return [await served(invented), await asFile(file, invented)];
  const found = await Promise.all(given.map((text) => addressOf(assets, text)));
  for (const { server } of found) if (server) servers.push(server);
  return found.map(({ url }) => url);
}

const pair: Data = {
  title: "ofc-fig1",
  runs: [
    { label: "PFC", scheme: "pfc", bytes: chain("PFC") },
    { label: "OFC", scheme: "ofc", bytes: chain("OFC", true) },
  ],
};
const real = Boolean(process.env.WEIR_PAIR);
const pairs = await pages("WEIR_PAIR", "pair.html", pair);
const rings = await pages("WEIR_RING", "ring.html", one("PFC", ring()));

async function search(page: Page, text: string): Promise<void> {
  await page.locator("#search").fill(text);
  await page.locator("#search").press("Enter");
  await page.locator("#search").press("Escape");
}

const panel = (page: Page) => page.locator("#panel");

/** Time in µs of a part of the selected flow's life, 0 if it has none. */
async function part(page: Page, name: string): Promise<number> {
  const row = page
    .locator(`#panel .parts`)
    .first()
    .locator(`tr[data-part=${name}] .number`)
    .first();
  if ((await row.count()) === 0) return 0;
  const match = /([\d.]+) (ns|µs|ms)/.exec(await row.innerText());
  return Number(match?.[1]) * ({ ns: 1e-3, µs: 1, ms: 1e3 }[match?.[2] ?? ""] ?? Number.NaN);
}

for (const url of pairs) {
  const kind = url.startsWith("file:") ? "exported" : "served";

  test(`${kind}: a pause of Sb-Sc has its colour, its tree names P_d of Sc and F0 as victim`, async () => {
    const { page, finish } = await open(browser, `${url}#run=PFC`);
    await search(page, "Sb>Sc");
    await panel(page).getByText("Its pauses around the cursor").waitFor();
    // the list shows pauses around the cursor: from the begin of the run, the first ones
    await page.keyboard.press("Home");
    await page.keyboard.press("Escape");
    await search(page, "Sb>Sc");
    await panel(page).locator("h3:has-text('Its pauses') + table button").first().click();
    const begin = await timeOf(page);
    await page.keyboard.press("Escape");
    await page.keyboard.press("Home");

    await scrubTo(page, begin + 2e6);
    await page.waitForFunction(() => document.getElementById("clock")?.textContent !== "0");
    // to an instant of the pause exactly, however narrow it is on the strip
    for (let i = 0; i < 200 && (await timeOf(page)) > begin; i++) await page.keyboard.press(",");
    for (let i = 0; i < 200 && (await probe(page, "Sb>Sc")).state !== 4; i++) {
      await page.keyboard.press(".");
    }
    const { at } = await probe(page, "Sb>Sc");
    assert.ok(at);
    const [seen, paused] = [await colourAt(page, at), await variable(page, "c1")];
    assert.ok(alike(seen, paused), `the lane is ${seen}, a paused one ${paused}`);

    await page.mouse.click(at.x, at.y);
    await panel(page).locator(".tree .root").waitFor();
    assert.match(
      await panel(page).locator(".tree").innerText(),
      /^P_d of Sc cannot keep up\n.*Sc pauses Sb/s,
    );
    assert.match(
      await panel(page).locator(".sufferers .victim").first().innerText(),
      /^F0 h0 → h8/,
    );
    await page.locator("#status", { hasText: "root P_d of Sc" }).waitFor();
    await finish();
  });

  test(`${kind}: the parts of F0 add up; what PFC held for others OFC did not`, async () => {
    const { page, finish } = await open(browser, `${url}#run=PFC&flow=0`);
    assert.match(await panel(page).locator(".sum").first().innerText(), /the FCT exactly/);
    const held = await part(page, "held_others");
    assert.match(await panel(page).innerText(), /Whom to blame.*P_d of Sc.*elsewhere/s);
    await page.locator("#run").selectOption({ label: "OFC" });
    await page.locator("#map-0 .badge", { hasText: "OFC" }).waitFor();
    assert.match(await panel(page).locator(".sum").first().innerText(), /the FCT exactly/);
    const less = await part(page, "held_others");
    console.log(`# F0 held for others: PFC ${held} µs, OFC ${less} µs`);
    if (real) {
      // what docs/src/blame.md documents: hundreds of microseconds under PFC, 24 under OFC, of
      // which the hosts' own view is 21
      assert.ok(held > 100, `${held}`);
      assert.ok(less > 24 && less < 24.3, `${less}`);
    } else {
      assert.deepEqual([held, less], [50, 0]);
    }
    await finish();
  });

  test(`${kind}: two schemes side by side share time, and the address leads back to it`, async () => {
    const { page, finish } = await open(browser, url);
    assert.deepEqual(
      await page
        .locator(".map .badge")
        .allInnerTexts()
        .then((all) => all.map((t) => t.slice(0, 3))),
      ["PFC", "OFC"],
    );
    await page.keyboard.press(".");
    await page.keyboard.press("Escape");
    await search(page, "F1");
    const time = await timeOf(page);
    await page.waitForFunction(() => location.hash.includes("flow=f"));
    const again = await open(browser, page.url());
    assert.equal(await timeOf(again.page), time);
    assert.match(await panel(again.page).locator("h2").first().innerText(), /^F1 /);
    assert.equal(await again.page.locator("#map-1").isVisible(), true);
    await again.finish();
    await finish();
  });
}

for (const url of rings) {
  const kind = url.startsWith("file:") ? "exported" : "served";
  test(`${kind}: the ring shows its cycle, the instant and the routes`, async () => {
    const { page, finish } = await open(browser, url);
    assert.match(await page.locator("#map-0 .badge").innerText(), /deadlock at [\d.]+ (µs|ms)/);
    await panel(page)
      .getByText(/^Deadlock at/)
      .first()
      .click();
    // the initial trigger: the pause with which the chain of causes began
    assert.match(await panel(page).innerText(), /began with\s+the pause of \S+ → \S+/);
    assert.equal(await page.locator("#legend [data-mark=cycle]").isVisible(), true);
    const links = await panel(page).locator("ol.tree > li").allInnerTexts();
    assert.ok(links.length >= 3);
    for (const text of links) assert.match(text, /→.* waits for the next for.*F\d+/s);
    const link = (await panel(page).locator("ol.tree > li > button").first().innerText()).replace(
      " → ",
      ">",
    );
    const { at } = await probe(page, link);
    assert.ok(at);
    const [seen, alarm] = [await colourAt(page, at), await variable(page, "hot")];
    assert.ok(alike(seen, alarm), `the lane is ${seen}, a deadlocked one ${alarm}`);
    await finish();
  });
}

test("names from a scenario never become markup", async () => {
  const name = '<img src=x onerror="document.title=1">';
  const { page, finish } = await open(
    browser,
    `${await served(one("<b>PFC</b>", chain("<b>PFC</b>", false, name)))}#flow=0`,
  );
  assert.equal(await page.locator("#panel img, #panel b, .badge b").count(), 0);
  assert.match(await panel(page).locator("h2").first().innerText(), /^F0 <img src=x/);
  await finish();
});

test("the page begins with what happened, and each sentence leads to its moment", async () => {
  const { page, finish } = await open(browser, `${await served(pair)}#run=PFC`);
  const story = panel(page).locator(".story li");
  assert.match(await story.first().innerText(), /^30.000 µs\s+More arrives for P_d of Sc than/);
  assert.equal(await page.locator("#legend [data-mark=root]").isVisible(), true);
  await story.nth(2).locator("button").click();
  assert.equal(await timeOf(page), 32e6);
  // the line follows with a delay
  await page.locator("#status", { hasText: "the pause of Sa → Sb, root P_d of Sc" }).waitFor();
  await finish();
});

test("the interval of the counters is that of the recording", async () => {
  const page = await browser.newPage();
  await page.goto(await served(one("PFC", chain("PFC", false, "h0", 200, 30e6))));
  await page.locator("#loading").waitFor({ state: "hidden" });
  assert.equal(await page.locator("#poll option:checked").innerText(), "30 µs");
  await page.close();
});

test("a cell of the matrix leads to its pause", async () => {
  const { page, finish } = await open(browser, `${await served(pair)}#run=PFC`);
  const box = await page.locator("#matrix-0").boundingBox();
  assert.ok(box);
  // the second row is Sa-Sb; its pause from 32 to 39 of 200 us
  await page.mouse.click(box.x + 132 + (36 / 200) * (box.width - 132), box.y + 18 + 9);
  await panel(page).locator(".tree").waitFor();
  assert.match(await panel(page).locator("h2").first().innerText(), /^Sa → Sb/);
  assert.ok(Math.abs((await timeOf(page)) - 36e6) < 1e6);
  await finish();
});

test("the matrix is read with keys and in words", async () => {
  const { page, finish } = await open(browser, `${await served(pair)}#run=PFC&t=0ps`);
  await page.locator("#matrix-0").focus();
  await page.keyboard.press("ArrowDown");
  await page.locator("#status", { hasText: "Sb → Sc: " }).waitFor();
  await page.keyboard.press("ArrowDown");
  await page.locator("#status", { hasText: "Sa → Sb: busy" }).waitFor();
  await page.keyboard.press("Enter");
  await page.locator("#status", { hasText: "the pause of Sa → Sb, root P_d of Sc" }).waitFor();
  assert.equal(await timeOf(page), 32e6);
  await finish();
});

test("keys play, step and choose", async () => {
  const { page, finish } = await open(browser, `${await served(pair)}#run=PFC&t=0ps`);
  await page.keyboard.press(".");
  assert.equal(await timeOf(page), 20e6);
  await page.keyboard.press(".");
  assert.equal(await timeOf(page), 30e6);
  await page.keyboard.press(",");
  assert.equal(await timeOf(page), 20e6);
  await page.keyboard.press(" ");
  await page.waitForFunction(
    () => document.getElementById("play")?.getAttribute("aria-label") === "pause",
  );
  await page.waitForFunction(
    () => !document.getElementById("clock")?.textContent?.startsWith("20.00"),
  );
  await page.keyboard.press(" ");
  await page.keyboard.press("d");
  assert.equal(await page.locator("html").getAttribute("data-theme"), "dark");
  await page.keyboard.press("?");
  await page.locator("#help").waitFor({ state: "visible" });
  await finish();
});

test("a run that is going on is followed until it ends", async () => {
  const data = one("PFC", chain("PFC", false, "h0", 60));
  const [run] = data.runs;
  assert.ok(run);
  run.live = true;
  const { page, finish } = await open(browser, await served(data));
  assert.match(await page.locator("#map-0 .badge").innerText(), /running/);
  assert.match(await panel(page).innerText(), /ran for\s+60\.0 µs/);
  // the cursor is where the run is
  assert.equal(await timeOf(page), 60e6);
  Object.assign(run, { bytes: chain("PFC"), live: false });
  await page.locator("#map-0 .badge", { hasText: "200 µs, drained" }).waitFor();
  assert.match(await panel(page).innerText(), /F0 h0 → h8 lost 50\.0 µs/);
  // and in the end at the first of its worst moments
  assert.ok((await timeOf(page)) < 60e6);
  await finish();
});

test("runs of an experiment that is going on appear when they are over", async () => {
  const data: Data = { title: "soon", runs: [], live: true, done: 0.25 };
  const page = await browser.newPage();
  await page.goto(await served(data));
  await page.getByText("soon is running … 25 %").waitFor();
  data.runs.push(...pair.runs.slice(0, 1));
  await page.locator("#loading").waitFor({ state: "hidden" });
  await page.getByText("still running: 25 % of all runs done").waitFor();
  data.runs.push(...pair.runs.slice(1));
  data.live = false;
  await page.locator("#beside").selectOption({ label: "OFC" });
  await page.locator("#map-1 .badge", { hasText: "OFC" }).waitFor();
  await page.close();
});

test("a phone reads it without scrolling sideways", async () => {
  const { page, finish } = await open(browser, `${await served(pair)}#run=PFC&pause=0`, {
    width: 390,
    height: 844,
  });
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(wide <= 390, `${wide}`);
  assert.match(await panel(page).innerText(), /P_d of Sc/);
  await finish();
});

test("a recording that cannot be read says why", async () => {
  const page = await browser.newPage();
  await page.goto(await served(one("PFC", new Uint8Array([1, 2, 3]))));
  await page.locator("#loading.alarm").waitFor();
  assert.match(await page.locator("#loading").innerText(), /not a recording of Weir/);
  await page.close();
});

/** Moves the cursor once per frame over the run and counts frames. */
function scrubbing(page: Page): Promise<{ fps: number; work: number }> {
  return page.evaluate(
    () =>
      new Promise<{ fps: number; work: number }>((done) => {
        const { weirExplorer } = window as never as {
          weirExplorer: { end: number; store: { set(change: object): void } };
        };
        const began = performance.now();
        let frames = 0;
        const step = () => {
          const passed = performance.now() - began;
          if (passed > 4000) return done({ fps: (frames * 1000) / passed, work: 0 });
          frames += 1;
          weirExplorer.store.set({
            time: Math.round(((frames * 7) % 1000) * 1e-3 * weirExplorer.end),
          });
          requestAnimationFrame(step);
        };
        requestAnimationFrame(step);
      }),
  );
}

/** Processor time so far in seconds and memory in bytes, with all arrays, of the page's process. */
async function renderer(): Promise<{ cpu: number; memory: number }> {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send("SystemInfo.getProcessInfo");
  await session.detach();
  let busiest = { cpu: 0, memory: 0 };
  for (const { id, type, cpuTime } of processInfo) {
    if (type !== "renderer" || cpuTime < busiest.cpu) continue;
    // empty where the system does not tell
    const status = await readFile(`/proc/${id}/status`, "utf8").catch(() => "");
    const kilobytes = Number(/^RssAnon:\s+(\d+) kB/m.exec(status)?.[1] ?? 0);
    busiest = { cpu: cpuTime, memory: kilobytes * 1000 };
  }
  return busiest;
}

async function measure(name: string, url: string): Promise<void> {
  const began = performance.now();
  const { page, finish } = await open(browser, url);
  const ready = performance.now() - began;
  const { cpu } = await renderer();
  const { fps } = await scrubbing(page);
  const { memory } = await renderer();
  console.log(
    `# ${name}: ready after ${(ready / 1000).toFixed(2)} s (${cpu.toFixed(2)} s of processor time), ${fps.toFixed(0)} frames/s while scrubbing, ${(memory / 1e6).toFixed(0)} MB in the page's process`,
  );
  assert.ok(fps >= Number(process.env.WEIR_FPS ?? 0), `${fps} frames per second`);
  assert.match(await page.locator("#counts").innerText(), /nodes folded on the map/);
  await finish();
}

test("1024 hosts are folded and can be scrubbed", async () => {
  const given = process.env.WEIR_BIG;
  const page = given
    ? await addressOf(assets, given)
    : await serve(assets, one("PFC", fatTree(16)));
  if (page.server) servers.push(page.server);
  await measure("1024 hosts", page.url);
});

test("65 536 hosts open folded", async () => {
  await measure("65 536 hosts", await served(one("PFC", fatTree(64, 120, 0.002))));
});
