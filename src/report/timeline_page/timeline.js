// The streams of a rank as rows, kernels and pieces as bars. Text from the data is set as text, never as HTML.
(function () {
  'use strict';

  const byId = (id) => document.getElementById(id);
  const data = JSON.parse(byId('tutti-data').textContent);
  const SVG = 'http://www.w3.org/2000/svg';
  const streams = [['compute', (bar) => bar.computes], ['network', (bar) => bar.communicates]];
  const left = 74, right = 18, top = 22, row = 42, gap = 8;
  let zoom = 1;

  function make(name, attributes, ...inside) {
    const node = name.startsWith('svg:') ? document.createElementNS(SVG, name.slice(4)) : document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, String(value));
    node.append(...inside);
    return node;
  }

  const digits = (value) => (value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toPrecision(3));
  function time(us) {
    if (us >= 1e6) return `${digits(us / 1e6)} s`;
    if (us >= 1e3) return `${digits(us / 1e3)} ms`;
    return us === 0 ? '0' : `${digits(us)} µs`;
  }
  function bytes(count) {
    const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
    let unit = 0;
    while (count >= 1024 && unit < units.length - 1) { count /= 1024; unit += 1; }
    return `${unit === 0 ? count : count.toFixed(1)} ${units[unit]}`;
  }

  // A step of the time axis that is 1, 2 or 5 times a power of ten.
  function stepOf(span, most) {
    const least = span / most;
    const power = 10 ** Math.floor(Math.log10(least));
    return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= least);
  }

  // Kernels of one stream are told apart by their shade.
  const kernels = [...new Set(data.bars.map((bar) => bar.kernel))];
  const shadeOf = (bar) => [1, 0.74, 0.88, 0.62][kernels.indexOf(bar.kernel) % 4];

  const kindOf = (bar) => (bar.computes && bar.communicates ? 'both' : bar.computes ? 'computes' : 'communicates');

  function barNode(bar, x, y, width) {
    const title = [bar.kernel + (bar.piece >= 0 ? `, piece ${bar.piece}` : ''), `${time(bar.start_us)} to ${time(bar.end_us)}, ${time(bar.end_us - bar.start_us)}`,
      ...bar.calls.map((call) => data.collectives[call].words)].join('\n');
    const box = make('svg:rect', { x, y, width: Math.max(width, 0.75), height: row, rx: Math.min(3, width / 2), class: kindOf(bar), 'fill-opacity': shadeOf(bar), 'data-kernel': bar.kernel, 'data-piece': bar.piece }, make('svg:title', {}, title));
    const inside = [box];
    const fits = Math.floor((width - 8) / 7);
    const long = bar.piece >= 0 ? `${bar.kernel} ${bar.piece}` : bar.kernel;
    const label = bar.piece >= 0 && long.length > fits ? `${bar.piece}` : long;
    if (fits >= Math.min(label.length, 3)) {
      inside.push(make('svg:text', { x: x + 4, y: y + row / 2 + 4, class: 'label' }, label.length > fits ? `${label.slice(0, Math.max(1, fits - 1))}…` : label));
    }
    const page = bar.calls.map((call) => data.collectives[call].page).find(Boolean);
    return page ? make('svg:a', { href: page, 'aria-label': title }, ...inside) : make('svg:g', {}, ...inside);
  }

  function draw() {
    const svg = byId('streams');
    const width = Math.max(320, byId('scroll').clientWidth) * zoom;
    const height = top + streams.length * (row + gap);
    const span = Math.max(data.predicted_us, 1e-9);
    const at = (us) => left + (us / span) * (width - left - right);
    svg.setAttribute('width', width);
    svg.setAttribute('height', height);
    svg.setAttribute('aria-label', `${data.bars.length} bars on ${streams.length} streams, ${time(data.predicted_us)}`);
    const nodes = [];
    const step = stepOf(span, Math.max(2, (width - left) / 90));
    for (let tick = 0; tick <= span * 1.0000001; tick += step) {
      nodes.push(make('svg:line', { x1: at(tick), x2: at(tick), y1: top - 4, y2: height, class: 'tick' }), make('svg:text', { x: at(tick) + 2, y: 12, class: 'time' }, time(tick)));
    }
    streams.forEach(([name, holds], number) => {
      const y = top + number * (row + gap);
      nodes.push(make('svg:text', { x: 2, y: y + row / 2 + 4 }, name));
      for (const bar of data.bars.filter(holds)) nodes.push(barNode(bar, at(bar.start_us), y, at(bar.end_us) - at(bar.start_us)));
    });
    svg.replaceChildren(...nodes);
  }

  function table(id, heads, rows) {
    const cell = (kind, [content, style]) => make(kind, style ? { class: style } : {}, content);
    byId(id).replaceChildren(make('thead', {}, make('tr', {}, ...heads.map((head) => cell('th', head)))), make('tbody', {}, ...rows.map((cells) => make('tr', {}, ...cells.map((one) => cell('td', one))))));
  }

  function zoomTo(factor) {
    const scroll = byId('scroll');
    const middle = (scroll.scrollLeft + scroll.clientWidth / 2) / scroll.scrollWidth;
    zoom = Math.min(64, Math.max(1, factor));
    draw();
    scroll.scrollLeft = middle * scroll.scrollWidth - scroll.clientWidth / 2;
  }

  document.title = `${data.program} – tutti`;
  byId('title').textContent = data.program;
  byId('made').textContent = `${data.made.by} · ${data.made.at.replace('T', ' ').replace('Z', ' UTC')}`;
  byId('heading').textContent = `${time(data.predicted_us)} predicted`;
  const gain = data.unscheduled_us > 0 && data.predicted_us > 0 ? `, as written ${time(data.unscheduled_us)} (${(data.unscheduled_us / data.predicted_us).toFixed(2)} times as long)` : '';
  byId('sentence').textContent = `One step on ${data.ranks} ranks of ${data.device || 'the device'}${gain}; ${bytes(data.state_bytes)} of state per rank, ${bytes(data.wire_bytes)} on the wires, ${data.kernels} kernels.`;
  table('calls', [['collective'], ['bytes', 'number'], ['chunks', 'number'], ['makespan', 'number'], ['lower bound', 'number'], ['gap', 'number'], ['made by']],
    data.collectives.map((one) => [[one.page ? make('a', { href: one.page }, one.words) : one.words], [bytes(one.bytes), 'number'], [String(one.chunks), 'number'], [time(one.makespan / 1e6), 'number'],
      [time(one.lower_bound / 1e6), 'number'], [one.gap === null ? '–' : `${(100 * one.gap).toFixed(1)} %`, 'number'], [one.method]]));
  byId('steps').replaceChildren(...(data.steps.length > 0 ? data.steps.map((step) => make('li', {}, step)) : [make('li', {}, 'none: the program as written')]));
  byId('others').hidden = data.schedules.length < 2;
  table('schedules', [['predicted', 'number'], ['state', 'number'], ['kernels', 'number'], ['steps']],
    data.schedules.slice(1).map((one) => [[time(one.predicted_us), 'number'], [bytes(one.state_bytes), 'number'], [String(one.kernels), 'number'], [one.steps.join('; ') || 'as written', 'steps']]));
  byId('in').addEventListener('click', () => zoomTo(zoom * 2));
  byId('out').addEventListener('click', () => zoomTo(zoom / 2));
  byId('all').addEventListener('click', () => zoomTo(1));
  window.addEventListener('resize', draw);
  draw();
}());
