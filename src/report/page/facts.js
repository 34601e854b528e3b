// The numbers of one task, as tiles and sentences.
(function (T) {
  'use strict';

  const el = (...parts) => T.dom.el(...parts);

  function tile(name, title, text, value, more) {
    return el('div', { class: `tile ${more || ''}`.trim(), data: { fact: name, value: value ?? '' } }, el('dt', null, title), el('dd', null, text));
  }

  function gapOf(view) {
    if (!T.format.known(view.makespan) || !(view.lower_bound > 0)) return null;
    return (view.makespan - view.lower_bound) / view.lower_bound;
  }

  // [name, title, text, value] of what is known; row or view may be null.
  function facts(row, view) {
    const failed = row !== null && T.data.failed(row);
    // Of a failed row 0 means that nobody knows; such a tile has the table's dash.
    const counted = (name, title, value) => (failed && !view && value === 0 ? [name, title, T.format.none, ''] : [name, title, T.format.count(value), value]);
    const from = { ...view, ...row };
    const { units } = from;
    const gap = row && T.format.known(row.gap) ? row.gap : gapOf(from);
    const word = units === 'physical' ? '' : ' ticks';
    return [
      ['makespan', 'Makespan', `${T.format.ticks(from.makespan, units)}${word}`, from.makespan],
      ['lower_bound', `Bound${from.bound_kind ? ` (${from.bound_kind})` : ''}`, `${T.format.ticks(from.lower_bound, units)}${word}`, from.lower_bound],
      ['gap', 'Gap', T.format.gap(gap), gap],
      ['status', 'Status', row ? T.columns.statusText(row) : T.format.none, row && T.data.status(row)],
      ['method', 'Method', row ? T.columns.method(row) : T.format.none, row && T.data.asked(row)],
      counted('sends', 'Sends', view ? view.sends.total : row?.sends),
      counted('groups', 'Groups', view ? view.groups.length : row?.groups),
      counted('npus', 'NPUs', from.npus),
      ['bytes', 'Size', T.format.bytes(row?.bytes), row?.bytes],
      ['algbw', 'algbw', `${T.format.bandwidth(row?.algbw_GBps)} GB/s`, row?.algbw_GBps],
      ['busbw', 'busbw', `${T.format.bandwidth(row?.busbw_GBps)} GB/s`, row?.busbw_GBps],
      ['seconds', failed ? 'Ended after' : 'Solved in', `${T.format.seconds(row?.seconds)} s`, row?.seconds],
      ['memory', 'Memory', T.format.memory(row?.peak_memory_bytes), row?.peak_memory_bytes],
    ].filter(([, , , value]) => T.format.known(value));
  }

  const tiles = (row, view) => el('dl', { class: 'tiles facts' }, ...facts(row, view).map((fact) => tile(...fact)));

  function summaryTiles(rows) {
    const sum = T.data.summary(rows);
    return el('dl', { class: 'tiles', id: 'summary' },
      tile('tasks', 'Tasks', T.format.count(sum.tasks), sum.tasks),
      tile('verified', 'Verified', T.format.count(sum.verified), sum.verified),
      tile('optimal', 'Proven optimal', T.format.count(sum.optimal), sum.optimal),
      tile('failed', 'Failed', `${sum.failed > 0 ? '✕ ' : ''}${T.format.count(sum.failed)}`, sum.failed, sum.failed > 0 ? 'bad' : ''),
      tile('gap', 'Mean gap', T.format.gap(sum.gap), sum.gap));
  }

  T.facts = { tiles, summaryTiles };
})((globalThis.Tutti = globalThis.Tutti || {}));
