// One task: its numbers, its network, its schedule in time.
(function (T) {
  'use strict';

  const el = (...parts) => T.dom.el(...parts);

  class View {
    // back: whether there is an overview to go back to.
    constructor(parent, row, view, back) {
      this.parts = [];
      const name = view ? view.name : T.data.label(row);
      const detail = row ? T.data.variant(row) : '';
      const heading = el('h1', { tabindex: -1, id: 'view-name' }, name, detail === '' ? null : el('small', null, ` ${detail}`));
      parent.replaceChildren(el('div', { class: 'view-head' },
        back ? el('button', { type: 'button', id: 'back', title: 'Esc', on: { click: T.route.close } }, '← All results') : null, heading),
      T.facts.tiles(row, view), ...this.sentences(row, view), ...[T.collectives.card(row, view)].filter((card) => card !== null));
      if (view) this.build(parent, view);
      heading.focus({ preventScroll: true });
    }

    sentences(row, view) {
      const texts = [];
      if (row?.error) texts.push(el('p', { class: 'error', id: 'error' }, el('strong', null, T.data.failed(row) ? '✕ Failed: ' : '∅ Infeasible: '), row.error));
      // What failed is why there is nothing to see.
      if (!view && !(row?.error && row.error === row.why_no_view)) texts.push(el('p', { class: 'notice', id: 'no-view' }, row?.why_no_view || 'The schedule is not in this page.'));
      if (view?.bound_text) texts.push(el('p', { class: 'sentence', id: 'bound-text' }, el('strong', null, 'What proves the bound: '), view.bound_text));
      if (row?.proof && !view?.bound_text?.includes(row.proof)) texts.push(el('p', { class: 'sentence', id: 'proof' }, row.proof));
      if (view?.sends.note) texts.push(el('p', { class: 'notice', id: 'sends-note' }, view.sends.note));
      return texts;
    }

    build(parent, view) {
      const sends = T.sends.prepare(view);
      const bar = el('div', { class: 'player', role: 'group', 'aria-label': 'Player' });
      const network = el('div', { class: 'network', id: 'network' });
      const legend = el('div', { class: 'legend' });
      const tools = el('div', { class: 'tools' }, this.proofBox(view));
      const time = el('div', { class: 'timeline', id: 'timeline' });
      const timeTools = el('div', { class: 'tools' });
      parent.append(bar, el('div', { class: 'pair' },
        el('section', { class: 'card', id: 'network-card' }, el('div', { class: 'card-head' }, el('h2', null, 'Network'), tools), network, legend),
        el('section', { class: 'card', id: 'timeline-card' }, el('div', { class: 'card-head' }, el('h2', null, 'Timeline'), timeTools), time)));
      this.topology = new T.Topology(network, view);
      this.chunks = new T.Chunks(this.topology, sends);
      this.topology.draw();
      T.pointer.attach(this.topology, tools, sends, () => this.player.time, () => this.redrawNetwork());
      this.timeline = this.openTimeline(time, timeTools, view, sends);
      this.player = new T.Player(bar, view, sends, (now) => this.moved(now));
      this.legend = () => T.legend.fill(legend, view, this.topology.proof);
      this.legend();
      this.watcher = new ResizeObserver(() => this.redrawNetwork());
      this.watcher.observe(network);
    }

    openTimeline(box, tools, view, sends) {
      if (T.dom.hasCharts()) return new T.Timeline(box, tools, view, sends, (time) => { this.player.pause(); this.player.move(time); });
      box.classList.add('absent');
      box.append(el('p', { class: 'notice', id: 'no-timeline' }, 'This page was made without its charting library (scripts/setup brings it), so there is no timeline.'));
      return null;
    }

    // The switch that shows the certificate, where it can be drawn.
    proofBox(view) {
      if (!view.cut && !view.path) return null;
      const box = el('input', { type: 'checkbox', id: 'show-proof' });
      box.addEventListener('change', () => { this.topology.proof = box.checked; this.redrawNetwork(); this.legend(); });
      return el('label', { class: 'proof' }, box, view.bound_weaker ? 'show a weaker bound that can be drawn' : 'show what proves the bound');
    }

    redrawNetwork() {
      this.topology.draw();
      this.chunks.draw(this.player.time);
    }

    moved(time) {
      if (this.timeline) this.timeline.move(time);
      return this.chunks.draw(time);
    }

    redraw() {
      if (!this.topology) return;
      this.redrawNetwork();
      this.legend();
      if (this.timeline) this.timeline.one.redraw();
    }

    close() {
      T.dom.hideTip();
      if (!this.topology) return;
      this.watcher.disconnect();
      this.player.close();
      if (this.timeline) this.timeline.close();
    }
  }

  T.View = View;
})((globalThis.Tutti = globalThis.Tutti || {}));
