// The columns of the table of results: what a cell says, what it is sorted by, and the raw value it carries in data-value.
(function (T) {
  'use strict';

  const statusMarks = { optimal: '✓', feasible: '○', failed: '✕', infeasible: '∅' };

  function method(row) {
    const asked = T.data.asked(row);
    return row.method && row.method !== asked ? `${asked} → ${row.method}` : asked || T.format.none;
  }

  function statusText(row) {
    const status = T.data.status(row);
    const mark = statusMarks[status] ? `${statusMarks[status]} ` : '';
    if (status === 'failed') return `${mark}failed${row.failure ? `: ${row.failure}` : ''}`;
    return mark + status + (row.stopped ? ', stopped' : '');
  }

  // What a reader may want to know of the status: the error, or why it is (not) known to be optimal.
  const statusTitle = (row) => row.error || row.proof || null;

  const number = (id, title, text, about) => ({ id, title, about, number: true, value: (row) => row[id] ?? null, text });
  const time = (id, title, about) => number(id, title, (row) => T.format.ticks(row[id], row.units), about);

  const all = [
    { id: 'instance', title: 'Instance', value: (row) => T.data.label(row), about: 'family and name' },
    { id: 'method', title: 'Method', value: method, about: 'asked for → what made the schedule' },
    { id: 'collective', title: 'Collective', value: (row) => row.collective ?? null },
    { ...number('npus', 'NPUs', (row) => T.format.count(row.npus || null)), value: (row) => row.npus || null }, // 0 where the instance could not be read
    number('bytes', 'Size', (row) => T.format.bytes(row.bytes), 'of a call, as nccl-tests counts it'),
    time('makespan', 'Makespan', 'in ticks, or in units of time where a tick is 1 ps'),
    time('lower_bound', 'Bound', 'no schedule is shorter'),
    number('gap', 'Gap', (row) => T.format.gap(row.gap), '(makespan - bound) / bound'),
    number('algbw_GBps', 'algbw', (row) => T.format.bandwidth(row.algbw_GBps), 'GB/s: bytes over makespan'),
    number('busbw_GBps', 'busbw', (row) => T.format.bandwidth(row.busbw_GBps), "GB/s: algbw times nccl-tests' factor"),
    number('seconds', 'Seconds', (row) => T.format.seconds(row.seconds), 'of the synthesis, wall clock'),
    number('peak_memory_bytes', 'Memory', (row) => T.format.memory(row.peak_memory_bytes), 'peak'),
    { id: 'status', title: 'Status', value: statusText, hint: statusTitle },
  ];
  for (const column of all) column.text = column.text || ((row) => column.value(row) ?? T.format.none);

  // Where only few columns are in sight at a time, what matters most comes first.
  const first = ['instance', 'gap', 'status', 'makespan'];
  const narrow = [...first.map((id) => all.find((column) => column.id === id)), ...all.filter(({ id }) => !first.includes(id))];

  T.columns = { all, narrow, method, statusText };
})((globalThis.Tutti = globalThis.Tutti || {}));
