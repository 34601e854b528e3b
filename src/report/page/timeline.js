// Links by time: a bar where a link is busy, with the load of all links above; zooms both ways. Where not all sends are known to the page,
// the links' load as a heat map. A line shows the player's time; a click moves it.
(function (T) {
  'use strict';

  const el = (...parts) => T.dom.el(...parts);
  const place = { left: 62, right: 34, loadTop: 26, loadHeight: 56, top: 112, bottom: 52 };
  const rowsAtFirst = 256;

  class Timeline {
    constructor(box, view, sends, moved) {
      Object.assign(this, { box, view, sends, moved, time: 0, frame: 0 });
      this.rows = view.link_load ? view.link_load.links : Array.from(view.links.src.keys()).filter((link) => view.links.sends[link] > 0);
      this.line = el('div', { class: 'now-line', 'aria-hidden': 'true' });
      const chartBox = el('div', { class: 'fill' });
      box.append(chartBox, this.line);
      this.one = T.charts.open(chartBox, 'canvas', (chart) => this.draw(chart));
      this.chart = this.one.chart;
      this.chart.on('datazoom', () => this.refillSoon());
      this.chart.getZr().on('click', (event) => this.clicked(event));
      this.chart.getZr().on('mousemove', (event) => this.hovered(event));
      this.chart.getZr().on('globalout', T.dom.hideTip);
    }

    // The option without runs, then the runs for what is in sight.
    draw(chart) {
      this.chart = chart;
      if (this.view.link_load) this.heat = T.pictures.heatOf(this.view.link_load);
      const before = chart.getOption()?.dataZoom; // a change of theme or size keeps what is in sight
      chart.setOption(this.option(before), { notMerge: true });
      this.refill();
    }

    option(before) {
      const { view } = this;
      const theme = T.dom.theme();
      const time = (more) => T.charts.axis({ type: 'value', min: 0, max: view.makespan || 1, axisLabel: { show: false }, splitLine: { show: false }, ...more });
      return {
        ...T.charts.look(),
        aria: { enabled: false },
        title: [{ text: 'Share of links that are busy', left: place.left, top: 4, textStyle: { fontSize: 12, fontWeight: 'normal', color: theme.muted } },
          { text: this.title(), left: place.left, top: place.top - 22, textStyle: { fontSize: 12, fontWeight: 'normal', color: theme.muted } }],
        grid: [{ left: place.left, right: place.right, top: place.loadTop, height: place.loadHeight }, { left: place.left, right: place.right, top: place.top, bottom: place.bottom }],
        tooltip: T.charts.tooltip((p) => this.lines(p)),
        xAxis: [time({ gridIndex: 0 }), time({ gridIndex: 1, axisLabel: { color: theme.muted, fontSize: 11, hideOverlap: true, formatter: (value) => this.label(value) } })],
        yAxis: [T.charts.axis({ gridIndex: 0, type: 'value', min: 0, max: 1, interval: 0.5, axisLabel: { color: theme.muted, fontSize: 11, formatter: (v) => `${100 * v} %` } }),
          T.charts.axis({ gridIndex: 1, type: 'category', inverse: true, data: this.rows.map((link) => `${view.links.src[link]} → ${view.links.dst[link]}`), axisTick: { show: false }, splitLine: { show: false },
            axisLabel: { color: theme.muted, fontSize: 11, hideOverlap: true } })],
        dataZoom: this.zooms(before),
        series: [this.loadSeries(), { id: 'runs', type: 'custom', xAxisIndex: 1, yAxisIndex: 1, clip: true, progressive: 0, dimensions: ['from', 'to', 'row', 'group', 'first', 'sends'],
          encode: { x: [0, 1], y: 2 }, renderItem: (params, api) => (this.still ? this.picture(api) : this.bar(api)), data: [] }],
      };
    }

    title() {
      const used = this.rows.length;
      const all = this.view.links.src.length;
      if (this.view.link_load) return `Load of ${used < all ? `the ${used} busiest links` : 'all links'}`;
      return `Links, from → to${used < all ? ` (${used} of ${all} are used)` : ''}`;
    }

    loadSeries() {
      const slice = this.view.makespan / (this.view.load.length || 1);
      const points = this.view.load.map((share, i) => [i * slice, share]);
      if (points.length > 0) points.push([this.view.makespan, points[points.length - 1][1]]);
      return { type: 'line', step: 'end', name: 'load', symbol: 'none', xAxisIndex: 0, yAxisIndex: 0, data: points, color: T.colours.group(0), lineStyle: { width: 1.2 }, areaStyle: { opacity: 0.3 } };
    }

    zooms(before) {
      const theme = T.dom.theme();
      const coarse = matchMedia('(pointer: coarse)').matches;
      const inside = { type: 'inside', filterMode: 'none', moveOnMouseMove: !coarse, moveOnMouseWheel: false, preventDefaultMouseMove: false };
      const slider = { type: 'slider', filterMode: 'none', showDataShadow: false, brushSelect: false, borderColor: theme.line, fillerColor: 'rgba(86, 180, 233, 0.25)', handleSize: '120%',
        textStyle: { color: theme.muted }, showDetail: false };
      const far = this.rows.length - 1;
      const kept = (zoom) => ({ start: zoom.start, end: zoom.end });
      const x = before?.length ? kept(before[0]) : { start: 0, end: 100 };
      const y = before?.length ? kept(before[2]) : { startValue: 0, endValue: Math.min(far, rowsAtFirst - 1) };
      return [{ ...slider, xAxisIndex: [0, 1], left: place.left, right: place.right, bottom: 8, height: 16, ...x },
        { ...inside, xAxisIndex: [0, 1], zoomOnMouseWheel: 'ctrl', ...x },
        { ...slider, yAxisIndex: 1, top: place.top, bottom: place.bottom, right: 10, width: 14, ...y },
        { ...inside, yAxisIndex: 1, zoomOnMouseWheel: 'shift', ...y }];
    }

    label(value) {
      const span = this.window ? this.window.to - this.window.from : this.view.makespan;
      return T.format.axisTicks(this.view.units, this.view.makespan, span)(value);
    }

    bar(api) {
      const from = api.coord([api.value(0), api.value(2)]);
      const to = api.coord([api.value(1), api.value(2)]);
      const row = api.size([0, 1])[1];
      const height = row > 4 ? row * 0.8 : row;
      const wide = to[0] - from[0];
      return { type: 'rect', shape: { x: from[0], y: from[1] - height / 2, width: Math.max(wide > 4 ? wide - 0.7 : wide, 0.7), height }, style: { fill: T.colours.group(api.value(3)) } };
    }

    // Everything in sight as one picture.
    picture(api) {
      const { still } = this;
      const [x, top] = api.coord([still.from, still.firstRow]);
      const [end, bottom] = api.coord([still.to, still.lastRow]);
      const row = api.size([0, 1])[1];
      const shape = { x, y: top - row / 2, width: end - x, height: bottom - top + row };
      const ratio = Math.min(window.devicePixelRatio || 1, 2);
      return { type: 'image', silent: true, style: { ...shape, image: still.paint(shape.width * ratio, shape.height * ratio) } };
    }

    // What the chart shows now: ticks and rows at the corners of its grid.
    inSight() {
      const width = this.chart.getWidth();
      const height = this.chart.getHeight();
      const [from, firstRow] = this.chart.convertFromPixel({ gridIndex: 1 }, [place.left + 0.5, place.top + 0.5]);
      const [to, lastRow] = this.chart.convertFromPixel({ gridIndex: 1 }, [width - place.right - 0.5, height - place.bottom - 0.5]);
      const bound = (row) => Math.min(Math.max(Math.round(row), 0), this.rows.length - 1);
      return { from: Math.max(from, 0), to: Math.min(to, this.view.makespan), firstRow: bound(firstRow), lastRow: bound(lastRow), pixels: width - place.left - place.right, rowPixels: Math.max(height - place.top - place.bottom, 1) };
    }

    refillSoon() {
      if (this.frame === 0) this.frame = requestAnimationFrame(() => { this.frame = 0; this.refill(); });
    }

    refill() {
      if (this.rows.length === 0) return;
      const seen = this.inSight();
      this.window = seen;
      const perPixel = (seen.to - seen.from) / Math.max(seen.pixels, 1);
      const runs = this.heat ? null : T.runs.ofSends(this.sends, this.rows, seen, perPixel);
      this.still = runs ? null : this.heat ? T.pictures.heatStill(this.heat, this.view.makespan, seen) : T.pictures.sendsStill(this.sends, this.rows, seen);
      const data = runs ?? [[this.still.from, this.still.to, this.still.firstRow, -1, -1, 0]];
      this.box.dataset.runs = runs ? runs.length : 'picture';
      const every = Math.ceil((14 * (seen.lastRow - seen.firstRow + 1)) / seen.rowPixels); // labels need 14 pixels each
      this.chart.setOption({ yAxis: [{}, { axisLabel: { interval: (index) => index % every === 0 } }], series: [{}, { id: 'runs', data }] });
      this.move(this.time);
    }

    // The tooltip of a picture, which knows no items.
    hovered(event) {
      const pixel = [event.offsetX, event.offsetY];
      if (!this.still || !this.chart.containPixel({ gridIndex: 1 }, pixel)) return T.dom.hideTip();
      const [time, row] = this.chart.convertFromPixel({ gridIndex: 1 }, pixel);
      const lines = row < this.rows.length ? (this.heat ? this.loadLines(time, row) : this.sendLines(T.sends.onLink(this.sends, this.rows[row], time))) : [];
      return lines.length > 0 ? T.dom.showTip(lines, event.event) : T.dom.hideTip();
    }

    loadLines(time, row) {
      const load = this.view.link_load.load[row];
      const slice = this.view.makespan / load.length;
      const at = Math.min(Math.max(Math.floor(time / slice), 0), load.length - 1);
      return [this.linkName(this.rows[row]), this.span(at * slice, (at + 1) * slice), `busy ${T.format.gap(load[at])} of the time`];
    }

    sendLines(i) {
      if (i < 0) return [];
      const { sends } = this;
      const group = this.view.groups[sends.group[i]];
      return [this.linkName(sends.link[i]), `chunk ${sends.chunk[i]}${group ? ` of group ${group.name}` : ''}`, `link busy ${this.span(sends.start[i], sends.free[i])}`,
        `arrives at ${T.format.ticksText(sends.arrive[i], this.view.units)}`];
    }

    linkName(link) {
      return `link ${link}: ${this.view.links.src[link]} → ${this.view.links.dst[link]}`;
    }

    span(from, to) {
      const { units } = this.view;
      return `${T.format.ticks(from, units, 6)} to ${T.format.ticks(to, units, 6)}${units === 'physical' ? '' : ' ticks'}`;
    }

    lines(p) {
      if (p.seriesType !== 'custom' || this.still) return [];
      const [from, to, row, , first, count] = p.value;
      return count > 1 ? [this.linkName(this.rows[row]), `${count} sends`, this.span(from, to)] : this.sendLines(first);
    }

    clicked(event) {
      if (!this.chart.containPixel({ gridIndex: [0, 1] }, [event.offsetX, event.offsetY])) return;
      const [time] = this.chart.convertFromPixel({ gridIndex: 1 }, [event.offsetX, event.offsetY]);
      this.moved(Math.min(Math.max(time, 0), this.view.makespan));
    }

    move(time) {
      this.time = time;
      const x = this.chart.convertToPixel({ xAxisIndex: 1 }, time);
      const seen = x >= place.left - 1 && x <= this.chart.getWidth() - place.right + 1;
      this.line.style.visibility = seen ? 'visible' : 'hidden';
      this.line.style.transform = `translateX(${x}px)`;
    }

    close() {
      cancelAnimationFrame(this.frame);
      this.one.close();
    }
  }

  T.Timeline = Timeline;
})((globalThis.Tutti = globalThis.Tutti || {}));
