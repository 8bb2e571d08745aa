// Saves a figure as a file of its own, with the colours of the page as it looks now.
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-save]");
  if (!link) return;
  event.preventDefault();
  const svg = document.querySelector("#" + CSS.escape(link.dataset.save) + " svg").cloneNode(true);
  const root = getComputedStyle(document.documentElement);
  const names = ["bg", "fg", "soft", "grid", "hot", ...Array.from({ length: 12 }, (_, i) => "c" + i)];
  const colours = names.map((n) => "--" + n + ":" + root.getPropertyValue("--" + n)).join(";");
  if (svg.classList.contains("figure")) {
    const style = document.createElementNS("http://www.w3.org/2000/svg", "style");
    style.textContent = document.getElementById("figure-style").textContent +
      "\nsvg.figure{" + colours + ";background:var(--bg)}";
    svg.prepend(style);
  }
  const text = new XMLSerializer().serializeToString(svg);
  const file = document.createElement("a");
  file.href = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  file.download = link.dataset.save + ".svg";
  file.click();
  URL.revokeObjectURL(file.href);
});

// Shows only the lines of a pause tree that contain what was typed, with what they are part of and
// what they caused.
document.addEventListener("input", (event) => {
  const filter = event.target.closest(".filter input");
  if (!filter) return;
  const wanted = filter.value.trim().toLowerCase();
  const trees = filter.closest(".trees");
  const own = (li) => Array.from(li.childNodes, (n) => (n.nodeName === "UL" || n.nodeName === "DETAILS" ? "" : n.textContent)).join("");
  const visit = (li, above) => {
    const here = above || own(li).toLowerCase().includes(wanted);
    const below = Array.from(li.querySelectorAll(":scope > ul > li, :scope > details > ul > li"));
    const any = below.map((child) => visit(child, here && !li.classList.contains("fold"))).some(Boolean);
    const fold = li.querySelector(":scope > details");
    if (fold) fold.open = wanted !== "" && any;
    li.hidden = !(here || any);
    return here || any;
  };
  trees.querySelectorAll(":scope > ul.tree > li").forEach((li) => visit(li, wanted === ""));
});
