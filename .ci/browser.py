"""Checks pages of results in Chromium: python3 browser.py DIR NAME...

Each page is shown in frames of 1280 and 400 pixels. A script inside looks at the boxes that the
browser gives to the texts of every figure, and reports what overlaps, is cut off or does not fit.
"""

import html
import json
import pathlib
import re
import subprocess
import sys
import tempfile

WIDTHS = [1280, 400]

# Runs inside the page. Boxes of texts are a line high; ink does not reach their upper and lower
# edges, so a part is taken off before two of them are said to overlap.
CHECK = """
addEventListener("load", () => setTimeout(() => {
  const problems = [];
  document.querySelectorAll("details").forEach((d) => { d.open = true; });
  const say = (what) => { if (problems.length < 40) problems.push(what); };
  let texts = 0;
  // the page of a sweep: a panel for each variant
  const facet = document.getElementById("facet");
  if (facet) { facet.value = "0"; facet.dispatchEvent(new Event("change")); }
  for (const svg of document.querySelectorAll("figure svg, #figures svg")) {
    const edge = svg.getBoundingClientRect();
    if (edge.width === 0) continue;
    const id = (svg.closest("figure") || svg.parentElement).id;
    const scale = edge.width / (svg.viewBox.baseVal.width || edge.width);
    if (facet && scale < 0.95) say(`figure ${id}: drawn ${edge.width} px wide, at ${scale} of its size`);
    const boxes = [];
    for (const text of svg.querySelectorAll("text")) {
      if (!text.textContent.trim()) continue;
      const r = text.getBoundingClientRect();
      const upright = r.height > r.width && text.textContent.length > 2;
      const [dx, dy] = upright ? [r.width * 0.2, 0] : [0, r.height * 0.2];
      const box = { l: r.left + dx, r: r.right - dx, t: r.top + dy, b: r.bottom - dy, s: text.textContent };
      if (box.l < edge.left - 1 || box.r > edge.right + 1 || box.t < edge.top - 1 || box.b > edge.bottom + 1)
        say(`figure ${id}: "${box.s}" is cut off`);
      boxes.push(box);
    }
    texts += boxes.length;
    boxes.sort((a, b) => a.l - b.l);
    boxes.forEach((a, i) => {
      for (let k = i + 1; k < boxes.length && boxes[k].l < a.r - 0.5; k++) {
        const b = boxes[k];
        if (a.t < b.b - 0.5 && b.t < a.b - 0.5) say(`figure ${id}: "${a.s}" covers "${b.s}"`);
      }
    });
  }
  const root = document.documentElement;
  if (root.scrollWidth > innerWidth + 1) say(`the page is ${root.scrollWidth} px wide`);
  for (const box of document.querySelectorAll("section > .wide, section > details > .wide")) {
    if (innerWidth >= 1280 && box.scrollWidth > box.clientWidth + 1)
      say(`a table of ${box.scrollWidth} px stands in ${box.clientWidth}: ${box.textContent.slice(0, 60)}`);
    if (innerWidth < 1280 && getComputedStyle(box).overflowX !== "auto") say("a table does not scroll");
  }
  const filter = document.querySelector(".filter input");
  let filtered = null;
  if (filter) {
    const lines = [...filter.closest(".trees").querySelectorAll("li")].filter((li) => !li.classList.contains("fold"));
    const shown = () => lines.filter((li) => li.offsetParent !== null).length;
    const type = (text) => { filter.value = text; filter.dispatchEvent(new Event("input", { bubbles: true })); };
    const one = lines[lines.length - 1].querySelector("b");
    type(one ? one.textContent : "nothing is called this");
    filtered = [lines.length, shown()];
    if (shown() === 0 || shown() >= lines.length) say(`the filter shows ${shown()} of ${lines.length} lines`);
    type("nothing is called this");
    if (shown() !== 0) say(`the filter shows ${shown()} lines without the name`);
    type("");
    if (shown() === 0) say("an empty filter hides everything");
  }
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const paper = getComputedStyle(document.body).backgroundColor;
  const ink = [...document.querySelectorAll("svg.figure text")].map((t) => getComputedStyle(t).fill);
  if (ink.includes(paper)) say("a label has the colour of the page");
  parent.postMessage({ width: innerWidth, texts, filtered, dark, paper, problems }, "*");
}, 0));
"""

OUTER = """<!doctype html><meta charset="utf-8"><pre id="found"></pre>
<script>
const found = [];
addEventListener("message", (e) => {
  found.push(e.data);
  document.getElementById("found").textContent = JSON.stringify(found);
});
</script>
"""


def look(page, dark):
    """What the script finds in a page, one record per width."""
    text = page.read_text(encoding="utf-8")
    checked = page.with_name("checked.html")
    checked.write_text(text.replace("</body>", f"<script>{CHECK}</script></body>"), encoding="utf-8")
    frames = "".join(
        f'<iframe src="checked.html" width="{w}" height="900" style="border:0"></iframe>' for w in WIDTHS
    )
    outer = page.with_name("outer.html")
    outer.write_text(OUTER + frames, encoding="utf-8")
    with tempfile.TemporaryDirectory() as profile:
        command = [
            "chromium", "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}",
            "--window-size=1400,1000", "--virtual-time-budget=20000", "--dump-dom",
        ]
        if dark:
            # what a reader's desktop would say, and not the browser's own darkening of light pages
            command.append("--blink-settings=preferredColorScheme=0")
        done = subprocess.run([*command, outer.as_uri()], capture_output=True, text=True, timeout=120)
    checked.unlink()
    outer.unlink()
    match = re.search(r'<pre id="found">(.*?)</pre>', done.stdout, re.S)
    if not match or not match[1]:
        sys.exit(f"browser: {page}: the page reported nothing\n{done.stderr[-2000:]}")
    return json.loads(html.unescape(match[1]))


def main():
    directory, names = pathlib.Path(sys.argv[1]), sys.argv[2:]
    bad = filters = 0
    for name in names:
        for dark in (False, True):
            records = look(directory / name / "index.html", dark)
            if sorted(r["width"] for r in records) != sorted(WIDTHS):
                sys.exit(f"browser: {name}: not all widths reported: {records}")
            for r in records:
                theme = "dark" if dark else "light"
                if r["dark"] != dark:
                    sys.exit(f"browser: {name}: the browser did not show it {theme}")
                if r["texts"] < 20:
                    sys.exit(f"browser: {name}: only {r['texts']} labels were seen")
                print(f"browser: {name} {theme} {r['width']} px: {r['texts']} labels")
                for problem in r["problems"]:
                    print(f"  {problem}")
                bad += len(r["problems"])
                filters += r["filtered"] is not None
    if filters == 0:
        sys.exit("browser: no page has a pause tree with a filter")
    if bad:
        sys.exit(f"browser: {bad} problems")


main()
