// Pictures of the four main views, light and dark, to be looked at: npm run shots -- FOLDER
//
// WEIR_PAIR, WEIR_RING and WEIR_BIG name pages as in explorer.test.ts; without them the recordings
// are invented.

import { join } from "node:path";
import { chain, fatTree, ring } from "../test/synthetic";
import { launch, open, probe } from "./browser";
import { addressOf, type Data, serve } from "./serve";

const assets = join(process.env.WEIR_WEB ?? ".", "../crates/view/assets");
const [folder = "."] = process.argv.slice(2);
const browser = await launch();

async function address(name: string, invented: () => Data): Promise<string> {
  const given = process.env[name];
  const { url } = given ? await addressOf(assets, given) : await serve(assets, invented());
  return url;
}

const run = (label: string, bytes: Uint8Array) => ({ label, scheme: label.toLowerCase(), bytes });
const pair = await address("WEIR_PAIR", () => ({
  title: "ofc-fig1",
  runs: [run("PFC", chain("PFC")), run("OFC", chain("OFC", true))],
}));
const loop = await address("WEIR_RING", () => ({ title: "ring", runs: [run("PFC", ring())] }));
const big = await address("WEIR_BIG", () => ({
  title: "fat tree",
  runs: [run("PFC", fatTree(16, 300))],
}));

interface View {
  name: string;
  url: string;
  /** An item of the map to open. */
  open?: string;
  /** A link that is held then, whose pause is selected. */
  link?: string;
  phone?: boolean;
}

const views: View[] = [
  { name: "schemes", url: pair },
  { name: "pause", url: `${pair}#t=55us&run=PFC`, link: "Sb>Sc" },
  { name: "flow", url: `${pair}#t=55us&run=PFC&beside=OFC&flow=0` },
  { name: "deadlock", url: `${loop}#cycle=0&t=1s` },
  { name: "large", url: big },
  { name: "large-open", url: big, open: "pod:pod0" },
  { name: "phone", url: `${pair}#t=55us&run=PFC&pause=0`, phone: true },
];
for (const dark of [false, true]) {
  for (const view of views) {
    const size = view.phone ? { width: 390, height: 844 } : { width: 1280, height: 720 };
    const { page, finish } = await open(browser, view.url, { ...size, dark });
    await page.evaluate((key) => {
      const { weirExplorer } = window as never as {
        weirExplorer: { store: { set(change: object): void } };
      };
      if (key) weirExplorer.store.set({ open: new Set([key]) });
    }, view.open);
    if (view.link) {
      const { at } = await probe(page, view.link);
      if (at) await page.mouse.click(at.x, at.y);
    }
    // two frames after the last animation of the camera
    await page.waitForTimeout(500);
    const path = join(folder, `${view.name}-${dark ? "dark" : "light"}.png`);
    await page.screenshot({ path, fullPage: view.phone ?? false });
    console.log(path);
    await finish();
  }
}
await browser.close();
process.exit(0);
