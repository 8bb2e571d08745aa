// Chromium under a test: nothing may fail on the page and nothing may leave the machine.

import assert from "node:assert/strict";
import { type Browser, chromium, type Page } from "playwright-core";

// Machines without a graphics card: WebGL in software, and layers put together without WebGL, as
// Chromium does by itself when it finds no card. (Put together by a software WebGL, a frame takes
// some 80 ms of processor time in the graphics process and 7 ms in the page.)
const FLAGS = [
  "--no-sandbox",
  "--use-angle=swiftshader",
  "--enable-unsafe-swiftshader",
  "--disable-gpu-compositing",
];

export function launch(): Promise<Browser> {
  const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
  return chromium.launch({ executablePath, args: FLAGS });
}

export interface Watched {
  page: Page;
  /** Fails if the page wrote an error or asked anyone but its own address. */
  finish(): Promise<void>;
}

export interface Options {
  width?: number;
  height?: number;
  dark?: boolean;
}

/** Opens an address and waits until the recording is shown. */
export async function open(browser: Browser, url: string, options: Options = {}): Promise<Watched> {
  const { width = 1280, height = 720, dark = false } = options;
  const page = await browser.newPage({
    viewport: { width, height },
    colorScheme: dark ? "dark" : "light",
  });
  // a busy machine is slow, not wrong
  page.setDefaultTimeout(180_000);
  const errors: string[] = [];
  const outside: string[] = [];
  page.on("console", (message) => {
    // reading pixels of a software WebGL is slow, and Chromium remarks on it
    const driver = message.text().includes("GL Driver Message");
    const bad = message.type() === "error" || message.type() === "warning";
    if (bad && !driver) errors.push(message.text());
  });
  page.on("pageerror", (error) => errors.push(String(error)));
  const home = url.startsWith("file:") ? url.split("#")[0] : new URL(url).origin;
  page.on("request", (request) => {
    const at = request.url();
    if (!at.startsWith(home as string) && !at.startsWith("data:")) outside.push(at);
  });
  await page.goto(url);
  await page.locator("#loading").waitFor({ state: "hidden" });
  const finish = async () => {
    await page.close();
    assert.deepEqual(errors, [], "errors on the console");
    assert.deepEqual(outside, [], "requests to elsewhere");
  };
  return { page, finish };
}

interface Explorer {
  probe(name: string): { at: { x: number; y: number } | null; state: number };
  end: number;
  state: { time: number };
  store: { set(change: object): void };
}

type Holder = { weirExplorer: Explorer };

export function probe(page: Page, link: string): Promise<ReturnType<Explorer["probe"]>> {
  return page.evaluate((name) => (window as never as Holder).weirExplorer.probe(name), link);
}

export function endOf(page: Page): Promise<number> {
  return page.evaluate(() => (window as never as Holder).weirExplorer.end);
}

export function timeOf(page: Page): Promise<number> {
  return page.evaluate(() => (window as never as Holder).weirExplorer.state.time);
}

/** Presses on the strip where an instant is, as a hand would. */
export async function scrubTo(page: Page, time: number): Promise<void> {
  const box = await page.locator("#strip").boundingBox();
  if (!box) throw new Error("no strip");
  const gutter = box.width < 700 ? 76 : 132;
  const x = box.x + gutter + (time / (await endOf(page))) * (box.width - gutter);
  await page.mouse.move(box.x + gutter + 2, box.y + 12);
  await page.mouse.down();
  await page.mouse.move(x, box.y + 12, { steps: 4 });
  await page.mouse.up();
}

/** The strongest colour of the lanes within some pixels of a point, as [r, g, b]. */
export function colourAt(page: Page, at: { x: number; y: number }): Promise<number[]> {
  return page.evaluate(({ x, y }) => {
    const canvas = document.querySelector(".sigma-lanes") as HTMLCanvasElement;
    const box = canvas.getBoundingClientRect();
    const ratio = canvas.width / box.width;
    const context = canvas.getContext("2d") as CanvasRenderingContext2D;
    const { data } = context.getImageData(
      (x - box.left) * ratio - 2,
      (y - box.top) * ratio - 2,
      5,
      5,
    );
    let best = 0;
    for (let i = 0; i < data.length; i += 4) {
      if ((data[i + 3] as number) > (data[best + 3] as number)) best = i;
    }
    return Array.from(data.slice(best, best + 3));
  }, at);
}

/** A variable of the style sheet as [r, g, b]. */
export function variable(page: Page, name: string): Promise<number[]> {
  return page.evaluate((wanted) => {
    const text = getComputedStyle(document.documentElement).getPropertyValue(`--${wanted}`).trim();
    return [1, 3, 5].map((at) => Number.parseInt(text.slice(at, at + 2), 16));
  }, name);
}

/** Whether two colours are the same up to blending at edges. */
export function alike(a: number[], b: number[]): boolean {
  return a.every((value, i) => Math.abs(value - (b[i] as number)) <= 24);
}
