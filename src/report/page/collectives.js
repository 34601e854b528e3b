// What became of each of several collectives: when it is finished, and how fast that is.
(function (T) {
  'use strict';

  const el = (...parts) => T.dom.el(...parts);
  const most = 200; // rows; of more, those that finish last

  // Of a task what its line says (which knows the size that was asked for), else what the view says.
  function all(row, view) {
    return row?.collectives ?? view?.collectives ?? [];
  }

  // Those to be shown, in their order.
  function shown(list) {
    if (list.length <= most) return list;
    const last = new Set([...list].sort((a, b) => b.finish - a.finish).slice(0, most));
    return list.filter((one) => last.has(one));
  }

  function columns(units) {
    const number = (id, title, text) => ({ id, title, number: true, text });
    return [
      { id: 'id', title: 'Collective', text: (one) => one.id },
      { id: 'kind', title: 'Kind', text: (one) => one.kind },
      { id: 'group', title: 'Group', text: (one) => one.group },
      number('ranks', 'Ranks', (one) => T.format.count(one.ranks)),
      number('bytes', 'Size', (one) => T.format.bytes(one.bytes)),
      number('finish', 'Finished', (one) => T.format.ticks(one.finish, units)),
      number('algbw_GBps', 'algbw', (one) => T.format.bandwidth(one.algbw_GBps)),
      number('busbw_GBps', 'busbw', (one) => T.format.bandwidth(one.busbw_GBps)),
    ];
  }

  // Null for a single collective, whose numbers are those of the task.
  function card(row, view) {
    const list = all(row, view);
    if (list.length < 2) return null;
    const some = shown(list);
    const used = columns(row?.units ?? view?.units).filter(({ id }) => some.some((one) => T.format.known(one[id])));
    const cell = (tag, column, text, value) => el(tag, { class: column.number ? 'number' : null, scope: tag === 'th' ? 'col' : null, data: { column: column.id, value: value ?? '' } }, text);
    const title = some.length < list.length ? `Collectives: the last ${T.format.count(some.length)} of ${T.format.count(list.length)} to finish` : 'Collectives';
    return el('details', { class: 'card', id: 'collectives', open: some.length <= 16 },
      el('summary', null, title),
      el('div', { class: 'scroll' }, el('table', null,
        el('thead', null, el('tr', null, ...used.map((column) => cell('th', column, column.title)))),
        el('tbody', null, ...some.map((one) => el('tr', null, ...used.map((column) => cell('td', column, column.text(one), one[column.id]))))))));
  }

  T.collectives = { all, shown, card };
})((globalThis.Tutti = globalThis.Tutti || {}));
