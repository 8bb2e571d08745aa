import { Explorer } from "./explorer";
import { byId } from "./dom";
import { loadManifest, type Manifest } from "./load";
import { percent } from "./units";

function fail(error: unknown): void {
  const loading = byId("loading");
  loading.hidden = false;
  loading.classList.add("alarm");
  loading.textContent = error instanceof Error ? error.message : String(error);
}

async function start(): Promise<void> {
  const stored = sessionTheme();
  const dark = stored ? stored === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  const explorer = new Explorer(await firstRun(), fail);
  await explorer.begin();
  Object.assign(window, { weirExplorer: explorer });
}

/** Waits until a live experiment has a run to show. */
async function firstRun(): Promise<Manifest> {
  for (;;) {
    const manifest = await loadManifest();
    if (manifest.runs.length > 0) return manifest;
    const share = manifest.done === undefined ? "" : ` ${percent(manifest.done)}`;
    byId("loading").textContent = `${manifest.title || "the scenario"} is running …${share}`;
    await new Promise((done) => setTimeout(done, 1000));
  }
}

/** The theme that was chosen; storage may be forbidden for files. */
function sessionTheme(): string | null {
  try {
    return localStorage.getItem("weir-theme");
  } catch {
    return null;
  }
}

// in an exported page the data may stand after this script
if (document.readyState === "loading") {
  document.addEventListener("DOMContentLoaded", () => start().catch(fail));
} else {
  start().catch(fail);
}
