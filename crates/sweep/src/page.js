// Draws any metric against any parameter. Everything it shows is in DATA: for each variant, point
// and class, and each metric, the number of runs, their mean, and the sum of squares around it.
const $ = id => document.getElementById(id);
const T = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145, 2.131,
  2.12, 2.11, 2.101, 2.093, 2.086, 2.08, 2.074, 2.069, 2.064, 2.06, 2.056, 2.052, 2.048, 2.045, 2.042];
const student = n => n < 1 ? Infinity : n <= 30 ? T[n - 1] : 1.96 + 0.082 * 30 / n;
const DASHES = ['', '7 3', '2 3', '9 3 2 3', '4 2', '12 4', '1 4', '6 2 1 2 1 2'];
// A parameter with more values than this has no line or panel for each of them unless it is asked for.
const FEW = 8;
const distinct = list => [...new Set(list)];
const number = v => v === '' ? NaN : Number(v);

// Numbers with the unit their column's name ends in.
function show(v, name) {
  if (v === 0) return '0';
  const scaled = (v, steps) => {
    const step = steps.find(s => Math.abs(v) >= s[0]) || steps[steps.length - 1];
    return plain(v / step[0]) + ' ' + step[1];
  };
  if (/_ps$/.test(name)) return scaled(v, [[1e12, 's'], [1e9, 'ms'], [1e6, 'us'], [1e3, 'ns'], [1, 'ps']]);
  if (/_bytes$/.test(name)) return scaled(v, [[1e9, 'GB'], [1e6, 'MB'], [1e3, 'KB'], [1, 'B']]);
  if (/_bps$/.test(name)) return scaled(v, [[1e9, 'Gb/s'], [1e6, 'Mb/s'], [1e3, 'kb/s'], [1, 'b/s']]);
  return plain(v);
}
function plain(v) {
  const a = Math.abs(v);
  if (a >= 1e6 || (a < 1e-3 && a > 0)) return v.toExponential(2).replace(/\.?0+e/, 'e');
  return String(Number(v.toPrecision(4)));
}

// Runs of several cells together: means and squares add up.
function pool(cells) {
  let n = 0, mean = 0, squares = 0;
  for (const [m, mu, sq] of cells) {
    if (!m) continue;
    const d = mu - mean, all = n + m;
    squares += sq + d * d * n * m / all;
    mean += d * m / all;
    n = all;
  }
  if (!n) return null;
  const half = n > 1 ? student(n - 1) * Math.sqrt(squares / (n - 1) / n) : 0;
  return { n, mean, low: mean - half, high: mean + half };
}

function ticks(low, high, log) {
  const out = [];
  if (log) {
    for (let e = Math.floor(Math.log10(low)); e <= Math.ceil(Math.log10(high)); e++) {
      const wide = Math.log10(high / low) > 2.5;
      for (const f of wide ? [1] : [1, 2, 5]) {
        const v = f * 10 ** e;
        if (v >= low * 0.999 && v <= high * 1.001) out.push(v);
      }
    }
    if (out.length > 1) return out;
    out.length = 0;
  }
  const raw = (high - low) / 5, unit = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].map(f => f * unit).find(s => s >= raw);
  for (let v = Math.ceil(low / step) * step; v <= high + step / 1e6; v += step) out.push(Math.abs(v) < step / 1e6 ? 0 : v);
  return out;
}

// A column's name in words; its unit stands beside the numbers.
const label = name => name.replace(/_(ps|bytes|bps)$/, '').replaceAll('_', ' ');
// A value of a parameter: a number with its unit, or text.
const valueOf = (v, key) => Number.isFinite(number(v)) ? show(number(v), key) : v;
// The values of a parameter, numbers by their size.
function valuesOf(rows, key) {
  const all = distinct(rows.map(r => r.k[key]));
  return all.every(v => Number.isFinite(number(v))) ? all.sort((a, b) => number(a) - number(b)) : all;
}

