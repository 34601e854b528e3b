// What all charts share: the look, tooltips that cannot be HTML by accident, and life and death with their box.
(function (T) {
  'use strict';

  const symbols = ['circle', 'rect', 'triangle', 'diamond', 'roundRect', 'arrow'];
  const dashes = ['solid', 'dashed', 'dotted', [10, 3, 2, 3]];

  // A chart in the box, drawn by draw(chart) now, on a change of theme, and resized with the box. Returns {chart, redraw, close}.
  function open(box, renderer, draw) {
    const chart = globalThis.echarts.init(box, null, { renderer });
    const watcher = new ResizeObserver(() => {
      if (box.clientWidth === 0 || (chart.getWidth() === box.clientWidth && chart.getHeight() === box.clientHeight)) return;
      chart.resize();
      redraw();
    });
    const redraw = () => draw(chart);
    watcher.observe(box);
    redraw();
    return { chart, redraw, close: () => { watcher.disconnect(); chart.dispose(); } };
  }

  // The parts of an option that every chart has.
  function look() {
    const theme = T.dom.theme();
    return {
      animation: false,
      backgroundColor: 'transparent',
      textStyle: { fontFamily: theme.font, color: theme.text, fontSize: 12 },
      aria: { enabled: true },
    };
  }

  function axis(more) {
    const theme = T.dom.theme();
    return {
      nameLocation: 'middle',
      nameTextStyle: { color: theme.muted, fontSize: 12 },
      axisLine: { show: true, lineStyle: { color: theme.line } },
      axisTick: { lineStyle: { color: theme.line } },
      axisLabel: { color: theme.muted, fontSize: 11, hideOverlap: true },
      splitLine: { lineStyle: { color: theme.line, opacity: 0.6 } },
      minorSplitLine: { show: false },
      ...more,
    };
  }

  // lines(params) gives texts; the first is the head.
  function tooltip(lines, more) {
    const theme = T.dom.theme();
    return {
      confine: true,
      backgroundColor: theme.panel,
      borderColor: theme.line,
      textStyle: { color: theme.text, fontSize: 12 },
      extraCssText: 'max-width: min(360px, 90vw); white-space: normal; overflow-wrap: anywhere;',
      formatter: (params) => lines(params).map((line, i) => (i === 0 ? `<strong>${T.format.escapeHtml(line)}</strong>` : T.format.escapeHtml(line))).join('<br>'),
      ...more,
    };
  }

  // A tooltip wherever the pointer is within the axes, whether there is a point or not: lines(chart, x).
  function tipAnywhere(chart, lines) {
    const pointer = chart.getZr();
    pointer.on('mousemove', ({ offsetX, offsetY, event }) => {
      if (!chart.containPixel('grid', [offsetX, offsetY]) || chart.getOption().series.length === 0) T.dom.hideTip();
      else T.dom.showTip(lines(chart, chart.convertFromPixel({ xAxisIndex: 0 }, offsetX)), event.changedTouches?.[0] || event);
    });
    pointer.on('globalout', T.dom.hideTip);
  }

  // The line height is that of the clip of a paged legend: without it, letters lose their tops.
  const legend = (more) => ({ type: 'scroll', top: 0, left: 0, right: 0, itemWidth: 18, itemHeight: 9, textStyle: { color: T.dom.theme().text, fontSize: 12, lineHeight: 18 },
    pageTextStyle: { color: T.dom.theme().muted }, pageIconColor: T.dom.theme().text, pageIconInactiveColor: T.dom.theme().line, ...more });

  // In place of points where there are none.
  const empty = (show, text) => ({ show, text, left: 'center', top: 'middle', textStyle: { color: T.dom.theme().muted, fontSize: 13, fontWeight: 'normal' } });

  const symbol = (index) => symbols[index % symbols.length];
  const dash = (index) => dashes[index % dashes.length];

  T.charts = { open, look, axis, tooltip, tipAnywhere, legend, empty, symbol, dash };
})((globalThis.Tutti = globalThis.Tutti || {}));
