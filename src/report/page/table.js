// The table of results: sorted by a click on a head, in pages where there are many rows.
(function (T) {
  'use strict';

  const el = (...parts) => T.dom.el(...parts);
  const rowsAtOnce = 500; // more than this are shown in pages
  const pageRows = 200;

  class Table {
    // rows: of the whole run, before filters.
    constructor(parent, rows) {
      this.none = rows.length === 0 ? 'No results yet.' : 'No row passes the filters.';
      this.sort = { column: null, descending: false };
      this.unsorted = rows;
      this.first = 0;
      this.heads = el('tr');
      this.body = el('tbody');
      this.pager = el('nav', { class: 'pager', 'aria-label': 'Pages of the table', hidden: true });
      const table = el('table', { id: 'table' },
        el('caption', { class: 'unseen' }, 'Results, one row per task. Each head sorts.'),
        el('thead', null, this.heads), this.body);
      this.box = el('div', { class: 'scroll', id: 'table-box', tabindex: 0, role: 'region', 'aria-label': 'Table of results', on: { scroll: () => this.markEdges() } }, table);
      this.frame = el('div', { class: 'frame' }, this.box);
      parent.append(this.frame, this.pager);
      this.body.addEventListener('click', (event) => this.opened(event));
      this.narrow = matchMedia('screen and (max-width: 800px)');
      this.narrow.addEventListener('change', () => this.arrange());
      new ResizeObserver(() => this.markEdges()).observe(this.box);
      this.arrange();
    }

    // The columns in the order for this width.
    arrange() {
      this.columns = this.narrow.matches ? T.columns.narrow : T.columns.all;
      this.heads.replaceChildren(...this.columns.map((column) => this.head(column)));
      this.show(this.unsorted);
    }

    // Which sides have columns out of sight.
    markEdges() {
      const { scrollLeft, scrollWidth, clientWidth } = this.box;
      this.frame.classList.toggle('more-left', scrollLeft > 1);
      this.frame.classList.toggle('more-right', scrollLeft + clientWidth < scrollWidth - 1);
    }

    head(column) {
      const button = el('button', { type: 'button', title: column.about, on: { click: () => this.sortBy(column) } }, column.title,
        el('span', { class: 'arrow', 'aria-hidden': 'true' }));
      return el('th', { scope: 'col', 'aria-sort': this.order(column), class: column.number ? 'number' : null, data: { column: column.id } }, button);
    }

    // First upwards, then downwards.
    sortBy(column) {
      this.sort = { column, descending: this.sort.column === column && !this.sort.descending };
      [...this.heads.cells].forEach((head, i) => head.setAttribute('aria-sort', this.order(this.columns[i])));
      this.show(this.unsorted);
    }

    order(column) {
      if (this.sort.column !== column) return 'none';
      return this.sort.descending ? 'descending' : 'ascending';
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
        this.body.append(el('tr', null, el('td', { colspan: this.columns.length, class: 'empty' }, this.none)));
      }
      this.pager.hidden = !paged;
      if (paged) this.fillPager();
      this.box.scrollTop = 0;
      this.markEdges();
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
      const cells = this.columns.map((column) => {
        const value = column.value(row);
        const attributes = { class: column.number ? 'number' : `text-${column.id}`, data: { column: column.id, value: value ?? '' } };
        if (column.id === 'instance') return el('td', attributes, this.name(row));
        return el('td', { ...attributes, title: column.hint ? column.hint(row) : null }, column.text(row));
      });
      return el('tr', { class: failed ? 'failed' : null, data: { key: T.data.keyOf(row), status: T.data.status(row) } }, ...cells);
    }

    // The label, and what is varied: without the method and the size where their columns are in sight.
    name(row) {
      const variant = T.data.variant(row, this.narrow.matches ? [] : ['method', 'bytes']);
      return el('div', { class: 'name' },
        el('a', { href: T.route.hashOf(T.data.keyOf(row)), title: row.error || T.data.keyOf(row) }, T.data.label(row)),
        variant === '' ? null : el('small', null, variant));
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
