// Links by time: a bar where a link is busy, with the load of all links above; zooms both ways. Where not all sends are known to the page,
// the links' load as a heat map, or those that are. A line shows the player's time; a click moves it.
(function (T) {
  'use strict';

  const el = (...parts) => T.dom.el(...parts);
  const inner = 1e-3; // pixels: within the corners of the grid
  const leastSpan = 14; // pixels between the handles of a slider

  class Timeline {
    // tools: where buttons go.
    constructor(box, tools, view, sends, moved) {
      Object.assign(this, { box, view, sends, moved, time: 0, frame: 0 });
      this.line = el('div', { class: 'now-line', 'aria-hidden': 'true' });
      this.chartBox = el('div', { class: 'fill', role: 'img' });
      box.append(this.chartBox, this.line);
      this.choose(view.link_load ? 'load' : 'sends');
      this.one = T.charts.open(this.chartBox, 'canvas', (chart) => this.draw(chart));
      this.chart.on('datazoom', () => this.refillSoon());
      this.chart.getZr().on('click', (event) => this.clicked(event));
      this.chart.getZr().on('mousemove', (event) => this.hovered(event));
      this.chart.getZr().on('globalout', T.dom.hideTip);
      tools.append(...(view.link_load ? [this.choice()] : []), ...T.sight.buttons(this));
    }

    // Where not all sends are known to the page: what to draw.
    choice() {
      const texts = { load: 'load of links', sends: 'sends shown' };
      const select = el('select', { id: 'timeline-what', 'aria-label': 'What the timeline shows' }, ...Object.entries(texts).map(([value, text]) => el('option', { value }, text)));
      select.addEventListener('change', () => {
        this.choose(select.value);
        this.one.redraw();
      });
      return select;
    }

    choose(what) {
      const { view, sends } = this;
      const all = Array.from(view.links.src.keys());
      this.what = what;
      this.rows = what === 'load' ? view.link_load.links : all.filter((link) => (view.link_load ? sends.byLink.of(link).length : view.links.sends[link]) > 0);
      this.kept = false; // which rows are in sight means nothing for others
    }

    // The option without runs, then the runs for what is in sight.
    draw(chart) {
      this.chart = chart;
      this.heat = this.what === 'load' ? T.pictures.heatOf(this.view.link_load) : null;
      this.left = T.timechart.leftOf(this.view, this.rows);
      this.title = 'No link is used';
      this.near = false;
      this.chartBox.setAttribute('aria-label', `Timeline of ${this.view.name}. ${this.title}`);
      const before = this.kept ? chart.getOption()?.dataZoom : null; // a change of theme or size keeps what is in sight
      chart.setOption(T.timechart.option(this, before), { notMerge: true });
      this.kept = true;
      this.refill();
    }

    item(api) {
      return this.still ? this.picture(api) : this.bar(api);
    }

    // What the rows are; the rows in sight come first, as there may be no room for all.
    titleOf(seen) {
      const { links, link_load: load, sends } = this.view;
      const used = this.rows.length;
      const all = links.src.length;
      const { count } = T.format;
      const what = this.what === 'load' ? `load of ${used < all ? `the ${count(used)} busiest links` : 'all links'}`
        : load ? `${count(sends.shown)} of ${count(sends.total)} sends, by link` : `links, from → to${used < all ? ` (${count(used)} of ${count(all)} are used)` : ''}`;
      const text = [T.sight.rowsText(seen.firstRow, seen.lastRow, used), what].filter((part) => part !== '').join(' · ');
      return text[0].toUpperCase() + text.slice(1);
    }

    // Percent of the time, or of the links, that are in sight.
    range(axis) {
      const { start, end } = this.chart.getOption().dataZoom[axis === 'time' ? 0 : 2];
      return [start, end];
    }
    least(axis) {
      return axis === 'time' ? 0.01 : Math.min(100, 100 / Math.max(this.rows.length, 1));
    }
    look(axis, [start, end]) {
      this.chart.dispatchAction({ type: 'dataZoom', dataZoomIndex: axis === 'time' ? 0 : 2, start, end });
    }

    label(value) {
      const span = this.window ? this.window.to - this.window.from : this.view.makespan;
      return T.format.axisTicks(this.view.units, this.view.makespan, span)(value);
    }

    bar(api) {
      const from = api.coord([api.value(0), api.value(2)]);
      const to = api.coord([api.value(1), api.value(2)]);
      const row = api.size([0, 1])[1];
      const height = row >= 3 ? row - Math.max(1, 0.2 * row) : row;
      const wide = to[0] - from[0];
      return { type: 'rect', shape: { x: from[0], y: from[1] - height / 2, width: Math.max(wide > 4 ? wide - 0.7 : wide, 0.7), height }, style: { fill: T.colours.fill(api.value(3)) } };
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
      const { place } = T.timechart;
      const width = this.chart.getWidth();
      const height = this.chart.getHeight();
      const [from, firstRow] = this.chart.convertFromPixel({ gridIndex: 1 }, [this.left + inner, place.top + inner]);
      const [to, lastRow] = this.chart.convertFromPixel({ gridIndex: 1 }, [width - place.right - inner, height - place.bottom - inner]);
      const bound = (row) => Math.min(Math.max(Math.round(row), 0), this.rows.length - 1);
      return { from: Math.max(from, 0), to: Math.min(to, this.view.makespan), firstRow: bound(firstRow), lastRow: bound(lastRow), pixels: width - this.left - place.right, rowPixels: Math.max(height - place.top - place.bottom, 1) };
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
      this.chart.setOption({ yAxis: [{}, { axisLabel: { interval: (index) => index % every === 0 } }], series: [{}, { id: 'runs', data }], ...this.told(seen) });
      this.move(this.time);
    }

    // What the chart says of the rows in sight, where it says something new.
    told(seen) {
      const change = {};
      const title = this.titleOf(seen);
      const near = ((seen.lastRow - seen.firstRow + 1) / this.rows.length) * seen.rowPixels < leastSpan;
      if (title !== this.title) change.title = [{}, { text: title }];
      if (near !== this.near) change.dataZoom = [{}, {}, T.timechart.handles(near)];
      Object.assign(this, { title, near });
      this.chartBox.setAttribute('aria-label', `Timeline of ${this.view.name}. ${title}; from ${this.label(seen.from)} to ${this.label(seen.to)}${this.view.units === 'physical' ? '' : ' ticks'}`);
      return change;
    }

    // The tooltip of a picture, which knows no items.
    hovered(event) {
      const pixel = [event.offsetX, event.offsetY];
      if (!this.still || !this.chart.containPixel({ gridIndex: 1 }, pixel)) return T.dom.hideTip();
      const [time, row] = this.chart.convertFromPixel({ gridIndex: 1 }, pixel);
      const lines = row < this.rows.length ? (this.heat ? this.loadLines(time, row) : this.sendLines(T.sends.onLink(this.sends, this.rows[row], time))) : [];
      if (lines.length === 0) return T.dom.hideTip();
      T.pointer.untilNextTap();
      return T.dom.showTip(lines, event.event);
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
      const seen = x >= this.left - 1 && x <= this.chart.getWidth() - T.timechart.place.right + 1;
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
