// The timeline's chart without its bars: titles, axes, sliders, and the load of all links.
(function (T) {
  'use strict';

  const place = { left: 62, right: 34, loadTop: 26, loadHeight: 56, top: 112, bottom: 52 };
  const goodRow = 3; // pixels
  const leastRow = 1.5; // where not even rows of this height fit, only as many as fit well are in sight at first
  const label = { fontSize: 11, hideOverlap: true };

  const rowName = (view, link) => `${view.links.src[link]} → ${view.links.dst[link]}`;

  // Both charts begin behind the longest name of a row, so that they have one axis of time.
  function leftOf(view, rows) {
    let longest = '';
    for (const link of rows) {
      const name = rowName(view, link);
      if (name.length > longest.length) longest = name;
    }
    const context = T.dom.el('canvas').getContext('2d');
    context.font = `${label.fontSize}px ${T.dom.theme().font}`;
    return Math.max(place.left, Math.ceil(context.measureText(longest.replace(/\d/g, '0')).width) + 14);
  }

  // The end of an axis from 0 that shows the peak well: 1, 2 or 5 times a power of ten, and no more than all.
  function topOf(peak) {
    if (!(peak > 0)) return 1;
    const power = 10 ** Math.floor(Math.log10(peak) + 1e-9);
    return Math.min(1, [1, 2, 5, 10].map((factor) => Number((factor * power).toPrecision(1))).find((top) => top >= peak * (1 - 1e-9)));
  }

  const percent = (share) => `${T.format.short(100 * share, 3)}\u00a0%`;

  // before: the zooms to keep, or null.
  function option(timeline, before) {
    const { view, left } = timeline;
    const theme = T.dom.theme();
    const time = (more) => T.charts.axis({ type: 'value', min: 0, max: view.makespan || 1, axisLabel: { show: false }, splitLine: { show: false }, ...more });
    const sides = { left, right: place.right, outerBoundsMode: 'none' };
    const peak = view.load.reduce((most, share) => Math.max(most, share), 0);
    const top = topOf(peak);
    return {
      ...T.charts.look(),
      aria: { enabled: false },
      title: [title(timeline, `Share of links that are busy, at most ${percent(peak)}`, 4), title(timeline, timeline.title, place.top - 22)],
      grid: [{ ...sides, top: place.loadTop, height: place.loadHeight }, { ...sides, top: place.top, bottom: place.bottom }],
      tooltip: T.charts.tooltip((p) => timeline.lines(p)),
      xAxis: [time({ gridIndex: 0 }), time({ gridIndex: 1, axisLabel: { ...label, color: theme.muted, formatter: (value) => timeline.label(value) } })],
      yAxis: [T.charts.axis({ gridIndex: 0, type: 'value', min: 0, max: top, interval: top / 2, axisLabel: { ...label, color: theme.muted, formatter: percent } }),
        T.charts.axis({ gridIndex: 1, type: 'category', inverse: true, data: timeline.rows.map((link) => rowName(view, link)), axisTick: { show: false }, splitLine: { show: false },
          axisLabel: { ...label, color: theme.muted } })],
      dataZoom: zooms(timeline, before),
      series: [loadSeries(view), { id: 'runs', type: 'custom', xAxisIndex: 1, yAxisIndex: 1, clip: true, progressive: 0, dimensions: ['from', 'to', 'row', 'group', 'first', 'sends'],
        encode: { x: [0, 1], y: 2 }, renderItem: (params, api) => timeline.item(api), data: [] }],
    };
  }

  function title({ left, chart }, text, top) {
    return { text, left, top, textStyle: { fontSize: 12, fontWeight: 'normal', color: T.dom.theme().muted, width: chart.getWidth() - left - 10, overflow: 'truncate' } };
  }

  function loadSeries(view) {
    const slice = view.makespan / (view.load.length || 1);
    const points = view.load.map((share, i) => [i * slice, share]);
    if (points.length > 0) points.push([view.makespan, points[points.length - 1][1]]);
    return { type: 'line', step: 'end', name: 'load', symbol: 'none', xAxisIndex: 0, yAxisIndex: 0, data: points, color: T.colours.group(0), lineStyle: { width: 1.2 }, areaStyle: { opacity: 0.3 } };
  }

  const rowsAtFirst = (count, pixels) => (count * leastRow <= pixels ? count : Math.min(count, Math.max(32, Math.floor(pixels / goodRow))));

  // Handles that would lie on each other are left out; what is then left of the slider is strong enough to be seen.
  const handles = (near) => ({ handleSize: near ? 0 : '120%', fillerColor: `rgba(86, 180, 233, ${near ? 1 : 0.25})` });

  // The sliders and the wheel: of time (0 and 1), of rows (2 and 3).
  function zooms(timeline, before) {
    const theme = T.dom.theme();
    const coarse = matchMedia('(pointer: coarse)').matches;
    const inside = { type: 'inside', filterMode: 'none', moveOnMouseMove: !coarse, moveOnMouseWheel: false, preventDefaultMouseMove: false };
    const slider = { type: 'slider', filterMode: 'none', showDataShadow: false, brushSelect: false, borderColor: theme.line, ...handles(false),
      textStyle: { color: theme.muted }, showDetail: false };
    const kept = (zoom) => ({ start: zoom.start, end: zoom.end });
    const x = before ? kept(before[0]) : { start: 0, end: 100 };
    const y = before ? kept(before[2]) : { startValue: 0, endValue: (timeline.heat ? timeline.rows.length : rowsAtFirst(timeline.rows.length, timeline.chart.getHeight() - place.top - place.bottom)) - 1 };
    return [{ ...slider, xAxisIndex: [0, 1], left: timeline.left, right: place.right, bottom: 8, height: 16, ...x },
      { ...inside, xAxisIndex: [0, 1], zoomOnMouseWheel: 'ctrl', ...x },
      { ...slider, yAxisIndex: 1, top: place.top, bottom: place.bottom, right: 10, width: 14, ...y },
      { ...inside, yAxisIndex: 1, zoomOnMouseWheel: 'shift', ...y }];
  }

  T.timechart = { place, leftOf, topOf, rowsAtFirst, handles, option };
})((globalThis.Tutti = globalThis.Tutti || {}));