// The lines of all panels: one for each variant, or for each variant and value of another parameter. With both,
// the colour tells the variant and the dashes tell the value.
function linesOf(rows, choice) {
  const { x, facet, lines, yName } = choice;
  const variants = x === 0 || facet === 0 ? [null] : valuesOf(rows, 0);
  const values = lines < 1 || lines === x || lines === facet ? [null] : valuesOf(rows, lines);
  const all = variants.flatMap((variant, i) => values.map((value, j) => ({
    name: [variant, value !== null && `${label(DATA.keys[lines])} ${valueOf(value, DATA.keys[lines])}`]
      .filter(Boolean).join(', ') || label(yName),
    colour: 'c' + (variants.length > 1 ? i : j) % 12,
    dash: DASHES[(values.length > 1 ? j : i) % DASHES.length],
    has: r => (variant === null || r.k[0] === variant) && (value === null || r.k[lines] === value),
  })));
  return { all: all.filter(line => rows.some(line.has)), named: variants[0] !== null || values[0] !== null };
}

// Adds the points [x, estimate] of one panel to the lines.
function pointsOf(rows, choice, xs) {
  return choice.series.all.map(line => {
    const own = rows.filter(line.has);
    const points = xs.map(v => [v, pool(own.filter(r => r.k[choice.x] === v).map(r => r.m[choice.metric] || [0]))]);
    return { ...line, points: points.filter(p => p[1]) };
  });
}

// As wide as there is room for, so that letters have their size on any screen.
function size(panels) {
  const room = $('figures').clientWidth || 620;
  const columns = Math.min(panels, Math.max(1, Math.floor((room + 16) / 496)));
  const width = Math.max(300, Math.min(832, (room - 16 * (columns - 1)) / columns));
  return { W: Math.floor(width), H: Math.round(Math.max(250, Math.min(400, width * 0.53))) };
}

// The marks of one panel whose upper left corner is at (0, 0).
function panel({ title, lines }, { xs, numeric, scale, xName, yName, yTitle }, { W, H }) {
  const widest = Math.max(...ticks(scale.y0, scale.y1, scale.logY).map(v => widthOf(show(v, yName))));
  const L = Math.ceil(34 + widest), R = 10, B = 48, TOP = 24, marks = [];
  const line = (points, colour, more) => marks.push({ kind: 'line', points, colour, ...more });
  const text = (x, y, text, more) => marks.push({ kind: 'text', x, y, text, colour: 'soft', ...more });
  const place = numeric ? number : v => xs.indexOf(v);
  const pos = xs.map(place);
  let [x0, x1] = [Math.min(...pos), Math.max(...pos)];
  const logX = scale.logX && numeric && x0 > 0;
  if (x0 === x1) { x0 -= numeric ? Math.abs(x0) / 2 || 1 : 1; x1 += numeric ? Math.abs(x1) / 2 || 1 : 1; }
  if (!numeric) { x0 -= 0.4; x1 += 0.4; }
  const fx = v => logX ? Math.log(v) : v;
  const px = v => L + (fx(v) - fx(x0)) / (fx(x1) - fx(x0)) * (W - L - R - 48) + 24;
  const { y0, y1, logY } = scale;
  const fy = v => logY ? Math.log(Math.max(v, y0)) : v;
  const py = v => TOP + (fy(y1) - fy(Math.min(Math.max(v, y0), y1))) / (fy(y1) - fy(y0)) * (H - TOP - B);
  text(14, TOP + (H - TOP - B) / 2, fitted(yTitle, H - TOP - B), { anchor: 'middle', turned: true, colour: 'fg' });
  text((L + W - R) / 2, 14, fitted(title, W - L, true), { anchor: 'middle', bold: true, colour: 'fg' });
  for (const v of ticks(y0, y1, logY)) {
    line([[L, py(v)], [W - R, py(v)]], 'grid');
    text(L - 6, py(v) + 4, show(v, yName), { anchor: 'end' });
  }
  const xt = numeric ? (xs.length <= 8 ? pos : ticks(x0, x1, logX)) : pos;
  let last = -1e9;
  for (const v of xt) {
    const short = fitted(numeric ? show(v, xName) : String(xs[v]), 90), half = widthOf(short) / 2;
    if (px(v) - half < last + 6) continue;
    last = px(v) + half;
    line([[px(v), H - B], [px(v), H - B + 4]], 'soft');
    text(px(v), H - B + 17, short, { anchor: 'middle' });
  }
  line([[L, H - B], [W - R, H - B]], 'soft');
  text((L + W - R) / 2, H - 8, fitted(label(xName), W - L), { anchor: 'middle', colour: 'fg' });
  lines.forEach((one, i) => {
    // bars of several lines at one place stand side by side
    const spread = (i - (lines.length - 1) / 2) * (numeric ? Math.min(4, 24 / lines.length) : Math.min(10, 120 / lines.length));
    const at = p => px(place(p[0])) + spread;
    if (numeric && one.points.length > 1) line(one.points.map(p => [at(p), py(p[1].mean)]), one.colour, { dash: one.dash, width: 1.7 });
    for (const p of one.points) {
      const e = p[1], X = at(p), a = py(e.low), b = py(e.high);
      if (e.n > 1) for (const bar of [[[X, a], [X, b]], [[X - 3, a], [X + 3, a]], [[X - 3, b], [X + 3, b]]]) line(bar, one.colour, { width: 1.7 });
      marks.push({ kind: 'dot', x: X, y: py(e.mean), colour: one.colour, title: `${one.name}, ${label(xName)} ${valueOf(p[0], xName)}: ` +
        `${show(e.mean, yName)} (${show(e.low, yName)} to ${show(e.high, yName)}, ${e.n} runs)` });
    }
  });
  return { width: W, height: H, marks, about: `${yTitle} against ${label(xName)}` };
}

