// The table of results: sorted by a click on a head, in pages where there are many rows.
(function (T) {
  'use strict';

  const el = (...parts) => T.dom.el(...parts);
  const rowsAtOnce = 500; // more than this are shown in pages
  const pageRows = 200;

  class Table {
    constructor(parent) {
      this.sort = { column: null, descending: false };
      this.rows = [];
      this.first = 0;
      this.heads = T.columns.all.map((column) => this.head(column));
      this.body = el('tbody');
      this.pager = el('nav', { class: 'pager', 'aria-label': 'Pages of the table', hidden: true });
      const table = el('table', { id: 'table' },
        el('caption', { class: 'unseen' }, 'Results, one row per task. Each head sorts.'),
        el('thead', null, el('tr', null, ...this.heads)), this.body);
      parent.append(el('div', { class: 'scroll', id: 'table-box', tabindex: 0, role: 'region', 'aria-label': 'Table of results' }, table), this.pager);
      this.body.addEventListener('click', (event) => this.opened(event));
    }

    head(column) {
      const button = el('button', { type: 'button', title: column.about, on: { click: () => this.sortBy(column) } }, column.title,
        el('span', { class: 'arrow', 'aria-hidden': 'true' }));
      return el('th', { scope: 'col', 'aria-sort': 'none', class: column.number ? 'number' : null, data: { column: column.id } }, button);
    }

    // First upwards, then downwards.
    sortBy(column) {
      this.sort = { column, descending: this.sort.column === column && !this.sort.descending };
      this.heads.forEach((head, i) => {
        const mine = T.columns.all[i] === column;
        head.setAttribute('aria-sort', mine ? (this.sort.descending ? 'descending' : 'ascending') : 'none');
      });
      this.show(this.unsorted);
    }

    show(rows) {
      this.unsorted = rows;
      const { column, descending } = this.sort;
      this.rows = column ? T.data.sorted(rows, column.value, descending) : rows;
      this.turnTo(0);
    }

    turnTo(first) {
      const paged = this.rows.length > rowsAtOnce;
      this.first = first;
      const shown = paged ? this.rows.slice(first, first + pageRows) : this.rows;
      this.body.replaceChildren(...shown.map((row) => this.row(row)));
      if (shown.length === 0) {
        this.body.append(el('tr', null, el('td', { colspan: T.columns.all.length, class: 'empty' }, 'No row passes the filters.')));
      }
      this.pager.hidden = !paged;
      if (paged) this.fillPager();
      T.dom.byId('table-box').scrollTop = 0;
    }

    fillPager() {
      const last = Math.min(this.first + pageRows, this.rows.length);
      const turn = (name, text, to, off) => el('button', { type: 'button', data: { turn: name }, disabled: off, on: { click: () => this.turnTo(to) } }, text);
      this.pager.replaceChildren(
        turn('back', '← Previous', Math.max(0, this.first - pageRows), this.first === 0),
        el('span', null, `rows ${this.first + 1}–${last} of ${this.rows.length}`),
        turn('on', 'Next →', this.first + pageRows, last === this.rows.length));
    }

    row(row) {
      const failed = T.data.failed(row);
      const cells = T.columns.all.map((column) => {
        const value = column.value(row);
        const attributes = { class: column.number ? 'number' : `text-${column.id}`, data: { column: column.id, value: value ?? '' } };
        if (column.id === 'instance') return el('td', attributes, ...this.name(row));
        return el('td', { ...attributes, title: column.hint ? column.hint(row) : null }, column.text(row));
      });
      return el('tr', { class: failed ? 'failed' : null, data: { key: T.data.keyOf(row), status: T.data.status(row) } }, ...cells);
    }

    name(row) {
      const detail = T.columns.detail(row);
      return [
        el('a', { href: T.route.hashOf(T.data.keyOf(row)), title: row.error || T.data.keyOf(row) }, T.data.label(row)),
        detail === '' ? null : el('small', null, ` ${detail}`),
      ];
    }

    // A click anywhere in a row opens it, unless text is being selected.
    opened(event) {
      const row = event.target.closest('tr[data-key]');
      if (!row || event.target.closest('a') || String(window.getSelection()) !== '') return;
      T.route.open(row.dataset.key);
    }
  }

  T.Table = Table;
})((globalThis.Tutti = globalThis.Tutti || {}));
