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
import xml.dom.minidom
import xml.parsers.expat

WIDTHS = [1280, 400]
# What takes longer hangs, in seconds: pages take a few, but machines may be slow and busy.
LONGEST = 1200

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


# Opens the page of a sweep at an address that holds a choice, and makes the three files of its figure.
FILES = """
(async () => {
  const found = document.createElement('pre');
  found.id = 'found';
  const bytes = async kind => [...new Uint8Array(await (await fileOf(whole(chosen()), kind)).arrayBuffer())];
  const files = {};
  for (const kind of ['svg', 'pdf', 'png']) files[kind] = await bytes(kind);
  found.textContent = JSON.stringify({ files, link: document.getElementById('link').hash, titles:
    [...document.querySelectorAll('#figures text')].map(t => t.textContent), lines: chosen().series.all.map(l => l.name) });
  document.body.append(found);
})();
"""
CHOICE = "#metric=fct_p99_ps&against=size_bytes&lines=buffer_bytes&panels=variant&log=y"


def sweep_files(page):
    """What is wrong with the choice in an address and with the files of a sweep's figure."""
    text = page.read_text(encoding="utf-8")
    checked = page.with_name("checked.html")
    checked.write_text(text.replace("</body>", f"<script>{FILES}</script></body>"), encoding="utf-8")
    # pictures are decoded in real time, which may take longer than the page's own time on a busy machine
    for budget in (20_000, 200_000, 2_000_000, 20_000_000):
        with tempfile.TemporaryDirectory() as profile:
            command = [
                "chromium", "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}",
                f"--virtual-time-budget={budget}", "--dump-dom", checked.as_uri() + CHOICE,
            ]
            done = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST)
        match = re.search(r'<pre id="found">(.*?)</pre>', done.stdout, re.S)
        if match:
            break
    checked.unlink()
    if not match:
        return [f"the page made no files\n{done.stderr[-2000:]}"]
    found = json.loads(html.unescape(match[1]))
    files = {kind: bytes(values) for kind, values in found["files"].items()}
    wrong = []
    if found["link"] != CHOICE:
        wrong.append(f"the address {CHOICE} became {found['link']}")
    if found["lines"] != ["buffer 4 MB", "buffer 8 MB", "buffer 12 MB"]:
        wrong.append(f"the lines are {found['lines']}")
    for title in ("fct p99", "size", "PFC", "FlowSail"):
        if title not in found["titles"]:
            wrong.append(f"no title `{title}` among {found['titles']}")
    try:
        xml.dom.minidom.parseString(files["svg"])
    except xml.parsers.expat.ExpatError as error:
        wrong.append(f"the SVG is no XML: {error}")
    pdf = files["pdf"]
    table = int(re.search(rb"startxref\n(\d+)", pdf)[1])
    places = [int(m) for m in re.findall(rb"(\d{10}) 00000 n ", pdf[table:])]
    if not pdf.startswith(b"%PDF-1.4") or len(places) != 6 or any(
        not pdf[at:].startswith(b"%d 0 obj" % (i + 1)) for i, at in enumerate(places)
    ):
        wrong.append("the PDF's table of objects is wrong")
    if b"(fct p99) Tj" not in pdf:
        wrong.append("the PDF lacks the title of an axis")
    if not files["png"].startswith(b"\x89PNG\r\n") or len(files["png"]) < 10_000:
        wrong.append(f"the PNG is none: {len(files['png'])} bytes")
    return wrong


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
        done = subprocess.run([*command, outer.as_uri()], capture_output=True, text=True, timeout=LONGEST)
    checked.unlink()
    outer.unlink()
    match = re.search(r'<pre id="found">(.*?)</pre>', done.stdout, re.S)
    if not match or not match[1]:
        sys.exit(f"browser: {page}: the page reported nothing\n{done.stderr[-2000:]}")
    return json.loads(html.unescape(match[1]))


def main():
    directory, names = pathlib.Path(sys.argv[1]), sys.argv[2:]
    bad = filters = 0
    for why in sweep_files(directory / "sweep" / "index.html"):
        print(f"browser: sweep: {why}")
        bad += 1
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