// One figure of all panels, in two columns, below the names of the lines: for files.
function whole(choice) {
  const columns = Math.min(2, choice.panels.length), W = 560, H = 320, marks = [];
  const move = (m, dx, dy) => m.kind === 'line' ? { ...m, points: m.points.map(p => [p[0] + dx, p[1] + dy]) }
    : { ...m, x: m.x + dx, y: m.y + dy };
  let x = 10, y = 6;
  for (const one of choice.series.named ? choice.series.all : []) {
    const name = fitted(one.name, columns * W - 70), wide = 58 + widthOf(name);
    if (x > 10 && x + wide > columns * W) { x = 10; y += 20; }
    marks.push({ kind: 'line', points: [[x, y + 8], [x + 34, y + 8]], colour: one.colour, dash: one.dash, width: 2 },
      { kind: 'dot', x: x + 17, y: y + 8, colour: one.colour }, { kind: 'text', x: x + 40, y: y + 12, text: name, colour: 'fg' });
    x += wide;
  }
  const top = choice.series.named ? y + 26 : 0;
  choice.panels.forEach((p, i) => {
    const [dx, dy] = [i % columns * W, top + Math.floor(i / columns) * (H + 10)];
    marks.push(...panel(p, choice, { W, H }).marks.map(m => move(m, dx, dy)));
  });
  const rows = Math.ceil(choice.panels.length / columns);
  return { width: columns * W, height: top + rows * (H + 10) - 10, marks, about: '' };
}

