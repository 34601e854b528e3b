// The bar above table and plots: words, and a choice each of method, collective and status.
(function (T) {
  'use strict';

  const el = (...parts) => T.dom.el(...parts);

  function choice(name, title, values, changed) {
    const select = el('select', { id: `filter-${name}`, on: { change: changed } },
      el('option', { value: '' }, 'all'), ...values.map((value) => el('option', { value }, value)));
    return { select, box: el('label', null, el('span', null, title), select) };
  }

  // "failed" is offered whole, and by kind where there are several.
  function statuses(rows) {
    const kinds = T.data.distinct(rows.filter(T.data.failed), (row) => (row.failure ? `failed: ${row.failure}` : ''));
    return [...T.data.distinct(rows, T.data.status), ...(kinds.length > 1 ? kinds : [])];
  }

  // Calls changed(filter) after every change; returns a function that says how many rows are left.
  function build(parent, rows, changed) {
    const text = el('input', { id: 'filter-text', type: 'search', placeholder: 'words of name, method, error …', autocomplete: 'off', spellcheck: 'false' });
    const left = el('output', { id: 'row-count', 'aria-live': 'polite' });
    const boxes = {
      method: choice('method', 'Method', T.data.distinct(rows, T.data.asked), tell),
      collective: choice('collective', 'Collective', T.data.distinct(rows, (row) => row.collective || ''), tell),
      status: choice('status', 'Status', statuses(rows), tell),
    };
    const clear = el('button', { type: 'button', id: 'filter-clear', hidden: true, on: { click: reset } }, 'Clear');
    text.addEventListener('input', tell);
    parent.append(el('form', { class: 'filters', role: 'search', on: { submit: (event) => event.preventDefault() } },
      el('label', { class: 'wide' }, el('span', null, 'Filter'), text),
      ...Object.values(boxes).map(({ box }) => box), clear, left));

    function tell() {
      const filter = { text: text.value };
      for (const [name, { select }] of Object.entries(boxes)) filter[name] = select.value;
      clear.hidden = Object.values(filter).every((value) => value === '');
      changed(filter);
    }
    function reset() {
      text.value = '';
      Object.values(boxes).forEach(({ select }) => { select.value = ''; });
      tell();
      text.focus();
    }
    return (count) => {
      const all = T.format.counted(rows.length, 'row');
      left.textContent = count === rows.length ? all : `${T.format.count(count)} of ${all}`;
      left.dataset.value = count;
    };
  }

  T.filters = { build };
})((globalThis.Tutti = globalThis.Tutti || {}));
