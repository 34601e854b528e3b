// The page's data (docs/report.md): reading, and what can be said of rows without drawing them.
(function (T) {
  'use strict';

  const F = () => T.format;

  // What a run can vary over its instances, and of that what this one does.
  const askedOf = { method: (row) => asked(row), chunks: (row) => row.asked_chunks, bytes: (row) => row.asked_bytes, seed: (row) => row.seed };
  let varied = [];

  function read(document) {
    const data = JSON.parse(document.getElementById('tutti-data').textContent);
    if (data.version !== 1) throw new Error(`this page can draw data of version 1, not ${data.version}`);
    // Lines come in the order in which tasks ended, which means nothing to a reader.
    data.rows.sort((a, b) => F().natural(keyOf(a), keyOf(b)));
    varied = Object.entries(askedOf).filter(([, value]) => new Set(data.rows.map(value)).size > 1);
    return data;
  }

  // As the command has it (batch/read_run.cpp): "infeasible" can be the right answer, and then its error is none.
  const failed = (row) => F().known(row.failure) || (F().known(row.error) && row.status !== 'infeasible') || (F().known(row.makespan) && row.verified === false);
  const asked = (row) => row.asked || row.method || '';
  const label = (row) => row.label || row.instance || row.key || '';
  const keyOf = (row) => row.key || label(row);

  // "optimal", "feasible", …; of a failed row what failed.
  function status(row) {
    if (failed(row)) return 'failed';
    return row.status || 'unknown';
  }

  // What was asked otherwise than of other rows: "method=greedy seed=2"; but not what is said elsewhere.
  function variant(row, but = []) {
    return varied.filter(([name, value]) => !but.includes(name) && F().known(value(row))).map(([name, value]) => `${name}=${value(row)}`).join(' ');
  }
  const named = (row, but) => `${label(row)} ${variant(row, but)}`.trim();

  function summary(rows) {
    const gaps = rows.filter((row) => !failed(row) && F().known(row.gap)).map((row) => row.gap);
    return {
      tasks: rows.length,
      verified: rows.filter((row) => row.verified === true).length,
      optimal: rows.filter((row) => status(row) === 'optimal').length,
      failed: rows.filter(failed).length,
      gap: gaps.length > 0 ? gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length : null,
    };
  }

  // The different values of a field in natural order.
  function distinct(rows, value) {
    return [...new Set(rows.map(value).filter((text) => text !== ''))].sort(F().natural);
  }

  // filter: text (every word of it must occur), method, collective, status; an empty one lets everything pass.
  function filtered(rows, filter) {
    const words = (filter.text || '').toLowerCase().split(/\s+/).filter((word) => word !== '');
    return rows.filter((row) => {
      if (filter.method && asked(row) !== filter.method) return false;
      if (filter.collective && (row.collective || '') !== filter.collective) return false;
      if (filter.status && status(row) !== filter.status && `failed: ${row.failure}` !== filter.status) return false;
      if (words.length === 0) return true;
      const text = [keyOf(row), label(row), row.method, asked(row), row.collective, status(row), row.failure, row.error]
        .join(' ').toLowerCase();
      return words.every((word) => text.includes(word));
    });
  }

  // A sorted copy. Rows without a value come last whatever the direction; equal ones keep their order.
  function sorted(rows, value, descending) {
    const sign = descending ? -1 : 1;
    const keyed = rows.map((row) => [value(row), row]);
    keyed.sort(([a], [b]) => {
      const hasA = F().known(a);
      const hasB = F().known(b);
      if (!hasA || !hasB) return Number(hasB) - Number(hasA);
      return sign * (typeof a === 'string' || typeof b === 'string' ? F().natural(String(a), String(b)) : a - b);
    });
    return keyed.map(([, row]) => row);
  }

  T.data = { read, failed, asked, label, keyOf, status, variant, named, summary, distinct, filtered, sorted };
})((globalThis.Tutti = globalThis.Tutti || {}));
