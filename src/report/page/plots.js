// The plots of a run: gap and time over size, methods against each other (or how gaps are spread), bandwidth over message size.
// Colour, mark and dash are by place in the list of all methods (or instances), so that a filter does not change them.
(function (T) {
  'use strict';

  const el = (...parts) => T.dom.el(...parts);
  const manyPoints = 1500; // from here on canvas, which draws them faster than SVG

  // text: of an axis, rounded; exact: of a tooltip.
  const sizes = {
    npus: { title: 'NPUs', base: 2, text: (value) => T.format.short(value, 4), exact: (value) => T.format.counted(value, 'NPU') },
    chunks: { title: 'chunks', base: 10, text: (value) => T.format.count(Number(T.format.short(value, 4))), exact: (value) => T.format.counted(value, 'chunk') },
    bytes: { title: 'bytes of a call', base: 2, text: (value) => T.format.bytes(value, 3), exact: (value) => exactBytes(value) },
  };

  // "1.5 KiB (1 536 bytes)".
  const exactBytes = (value) => (value < 1024 ? T.format.counted(value, 'byte') : `${T.format.bytes(value)} (${T.format.counted(value, 'byte')})`);

  const plain = (row) => !T.data.failed(row);

  // One scatter series per method: points are [x, y, key], named by label and variant.
  function scatter(rows, methods, x, y) {
    return methods.map((method, i) => ({
      type: 'scatter',
      name: method,
      symbol: T.charts.symbol(i),
      symbolSize: Math.max(5, 11 - 3 * i), // those drawn later do not hide those drawn sooner
      itemStyle: { color: T.colours.group(i), opacity: 0.75, borderColor: T.dom.theme().panel, borderWidth: 0.5 },
      data: rows.filter((row) => T.data.asked(row) === method && plain(row) && row[x] > 0 && T.format.known(y(row)))
        .map((row) => ({ name: T.data.named(row, ['method']), value: [row[x], y(row), T.data.keyOf(row)] })),
    }));
  }

  const sizeAxis = (size) => T.charts.axis({ type: 'log', logBase: sizes[size].base, name: sizes[size].title, nameGap: 26,
    axisLabel: { color: T.dom.theme().muted, fontSize: 11, hideOverlap: true, formatter: sizes[size].text } });

  function pointOption(state, size, y, yAxis, yText) {
    const series = scatter(state.rows, state.methods, size, y);
    return {
      ...T.charts.look(),
      title: T.charts.empty(series.every(({ data }) => data.length === 0), 'No result to draw'),
      grid: { left: 58, right: 16, top: state.methods.length > 1 ? 34 : 12, bottom: 44 },
      legend: T.charts.legend({ show: state.methods.length > 1, itemWidth: 10, itemHeight: 10 }),
      tooltip: T.charts.tooltip((p) => [p.name, `${p.seriesName} · ${sizes[size].exact(p.value[0])}`, yText(p.value[1])]),
      xAxis: sizeAxis(size),
      yAxis,
      series,
    };
  }

  const gapOption = (state) => pointOption(state, state.gapSize, (row) => (T.format.known(row.gap) ? 100 * row.gap : null),
    T.charts.axis({ type: 'value', min: 0, name: 'gap in %', nameGap: 40 }), (value) => `gap ${T.format.gap(value / 100)}`);

  const secondsOption = (state) => pointOption(state, state.secondsSize, (row) => (T.format.known(row.seconds) ? Math.max(row.seconds, 1e-3) : null),
    T.charts.axis({ type: 'log', name: 'seconds', nameGap: 44, axisLabel: { color: T.dom.theme().muted, fontSize: 11, formatter: (v) => T.format.short(v, 3) } }),
    (value) => `${T.format.seconds(value)} s`);

  // Tenths, so that no label of the axis is another one rounded; and some width where all methods tie.
  const profileEnd = (most) => (most > 3 ? most : Math.max(1.1, Math.ceil(10 * most) / 10));

  function profileOption(state) {
    const { tasks, instances, most, curves } = T.profile.profile(state.rows, state.measure);
    const far = profileEnd(most);
    return {
      ...T.charts.look(),
      title: T.charts.empty(instances === 0, 'No instance was solved by one of several methods'),
      grid: { left: 58, right: 16, top: 34, bottom: 44 },
      legend: T.charts.legend(),
      xAxis: T.charts.axis({ type: most > 3 ? 'log' : 'value', logBase: most > 100 ? 10 : 2, min: 1, max: far, name: 'factor of the best', nameGap: 26, axisPointer: { show: true, label: { show: false } },
        axisLabel: { color: T.dom.theme().muted, fontSize: 11, hideOverlap: true, formatter: (v) => T.format.short(v, 3) } }),
      yAxis: T.charts.axis({ type: 'value', min: 0, max: 1, name: `share of ${T.format.counted(instances, 'instance')}${instances < tasks ? ` (of ${T.format.count(tasks)})` : ''}`, nameGap: 40,
        axisLabel: { color: T.dom.theme().muted, fontSize: 11, formatter: (v) => `${Math.round(100 * v)} %` } }),
      series: (instances === 0 ? [] : curves).map(({ method, points }) => profileLine(method, points, far, state.methods.indexOf(method))),
    };
  }

  const profileLine = (method, points, far, index) => ({ type: 'line', step: 'end', name: method, symbol: T.charts.symbol(index), symbolSize: 5, showSymbol: points.length < 60,
    color: T.colours.group(index), lineStyle: { width: 2, type: T.charts.dash(index) }, data: far > points.at(-1)[0] ? [...points, [far, points.at(-1)[1]]] : points });

  // Every curve where the pointer is, not only those with a step there, which are all that the tooltip of a chart knows of.
  function profileTip(chart, x) {
    const { series, legend } = chart.getOption();
    return [`within ${T.format.short(x, 4)} times the best`, ...series.filter(({ name }) => legend[0].selected[name] !== false)
      .map(({ name, data }) => `${name}: ${T.format.gap(T.profile.shareAt(data, x))}`)];
  }

  function spreadOption(state) {
    const { names, counts } = T.profile.gapBins(state.rows);
    return {
      ...T.charts.look(),
      grid: { left: 48, right: 16, top: 20, bottom: 44 },
      tooltip: T.charts.tooltip((p) => [`gap ${p.name} %`, T.format.counted(p.value, 'result')]),
      xAxis: T.charts.axis({ type: 'category', data: names, name: 'gap in %', nameGap: 26, axisLabel: { color: T.dom.theme().muted, fontSize: 11, interval: 0 } }),
      yAxis: T.charts.axis({ type: 'value', minInterval: 1, name: 'results', nameGap: 34 }),
      series: [{ type: 'bar', data: counts, color: T.colours.group(0), label: { show: true, position: 'top', color: T.dom.theme().text, formatter: (p) => (p.value > 0 ? String(p.value) : '') } }],
    };
  }

  function sweepOption(state) {
    return {
      ...T.charts.look(),
      grid: { left: 58, right: 16, top: 34, bottom: 44 },
      legend: T.charts.legend({ itemWidth: 30 }), // room for a dash beside the mark
      tooltip: T.charts.tooltip((p) => [p.seriesName, exactBytes(p.value[0]), `busbw ${T.format.bandwidth(p.value[1])} GB/s`]),
      xAxis: sizeAxis('bytes'),
      yAxis: T.charts.axis({ type: 'value', min: 0, name: 'busbw in GB/s', nameGap: 40 }),
      series: T.profile.sweeps(state.rows, state.sweepChunks).lines.map((line) => sweepLine(line, sweepColour(line, state), state.methods.indexOf(line.method), state.methods.length > 1)),
    };
  }

  // Which colour a line has: by its instance, and where several numbers of chunks are drawn by that too.
  const sweepId = ({ label, chunks }) => JSON.stringify([label, chunks]);
  const sweepColour = (line, state) => (state.sweepChunks === 'best' ? state.labels.indexOf(line.label) : state.swept.indexOf(sweepId(line)));

  // Colour by instance and number of chunks, mark and dash by method. Equal lines are all seen: the first method's is a broad band below the others, and its marks are larger.
  function sweepLine({ label, method, chunks, points }, instance, index, several) {
    const colour = T.colours.group(instance);
    const again = instance >= T.colours.count; // colours come again with marks that are hollow
    const band = several && index === 0;
    const mark = T.charts.symbol(index);
    return { type: 'line', name: [label, method, ...(chunks === null ? [] : [T.format.counted(chunks, 'chunk')])].join(' · '), data: points, symbol: again ? `empty${mark[0].toUpperCase()}${mark.slice(1)}` : mark, symbolSize: Math.max(6, 11 - 3 * index),
      color: colour, z: 2 + index, itemStyle: again ? {} : { borderColor: T.dom.theme().panel, borderWidth: 1 }, lineStyle: { width: band ? 6 : 2, opacity: band ? 0.4 : 1, type: T.charts.dash(index) } };
  }

  function sweepNote(state) {
    const { bestOf } = T.profile.sweeps(state.rows, state.sweepChunks);
    return bestOf.length > 0 ? `best of all ${bestOf.join(' and ')}` : '';
  }

  function select(id, title, options, chosen, changed) {
    return el('label', { class: 'small' }, el('span', null, `${title} `),
      el('select', { id, on: { change: (event) => changed(event.target.value) } }, ...options.map(([value, text]) => el('option', { value, selected: value === chosen }, text))));
  }

  const values = (rows, field) => new Set(rows.map((row) => row[field]).filter((value) => value > 0));
  const offered = (rows) => Object.entries(sizes).filter(([field]) => values(rows, field).size > 0).map(([field, { title }]) => [field, title]);

  // The first size that tells results apart, if there is one.
  function firstSize(rows) {
    const fields = offered(rows).map(([field]) => field);
    return fields.find((field) => values(rows, field).size > 1) || fields[0] || 'npus';
  }

  // Which numbers of chunks are drawn, where there are several.
  function sweepControls(rows, state, redraw) {
    const counts = [...new Set(T.profile.sweeps(rows).lines.map(({ chunks }) => chunks))].sort((a, b) => a - b);
    if (counts.length < 2) return [];
    const options = [['all', 'all'], ['best', 'best of all'], ...counts.map((count) => [String(count), count === null ? "the instance's" : T.format.count(count)])];
    return [select('sweep-chunks', 'chunks', options, state.sweepChunks, (value) => { state.sweepChunks = value; redraw(); })];
  }

  // The cards that these rows deserve: {id, title, note(state), option(state), tip(chart, x), controls}.
  function cards(rows, state, redraw) {
    const options = offered(rows);
    const bySize = (name) => (options.length < 2 ? [] : [select(`${name}-size`, 'size', options, state[`${name}Size`], (value) => { state[`${name}Size`] = value; redraw(); })]);
    const list = [{ id: 'gap', title: 'Gap over size', option: gapOption, controls: bySize('gap') }, { id: 'seconds', title: 'Time over size', option: secondsOption, controls: bySize('seconds') }];
    if (state.methods.length > 1) {
      const pick = select('profile-measure', 'measure', [['makespan', 'makespan'], ['seconds', 'time']], state.measure, (value) => { state.measure = value; redraw(); });
      list.push({ id: 'profile', title: 'Methods compared', option: profileOption, tip: profileTip, controls: [pick] });
    } else {
      list.push({ id: 'spread', title: 'Gaps', option: spreadOption, controls: [] });
    }
    if (state.labels.length > 0) list.push({ id: 'sweep', title: 'Bandwidth over message size', note: sweepNote, option: sweepOption, controls: sweepControls(rows, state, redraw) });
    return list;
  }

  function openCard(parent, { id, title, note, option, tip, controls }, state, renderer) {
    const box = el('div', { class: 'chart', id: `plot-${id}` });
    const remark = el('small', { class: 'note' });
    parent.append(el('section', { class: 'card', data: { plot: id } }, el('div', { class: 'card-head' }, el('h2', null, title), note ? remark : null, ...controls), box));
    const one = T.charts.open(box, renderer, (chart) => {
      if (note) remark.textContent = note(state);
      chart.setOption(option(state), { notMerge: true });
    });
    one.chart.on('click', (p) => { if (p.value && p.value[2]) T.route.open(p.value[2]); });
    if (tip) T.charts.tipAnywhere(one.chart, tip);
    return one;
  }

  // Returns {show(rows), redraw()}.
  function build(parent, rows) {
    if (rows.length === 0) return { show() {}, redraw() {} };
    if (!T.dom.hasCharts()) {
      parent.append(el('p', { class: 'notice', id: 'no-charts' }, 'This page was made without its charting library (scripts/setup brings it), so there are no plots.'));
      return { show() {}, redraw() {} };
    }
    const first = firstSize(rows);
    const lines = T.profile.sweeps(rows).lines;
    const labels = [...new Set([...lines, ...T.profile.sweeps(rows, 'best').lines].map(({ label }) => label))];
    const swept = [...new Set(lines.map(sweepId))];
    const state = { rows, methods: T.data.distinct(rows, T.data.asked), labels, swept, gapSize: first, secondsSize: first, measure: 'makespan', sweepChunks: lines.length > 0 ? 'all' : 'best' };
    const redraw = () => open.forEach((one) => one.redraw());
    const open = cards(rows, state, redraw).map((card) => openCard(parent, card, state, rows.length > manyPoints ? 'canvas' : 'svg'));
    return { show(list) { state.rows = list; redraw(); }, redraw };
  }

  T.plots = { build };
})((globalThis.Tutti = globalThis.Tutti || {}));
