// Puts the page together: all results, or one of them, as the address says.
(function (T) {
  'use strict';

  const el = (...parts) => T.dom.el(...parts);
  const page = { data: null, overview: null, view: null, scrolled: 0, opened: null };

  function header(data) {
    // The page of one schedule has its name as the heading.
    const title = single(data) && data.views[0].name === data.title ? '' : data.title;
    T.dom.byId('head').append(el('p', { class: 'title' }, title),
      el('p', { class: 'made' }, `${data.made?.by || 'tutti'}${data.made?.at ? ` · ${String(data.made.at).replace('T', ' ').replace('Z', ' UTC')}` : ''}`));
  }

  function buildOverview(rows) {
    const parent = T.dom.byId('overview');
    const plots = el('div', { class: 'plots', id: 'plots' });
    const results = el('section', { class: 'card', id: 'results' });
    parent.append(el('p', { class: 'notice', id: 'unknown', role: 'status', hidden: true }), T.facts.summaryTiles(rows));
    const left = T.filters.build(parent, rows, (filter) => {
      const list = T.data.filtered(rows, filter);
      table.show(list);
      drawn.show(list);
      left(list.length);
    });
    parent.append(plots, results);
    const table = new T.Table(results, rows);
    left(rows.length);
    const drawn = T.plots.build(plots, rows);
    return { redraw: drawn.redraw };
  }

  // A schedule of its own (tutti view). A run has its table, however short.
  const single = (data) => data.views.length === 1 && data.rows.length === 0;

  function find(key) {
    const { rows, views } = page.data;
    const row = rows.find((one) => T.data.keyOf(one) === key) || null;
    const view = row ? views[row.view] : views.find((one) => one.key === key);
    return { row, view: view || null };
  }

  const nameOf = ({ row, view }) => (row ? T.data.named(row) : view.name);

  function show(key) {
    const { data } = page;
    if (page.view) page.view.close();
    page.view = null;
    const found = single(data) ? { row: null, view: data.views[0] } : key === null ? null : find(key);
    const open = found !== null && (found.row !== null || found.view !== null);
    document.title = [open && !single(data) ? nameOf(found) : null, data.title, 'tutti'].filter((part) => part !== null).join(' – ');
    if (open && !T.dom.byId('overview').hidden) Object.assign(page, { scrolled: window.scrollY, opened: key });
    T.dom.byId('overview').hidden = open;
    T.dom.byId('view').hidden = !open;
    if (open) {
      window.scrollTo(0, 0);
      page.view = new T.View(T.dom.byId('view'), found.row, found.view, !single(data));
    } else {
      if (!page.overview) page.overview = buildOverview(data.rows);
      T.dom.byId('view').replaceChildren();
      T.dom.byId('unknown').textContent = key === null ? '' : `This page has no result “${key}”.`;
      T.dom.byId('unknown').hidden = key === null;
      backToRow();
    }
  }

  function backToRow() {
    if (page.opened === null) return;
    window.scrollTo(0, page.scrolled);
    const row = [...document.querySelectorAll('#table tr[data-key]')].find((one) => one.dataset.key === page.opened);
    if (row) row.querySelector('a').focus({ preventScroll: true });
  }

  function redraw() {
    T.dom.forgetTheme();
    if (page.overview) page.overview.redraw();
    if (page.view) page.view.redraw();
  }

  // Paper is white: what is drawn on a canvas must know before.
  function watchTheme() {
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw);
    const printing = (on) => () => { document.documentElement.classList.toggle('printing', on); redraw(); };
    window.addEventListener('beforeprint', printing(true));
    window.addEventListener('afterprint', printing(false));
  }

  function keys(event) {
    if (!page.view) return;
    const busy = event.target.closest?.('input, select, button, textarea, a');
    if (event.key === 'Escape' && !single(page.data)) T.route.close();
    else if (event.key === ' ' && page.view.player && !busy) {
      event.preventDefault();
      page.view.player.toggle();
    }
  }

  function start() {
    try {
      page.data = T.data.read(document);
    } catch (error) {
      T.dom.byId('head').append(el('p', { class: 'error' }, `The data of this page cannot be read: ${error.message}`));
      return;
    }
    header(page.data);
    watchTheme();
    document.addEventListener('keydown', keys);
    T.route.start(show);
  }

  if (globalThis.document) document.addEventListener('DOMContentLoaded', start);
})((globalThis.Tutti = globalThis.Tutti || {}));
