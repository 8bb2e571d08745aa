// Saves a figure as a file of its own, with the colours of the page as it looks now.
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-save]");
  if (!link) return;
  event.preventDefault();
  const svg = document.querySelector("#" + CSS.escape(link.dataset.save) + " svg").cloneNode(true);
  const root = getComputedStyle(document.documentElement);
  const names = ["bg", "fg", "soft", "line", "hot", ...Array.from({ length: 12 }, (_, i) => "c" + i)];
  const colours = names.map((n) => "--" + n + ":" + root.getPropertyValue("--" + n)).join(";");
  if (svg.classList.contains("figure")) {
    const style = document.createElementNS("http://www.w3.org/2000/svg", "style");
    style.textContent = "svg.figure{" + colours + ";background:var(--bg)}\n" + document.getElementById("figure-style").textContent;
    svg.prepend(style);
  }
  const text = new XMLSerializer().serializeToString(svg);
  const file = document.createElement("a");
  file.href = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  file.download = link.dataset.save + ".svg";
  file.click();
  URL.revokeObjectURL(file.href);
});