// What is chosen on the page, and what follows from it.
function chosen() {
  const choice = { metric: DATA.metrics.indexOf($('metric').value), x: Number($('x').value),
    facet: Number($('facet').value), lines: Number($('lines').value) };
  const { x, facet, lines } = choice;
  choice.yName = DATA.metrics[choice.metric];
  choice.xName = DATA.keys[x];
  choice.filters = DATA.keys.map((name, i) => ({ name, i, box: $('filter-' + i) })).filter(({ i, box }) => {
    const used = i === x || i === facet || i === lines || i === 0 || distinct(DATA.rows.map(r => r.k[i])).length < 2;
    box.parentElement.hidden = used;
    return !used && box.value !== '';
  });
  choice.rows = DATA.rows.filter(r => r.c === $('class').value && choice.filters.every(({ i, box }) => r.k[i] === box.value));
  choice.xs = valuesOf(choice.rows, x);
  choice.numeric = x > 0 && choice.xs.every(v => Number.isFinite(number(v)));
  choice.series = linesOf(choice.rows, choice);
  choice.yTitle = label(choice.yName) + ($('class').value && ` of ${$('class').value}`);
  const facets = facet < 0 ? [null] : valuesOf(choice.rows, facet);
  choice.panels = facets.map(f => {
    const own = f === null ? choice.rows : choice.rows.filter(r => r.k[facet] === f);
    const title = f === null ? '' : facet === 0 ? f : `${label(DATA.keys[facet])} ${valueOf(f, DATA.keys[facet])}`;
    return { title, lines: pointsOf(own, choice, choice.xs) };
  });
  const values = choice.panels.flatMap(p => p.lines.flatMap(s => s.points.flatMap(q => [q[1].low, q[1].mean, q[1].high])));
  choice.empty = values.length === 0;
  const positive = values.filter(v => v > 0);
  const logY = $('log-y').checked && positive.length > 0;
  let y1 = Math.max(...values, 0), y0 = logY ? Math.min(...positive) : Math.min(0, ...values);
  if (logY && y0 === y1) y0 = y1 / 10;
  if (!(y1 > y0)) y1 = y0 + 1;
  const steps = ticks(y0, y1, false), step = steps.length > 1 ? steps[1] - steps[0] : y1 - y0;
  choice.scale = { logX: $('log-x').checked, logY, y0: logY ? y0 / 1.15 : y0,
    y1: logY ? y1 * 1.15 : Math.ceil(y1 / step - 1e-9) * step };
  return choice;
}

function draw() {
  const choice = chosen(), { yName, xName, facet } = choice;
  $('figures').innerHTML = choice.empty ? '<p class="warn">No run has this figure.</p>'
    : choice.panels.map(p => svgOf(panel(p, choice, size(choice.panels.length)), false)).join('');
  const key = one => svgOf({ width: 34, height: 12, about: '', marks: [
    { kind: 'line', points: [[0, 6], [34, 6]], colour: one.colour, dash: one.dash, width: 2 },
    { kind: 'dot', x: 17, y: 6, colour: one.colour }] }, false);
  $('legend').innerHTML = choice.series.named ? choice.series.all.map(one => `<span>${key(one)} ${esc(one.name)}</span>`).join('') : '';
  const where = [$('class').value && `class ${$('class').value}`,
    ...choice.filters.map(({ name, box }) => `${label(name)} ${valueOf(box.value, name)}`)].filter(Boolean);
  const pooled = DATA.keys.filter((_, i) => !$('filter-' + i).parentElement.hidden && $('filter-' + i).value === '').map(label);
  $('doc').textContent = `${yName}${where.length ? ` (${where.join(', ')})` : ''}: ${DATA.docs[choice.metric]}. ` +
    'Bars are 95 % confidence intervals of the mean over runs' +
    `${pooled.length ? `; runs with different ${pooled.join(', ')} are taken together` : ''}.`;
  let t = `<table><thead><tr><th class="words">${facet < 0 ? '' : esc(label(DATA.keys[facet]))}</th><th class="words">line</th>` +
    `<th>${esc(label(xName))}</th><th>runs</th><th>mean</th><th>low</th><th>high</th></tr></thead><tbody>`;
  choice.panels.forEach(p => p.lines.forEach(s => s.points.forEach(q => {
    t += `<tr><td class="words">${esc(p.title)}</td><td class="words">${esc(s.name)}</td><td>${esc(valueOf(q[0], xName))}</td><td>${q[1].n}</td>` +
      [q[1].mean, q[1].low, q[1].high].map(v => `<td>${show(v, yName)}</td>`).join('') + '</tr>';
  })));
  $('table').innerHTML = t + '</tbody></table>';
  $('link').href = '#' + address();
}

