'use strict';
// Draws any metric against any parameter. Everything it shows is in DATA: for each variant, point
// and class, and each metric, the number of runs, their mean, and the sum of squares around it.
const $ = id => document.getElementById(id);
const T = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145, 2.131,
  2.12, 2.11, 2.101, 2.093, 2.086, 2.08, 2.074, 2.069, 2.064, 2.06, 2.056, 2.052, 2.048, 2.045, 2.042];
const student = n => n < 1 ? Infinity : n <= 30 ? T[n - 1] : 1.96 + 0.082 * 30 / n;
const DASHES = ['', '7 3', '2 3', '9 3 2 3', '4 2', '12 4', '1 4', '6 2 1 2 1 2'];
const esc = s => String(s).replace(/[&<>"]/g, c => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[c]);
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

// The series of one panel: name, and points [x, estimate] in the order of x.
function series(rows, x, by, metric, xs) {
  return by.values.map(name => {
    const own = by.at < 0 ? rows : rows.filter(r => r.k[by.at] === name);
    const points = xs.map(v => [v, pool(own.filter(r => r.k[x] === v).map(r => r.m[metric] || [0]))]);
    return { name, points: points.filter(p => p[1]) };
  });
}

// As wide as there is room for, so that letters have their size on any screen.
function size(panels) {
  const room = $('figures').clientWidth || 620;
  const columns = Math.min(panels, Math.max(1, Math.floor((room + 16) / 496)));
  const width = Math.max(300, Math.min(832, (room - 16 * (columns - 1)) / columns));
  return { W: Math.floor(width), H: Math.round(Math.max(250, Math.min(400, width * 0.53))) };
}

function panel(title, all, xs, numeric, scale, xName, yName) {
  const { W, H } = scale.size, L = 70, R = 10, B = 46, TOP = 30;
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
  let s = `<svg class="figure" viewBox="0 0 ${W} ${H}" style="max-width: ${W}px" role="img" aria-label="${esc(yName)} against ${esc(xName)}">`;
  s += `<text class="label" x="4" y="15">${esc(yName)}</text>`;
  s += `<text class="head end" x="${W - R}" y="15">${esc(title)}</text>`;
  for (const v of ticks(y0, y1, logY)) {
    s += `<line class="grid" x1="${L}" x2="${W - R}" y1="${py(v)}" y2="${py(v)}"/>`;
    s += `<text class="end label" x="${L - 6}" y="${py(v) + 4}">${show(v, yName)}</text>`;
  }
  const xt = numeric ? (xs.length <= 8 ? pos : ticks(x0, x1, logX)) : pos;
  let last = -1e9;
  for (const v of xt) {
    const label = numeric ? show(v, xName) : String(xs[v]);
    const short = label.length > 14 ? label.slice(0, 13) + '…' : label;
    if (px(v) - last < short.length * 6.6 + 6) continue;
    last = px(v);
    s += `<line class="axis" x1="${px(v)}" x2="${px(v)}" y1="${H - B}" y2="${H - B + 4}"/>`;
    s += `<text class="mid label" x="${px(v)}" y="${H - B + 17}">${esc(short)}</text>`;
  }
  s += `<line class="axis" x1="${L}" x2="${W - R}" y1="${H - B}" y2="${H - B}"/>`;
  s += `<text class="mid label" x="${(L + W) / 2}" y="${H - 8}">${esc(xName)}</text>`;
  all.forEach((one, i) => {
    // bars of several series at one place stand side by side
    const c = i % 12, spread = (i - (all.length - 1) / 2) * (numeric ? Math.min(4, 24 / all.length) : Math.min(10, 120 / all.length));
    const at = p => px(place(p[0])) + spread;
    if (numeric && one.points.length > 1) {
      const d = one.points.map((p, j) => (j ? 'L' : 'M') + at(p).toFixed(1) + ' ' + py(p[1].mean).toFixed(1)).join('');
      s += `<path class="s${c}" stroke-dasharray="${DASHES[i % DASHES.length]}" d="${d}"/>`;
    }
    for (const p of one.points) {
      const e = p[1], X = at(p);
      if (e.n > 1) {
        const a = py(e.low), b = py(e.high);
        s += `<path class="s${c}" d="M${X} ${a}V${b}M${X - 3} ${a}h6M${X - 3} ${b}h6"/>`;
      }
      s += `<circle class="f${c}" cx="${X}" cy="${py(e.mean)}" r="3.2"><title>${esc(one.name)}, ${esc(xName)} ${esc(p[0])}: ` +
        `${show(e.mean, yName)} (${show(e.low, yName)} to ${show(e.high, yName)}, ${e.n} runs)</title></circle>`;
    }
  });
  return s + '</svg>';
}

function draw() {
  const metric = DATA.metrics.indexOf($('metric').value), x = Number($('x').value), facet = Number($('facet').value);
  const yName = DATA.metrics[metric], xName = DATA.keys[x];
  let rows = DATA.rows.filter(r => r.c === $('class').value);
  DATA.keys.forEach((name, i) => {
    const box = $('filter-' + i);
    box.parentElement.hidden = i === x || i === facet || i === 0 || distinct(DATA.rows.map(r => r.k[i])).length < 2;
    if (!box.parentElement.hidden && box.value !== '') rows = rows.filter(r => r.k[i] === box.value);
  });
  let xs = distinct(rows.map(r => r.k[x]));
  const numeric = x > 0 && xs.every(v => Number.isFinite(number(v)));
  if (numeric) xs = xs.sort((a, b) => number(a) - number(b));
  const by = x === 0 || facet === 0 ? { at: -1, values: [yName] } : { at: 0, values: distinct(rows.map(r => r.k[0])) };
  const facets = facet < 0 ? [null] : distinct(rows.map(r => r.k[facet]));
  const panels = facets.map(f => {
    const own = f === null ? rows : rows.filter(r => r.k[facet] === f);
    return { title: f === null ? '' : `${DATA.keys[facet]} ${f}`, all: series(own, x, by, metric, xs) };
  });
  const values = panels.flatMap(p => p.all.flatMap(s => s.points.flatMap(q => [q[1].low, q[1].mean, q[1].high])));
  const positive = values.filter(v => v > 0);
  const logY = $('log-y').checked && positive.length > 0;
  let y1 = Math.max(...values, 0), y0 = logY ? Math.min(...positive) : Math.min(0, ...values);
  if (logY && y0 === y1) y0 = y1 / 10;
  if (!(y1 > y0)) y1 = y0 + 1;
  const steps = ticks(y0, y1, false), step = steps.length > 1 ? steps[1] - steps[0] : y1 - y0;
  const scale = { logX: $('log-x').checked, logY, y0: logY ? y0 / 1.15 : y0, size: size(panels.length),
    y1: logY ? y1 * 1.15 : Math.ceil(y1 / step - 1e-9) * step };
  $('figures').innerHTML = values.length === 0 ? '<p class="warn">No run has this figure.</p>'
    : panels.map(p => panel(p.title, p.all, xs, numeric, scale, xName, yName)).join('');
  $('legend').innerHTML = by.at < 0 ? '' : by.values.map((name, i) => `<span><svg width="34" height="12"><path class="s${i % 12}" ` +
    `fill="none" stroke-width="2" stroke-dasharray="${DASHES[i % DASHES.length]}" d="M0 6H34"/><circle class="f${i % 12}" cx="17" cy="6" r="3.2"/></svg> ${esc(name)}</span>`).join('');
  const only = DATA.keys.map((name, i) => [name, $('filter-' + i)]).filter(([, box]) => !box.parentElement.hidden && box.value !== '');
  const where = [$('class').value && `class ${$('class').value}`, ...only.map(([name, box]) => `${name} ${box.value}`)].filter(Boolean);
  $('doc').textContent = `${yName}${where.length ? ` (${where.join(', ')})` : ''}: ${DATA.docs[metric]}. ` +
    'Bars are 95 % confidence intervals of the mean over runs.';
  let t = `<table><thead><tr><th class="words">${facet < 0 ? '' : esc(DATA.keys[facet])}</th><th class="words">variant</th><th>${esc(xName)}</th>` +
    '<th>runs</th><th>mean</th><th>low</th><th>high</th></tr></thead><tbody>';
  panels.forEach(p => p.all.forEach(s => s.points.forEach(q => {
    t += `<tr><td class="words">${esc(p.title)}</td><td class="words">${esc(s.name)}</td><td>${esc(q[0])}</td><td>${q[1].n}</td>` +
      [q[1].mean, q[1].low, q[1].high].map(v => `<td>${show(v, yName)}</td>`).join('') + '</tr>';
  })));
  $('table').innerHTML = t + '</tbody></table>';
}

function begin() {
  const option = (value, text) => `<option value="${esc(value)}">${esc(text)}</option>`;
  $('metric').innerHTML = DATA.metrics.map(m => option(m, m)).join('');
  $('metric').value = DATA.first;
  $('class').innerHTML = distinct(DATA.rows.map(r => r.c)).map(c => option(c, c || 'all flows')).join('');
  const keys = DATA.keys.map((k, i) => option(i, k)).join('');
  $('x').innerHTML = keys;
  const varied = DATA.keys.map((_, i) => distinct(DATA.rows.map(r => r.k[i])).length);
  const best = varied.findIndex((n, i) => i > 0 && n > 1);
  $('x').value = best > 0 ? best : 0;
  $('facet').innerHTML = option(-1, 'none') + keys;
  $('filters').innerHTML = DATA.keys.map((k, i) => `<label>${esc(k)} <select id="filter-${i}"><option value="">all together</option>` +
    distinct(DATA.rows.map(r => r.k[i])).map(v => option(v, v)).join('') + '</select></label>').join('');
  document.querySelectorAll('select, input').forEach(e => e.addEventListener('change', draw));
  $('save').addEventListener('click', event => {
    event.preventDefault();
    const css = document.getElementById('figure-style').textContent + document.querySelector('style').textContent.split('}')[0] + '}';
    document.querySelectorAll('#figures svg').forEach((svg, i) => {
      const copy = svg.cloneNode(true);
      copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
      copy.insertAdjacentHTML('afterbegin', `<style>${css}</style>`);
      const a = document.createElement('a');
      a.href = URL.createObjectURL(new Blob([copy.outerHTML], { type: 'image/svg+xml' }));
      a.download = `${$('metric').value}${i ? '-' + i : ''}.svg`;
      a.click();
    });
  });
  draw();
  let width = innerWidth;
  addEventListener('resize', () => { if (innerWidth !== width) { width = innerWidth; draw(); } });
}
begin();
