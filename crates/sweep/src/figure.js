// A figure is a width, a height and a list of marks: lines, dots and texts. It becomes SVG on the page, and SVG, PDF
// or PNG in a file.
const FONT = 'Helvetica, Arial, sans-serif', LETTERS = 12;
const esc = s => String(s).replace(/[&<>"]/g, c => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[c]);
const ruler = document.createElement('canvas').getContext('2d');
function widthOf(text, bold) {
  ruler.font = `${bold ? 'bold ' : ''}${LETTERS}px ${FONT}`;
  return ruler.measureText(text).width;
}
// The text, cut so that it is not wider than `room`.
function fitted(text, room, bold) {
  if (widthOf(text, bold) <= room) return text;
  let cut = text;
  while (cut && widthOf(cut + '…', bold) > room) cut = cut.slice(0, -1);
  return cut + '…';
}

// Colours are names: `fg`, `soft`, `grid`, `c0` to `c11`. On the page they follow its theme; in files they are those of
// the light theme, which suits paper.
function svgOf(figure, inFile) {
  const colour = name => inFile ? DATA.colours[name] : `var(--${name})`;
  const n = v => String(Math.round(v * 100) / 100);
  const mark = {
    line: m => `<path d="${m.points.map((p, i) => (i ? 'L' : 'M') + n(p[0]) + ' ' + n(p[1])).join('')}" ` +
      `style="fill:none;stroke:${colour(m.colour)};stroke-width:${m.width || 1};stroke-linejoin:round"` +
      `${m.dash ? ` stroke-dasharray="${m.dash}"` : ''}/>`,
    dot: m => `<circle cx="${n(m.x)}" cy="${n(m.y)}" r="3.2" style="fill:${colour(m.colour)}">` +
      `${m.title ? `<title>${esc(m.title)}</title>` : ''}</circle>`,
    text: m => `<text x="${n(m.x)}" y="${n(m.y)}" style="fill:${colour(m.colour)}" text-anchor="${m.anchor || 'start'}"` +
      `${m.bold ? ' font-weight="bold"' : ''}${m.turned ? ` transform="rotate(-90 ${n(m.x)} ${n(m.y)})"` : ''}>${esc(m.text)}</text>`,
  };
  const head = inFile ? `xmlns="http://www.w3.org/2000/svg" width="${figure.width}" height="${figure.height}"`
    : `class="figure" style="max-width:${figure.width}px" role="img" aria-label="${esc(figure.about)}"`;
  const paper = inFile ? `<rect width="100%" height="100%" fill="${DATA.colours.bg}"/>` : '';
  return `<svg ${head} viewBox="0 0 ${figure.width} ${figure.height}" font-family="${FONT}" font-size="${LETTERS}">${paper}` +
    figure.marks.map(m => mark[m.kind](m)).join('') + '</svg>';
}

// A page of PDF 1.4 of the size of the figure, at 96 pixels per inch, with vectors and the reader's own Helvetica.
function pdfOf(figure) {
  const n = v => String(Math.round(v * 1000) / 1000);
  const rgb = name => [1, 3, 5].map(i => n(parseInt(DATA.colours[name].slice(i, i + 2), 16) / 255)).join(' ');
  const y = v => n(figure.height - v), k = 3.2 * 0.5523;
  const mark = {
    line: m => `${rgb(m.colour)} RG ${n(m.width || 1)} w [${m.dash || ''}] 0 d ` +
      m.points.map((p, i) => `${n(p[0])} ${y(p[1])} ${i ? 'l' : 'm'}`).join(' ') + ' S',
    dot: m => {
      const at = (dx, dy) => `${n(m.x + dx)} ${y(m.y + dy)}`, r = 3.2;
      return `${rgb(m.colour)} rg ${at(r, 0)} m ${at(r, k)} ${at(k, r)} ${at(0, r)} c ${at(-k, r)} ${at(-r, k)} ${at(-r, 0)} c ` +
        `${at(-r, -k)} ${at(-k, -r)} ${at(0, -r)} c ${at(k, -r)} ${at(r, -k)} ${at(r, 0)} c f`;
    },
    text: m => {
      const back = { end: 1, middle: 0.5 }[m.anchor] || 0, shift = back * widthOf(m.text, m.bold);
      const [x0, y0] = m.turned ? [m.x, m.y + shift] : [m.x - shift, m.y];
      const turn = m.turned ? '0 1 -1 0' : '1 0 0 1';
      return `BT ${rgb(m.colour)} rg /F${m.bold ? 2 : 1} ${LETTERS} Tf ${turn} ${n(x0)} ${y(y0)} Tm (${latin(m.text)}) Tj ET`;
    },
  };
  const content = '0.75 0 0 0.75 0 0 cm 1 j\n' + figure.marks.map(m => mark[m.kind](m)).join('\n');
  const font = name => `<< /Type /Font /Subtype /Type1 /BaseFont /${name} /Encoding /WinAnsiEncoding >>`;
  const objects = ['<< /Type /Catalog /Pages 2 0 R >>', '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${n(figure.width * 0.75)} ${n(figure.height * 0.75)}] /Contents 4 0 R ` +
      '/Resources << /Font << /F1 5 0 R /F2 6 0 R >> >> >>',
    `<< /Length ${content.length} >>\nstream\n${content}\nendstream`, font('Helvetica'), font('Helvetica-Bold')];
  let file = '%PDF-1.4\n%\xe2\xe3\xcf\xd3\n';
  const places = objects.map((object, i) => {
    const at = file.length;
    file += `${i + 1} 0 obj\n${object}\nendobj\n`;
    return at;
  });
  const start = file.length;
  file += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n` +
    places.map(at => String(at).padStart(10, '0') + ' 00000 n \n').join('') +
    `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${start}\n%%EOF\n`;
  return Uint8Array.from(file, c => c.charCodeAt(0));
}

// A string of WinAnsiEncoding, which has the letters of western Europe; others become question marks.
function latin(text) {
  const more = { '…': '\x85', '‘': '\x91', '’': '\x92', '“': '\x93', '”': '\x94', '–': '\x96', '—': '\x97', '€': '\x80' };
  return [...text].map(c => more[c] || (c >= ' ' && c <= '~' || c >= '\xa0' && c <= '\xff' ? c : '?')).join('')
    .replace(/[\\()]/g, c => '\\' + c);
}

// Three pixels for each of the figure.
function pngOf(figure) {
  return new Promise((done, fail) => {
    const image = new Image(), canvas = document.createElement('canvas');
    [canvas.width, canvas.height] = [figure.width * 3, figure.height * 3];
    image.onerror = () => fail(new Error('the browser cannot draw the figure'));
    image.onload = () => {
      canvas.getContext('2d').drawImage(image, 0, 0, canvas.width, canvas.height);
      canvas.toBlob(blob => blob ? done(blob) : fail(new Error('the figure is too large for a picture')));
    };
    image.src = 'data:image/svg+xml;charset=utf-8,' + encodeURIComponent(svgOf(figure, true));
  });
}

async function fileOf(figure, kind) {
  if (kind === 'pdf') return new Blob([pdfOf(figure)], { type: 'application/pdf' });
  if (kind === 'png') return pngOf(figure);
  return new Blob([svgOf(figure, true)], { type: 'image/svg+xml' });
}
