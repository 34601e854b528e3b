// The plots of a run: gap and time over size, methods against each other (or how gaps are spread), bandwidth over message size.
(function (T) {
  'use strict';

  const el = (...parts) => T.dom.el(...parts);
  const manyPoints = 1500; // from here on canvas, which draws them faster than SVG

  const sizes = {
    npus: { title: 'NPUs', base: 2, text: (value) => T.format.short(value, 4) },
    chunks: { title: 'chunks', base: 10, text: (value) => T.format.count(Number(T.format.short(value, 4))) },
    bytes: { title: 'bytes of a call', base: 2, text: (value) => T.format.bytes(value, 3) },
  };

  const plain = (row) => !T.data.failed(row);

  // One scatter series per method: points are [x, y, key], named by label.
  function scatter(rows, methods, x, y) {
    return methods.map((method, i) => ({
      type: 'scatter',
      name: method,
      symbol: T.charts.symbol(i),
      symbolSize: Math.max(5, 11 - 3 * i), // those drawn later do not hide those drawn sooner
      itemStyle: { color: T.colours.group(i), opacity: 0.75, borderColor: T.dom.theme().panel, borderWidth: 0.5 },
      data: rows.filter((row) => T.data.asked(row) === method && plain(row) && row[x] > 0 && T.format.known(y(row)))
        .map((row) => ({ name: T.data.label(row), value: [row[x], y(row), T.data.keyOf(row)] })),
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
      tooltip: T.charts.tooltip((p) => [p.name, `${p.seriesName} · ${sizes[size].text(p.value[0])} ${sizes[size].title}`, yText(p.value[1])]),
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

  function profileOption(state) {
    const { instances, most, curves } = T.profile.profile(state.rows, state.measure);
    const log = most > 3;
    const far = log ? most : Math.max(1.02, most);
    return {
      ...T.charts.look(),
      title: T.charts.empty(instances === 0, 'No instance was solved by one of several methods'),
      grid: { left: 58, right: 16, top: 34, bottom: 44 },
      legend: T.charts.legend(),
      tooltip: T.charts.tooltip((list) => [`within ${T.format.short(list[0].value[0], 4)} times the best`,
        ...list.map((p) => `${p.seriesName}: ${T.format.gap(p.value[1])}`)], { trigger: 'axis' }),
      xAxis: T.charts.axis({ type: log ? 'log' : 'value', logBase: most > 100 ? 10 : 2, min: 1, max: far, name: 'factor of the best', nameGap: 26,
        axisLabel: { color: T.dom.theme().muted, fontSize: 11, hideOverlap: true, formatter: (v) => T.format.short(v, 3) } }),
      yAxis: T.charts.axis({ type: 'value', min: 0, max: 1, name: 'share of instances', nameGap: 40,
        axisLabel: { color: T.dom.theme().muted, fontSize: 11, formatter: (v) => `${Math.round(100 * v)} %` } }),
      series: (instances === 0 ? [] : curves).map(({ method, points }, i) => ({ type: 'line', step: 'end', name: method, symbol: T.charts.symbol(i), symbolSize: 5, showSymbol: points.length < 60,
        lineStyle: { width: 2, type: ['solid', 'dashed', 'dotted'][i % 3] }, color: T.colours.group(i), data: points[points.length - 1][0] < far ? [...points, [far, points[points.length - 1][1]]] : points })),
    };
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
      legend: T.charts.legend(),
      tooltip: T.charts.tooltip((p) => [p.seriesName, `${T.format.bytes(p.value[0])}: busbw ${T.format.bandwidth(p.value[1])} GB/s`]),
      xAxis: sizeAxis('bytes'),
      yAxis: T.charts.axis({ type: 'value', min: 0, name: 'busbw in GB/s', nameGap: 40 }),
      series: T.profile.sweeps(state.rows).map(({ name, points }, i) => ({ type: 'line', name, data: points, symbol: T.charts.symbol(Math.floor(i / T.colours.count) + i), symbolSize: 7,
        color: T.colours.group(i), lineStyle: { width: 2, type: ['solid', 'dashed', 'dotted'][Math.floor(i / T.colours.count) % 3] } })),
    };
  }

  function select(id, title, options, changed) {
    return el('label', { class: 'small' }, el('span', null, `${title} `),
      el('select', { id, on: { change: (event) => changed(event.target.value) } }, ...options.map(([value, text]) => el('option', { value }, text))));
  }

  const offered = (rows) => Object.entries(sizes).filter(([field]) => rows.some((row) => row[field] > 0)).map(([field, { title }]) => [field, title]);

  // The cards that these rows deserve: {id, title, option, controls}.
  function cards(rows, state, redraw) {
    const bySize = (name) => [select(`${name}-size`, 'size', offered(rows), (value) => { state[`${name}Size`] = value; redraw(); })];
    const list = [{ id: 'gap', title: 'Gap over size', option: gapOption, controls: bySize('gap') }, { id: 'seconds', title: 'Time over size', option: secondsOption, controls: bySize('seconds') }];
    if (state.methods.length > 1) {
      const pick = select('profile-measure', 'measure', [['makespan', 'makespan'], ['seconds', 'time']], (value) => { state.measure = value; redraw(); });
      list.push({ id: 'profile', title: 'Methods compared', option: profileOption, controls: [pick] });
    } else {
      list.push({ id: 'spread', title: 'Gaps', option: spreadOption, controls: [] });
    }
    if (T.profile.sweeps(rows).length > 0) list.push({ id: 'sweep', title: 'Bandwidth over message size', option: sweepOption, controls: [] });
    return list;
  }

  // Returns {show(rows), redraw()}.
  function build(parent, rows) {
    if (!T.dom.hasCharts()) {
      parent.append(el('p', { class: 'notice', id: 'no-charts' }, 'This page was made without its charting library (scripts/setup brings it), so there are no plots.'));
      return { show() {}, redraw() {} };
    }
    const first = offered(rows)[0]?.[0] || 'npus';
    const state = { rows, methods: T.data.distinct(rows, T.data.asked), gapSize: first, secondsSize: first, measure: 'makespan' };
    const renderer = rows.length > manyPoints ? 'canvas' : 'svg';
    const redraw = () => open.forEach((one) => one.redraw());
    const open = cards(rows, state, redraw).map(({ id, title, option, controls }) => {
      const box = el('div', { class: 'chart', id: `plot-${id}` });
      parent.append(el('section', { class: 'card', data: { plot: id } }, el('div', { class: 'card-head' }, el('h2', null, title), ...controls), box));
      const one = T.charts.open(box, renderer, (chart) => chart.setOption(option(state), { notMerge: true }));
      one.chart.on('click', (p) => { if (p.value && p.value[2]) T.route.open(p.value[2]); });
      return one;
    });
    return { show(list) { state.rows = list; redraw(); }, redraw };
  }

  T.plots = { build };
})((globalThis.Tutti = globalThis.Tutti || {}));