// The choice as the fragment of an address, by names, so that it outlives a plan that grows.
function address() {
  const words = new URLSearchParams(), key = id => DATA.keys[Number($(id).value)] || 'none';
  words.set('metric', $('metric').value);
  if ($('class').value) words.set('of', $('class').value);
  words.set('against', key('x'));
  words.set('lines', key('lines'));
  words.set('panels', key('facet'));
  const log = ['x', 'y'].filter(axis => $('log-' + axis).checked).join('');
  if (log) words.set('log', log);
  DATA.keys.forEach((name, i) => {
    const box = $('filter-' + i);
    if (!box.parentElement.hidden) words.set('only.' + name, box.value);
  });
  return words.toString();
}

// Chooses what an address says; what it does not say, or what this page does not have, stays.
function follow(fragment) {
  const words = new URLSearchParams(fragment.replace(/^#/, ''));
  const choose = (id, value) => {
    if (value !== null && [...$(id).options].some(o => o.value === value)) $(id).value = value;
  };
  const key = name => name === null ? null : String(name === 'none' ? -1 : DATA.keys.indexOf(name));
  choose('metric', words.get('metric'));
  if (words.has('metric')) choose('class', words.get('of') || '');
  choose('x', key(words.get('against')));
  choose('lines', key(words.get('lines')));
  choose('facet', key(words.get('panels')));
  if (words.has('metric')) for (const axis of 'xy') $('log-' + axis).checked = (words.get('log') || '').includes(axis);
  DATA.keys.forEach((name, i) => choose('filter-' + i, words.get('only.' + name)));
}

// What is chosen first: the first parameter that varies is the axis, the second has a line and the third a panel for
// each value, and the others are held at their first value, so that nothing is averaged over unasked.
function beginWith(values) {
  const varied = values.map((all, i) => [i, all.length]).filter(([i, n]) => i > 0 && n > 1);
  const few = varied.slice(1).filter(([, n]) => n <= FEW).map(([i]) => i);
  $('x').value = varied.length ? varied[0][0] : 0;
  $('lines').value = few.length > 0 ? few[0] : -1;
  $('facet').value = few.length > 1 ? few[1] : -1;
  few.slice(2).forEach(i => { $('filter-' + i).value = values[i][0]; });
}

async function save(kind) {
  const a = document.createElement('a');
  a.href = URL.createObjectURL(await fileOf(whole(chosen()), kind));
  a.download = `${$('metric').value}.${kind}`;
  a.click();
}

function begin() {
  const option = (value, text) => `<option value="${esc(value)}">${esc(text)}</option>`;
  $('metric').innerHTML = DATA.metrics.map(m => option(m, m)).join('');
  $('metric').value = DATA.first;
  $('class').innerHTML = distinct(DATA.rows.map(r => r.c)).map(c => option(c, c || 'all flows')).join('');
  const keys = DATA.keys.map((k, i) => option(i, label(k)));
  $('x').innerHTML = keys.join('');
  $('lines').innerHTML = option(-1, 'variant') + keys.map((o, i) => i === 0 ? '' : o.replace('>', '>variant and ')).join('');
  $('facet').innerHTML = option(-1, 'none') + keys.join('');
  const values = DATA.keys.map((_, i) => valuesOf(DATA.rows, i));
  $('filters').innerHTML = DATA.keys.map((k, i) => `<label>${esc(label(k))} <select id="filter-${i}"><option value="">all together</option>` +
    values[i].map(v => option(v, valueOf(v, k))).join('') + '</select></label>').join('');
  beginWith(values);
  follow(location.hash);
  document.querySelectorAll('select, input').forEach(e => e.addEventListener('change', () => {
    draw();
    history.replaceState(null, '', '#' + address());
  }));
  addEventListener('hashchange', () => { follow(location.hash); draw(); });
  document.querySelectorAll('a[data-save]').forEach(a => a.addEventListener('click', event => {
    event.preventDefault();
    save(a.dataset.save).catch(error => { $('doc').textContent = error.message; });
  }));
  draw();
  let width = innerWidth;
  addEventListener('resize', () => { if (innerWidth !== width) { width = innerWidth; draw(); } });
}
begin();
