// What the plots of a run show, as numbers.
//
// A performance profile (Dolan and Moré, "Benchmarking optimization software with performance profiles", 2002): for each method the share
// of instances that it solves within a factor tau of the best method. An instance counts if at least two methods were asked and one solved
// it; a failure is never within any factor. Times below a millisecond count as a millisecond: what is less is noise.
(function (T) {
  'use strict';

  const leastSeconds = 1e-3;

  // What was asked, never what was found: of a killed task nothing was.
  const task = (row) => [T.data.label(row), row.asked_chunks, row.asked_bytes, row.seed].join('\n');

  function measured(row, measure) {
    if (T.data.failed(row) || !T.format.known(row[measure])) return Infinity;
    return measure === 'seconds' ? Math.max(row.seconds, leastSeconds) : row[measure];
  }

  // Map from task to Map from method to its best value.
  function tasks(rows, measure) {
    const found = new Map();
    for (const row of rows) {
      const id = task(row);
      if (!found.has(id)) found.set(id, new Map());
      const method = T.data.asked(row);
      found.get(id).set(method, Math.min(measured(row, measure), found.get(id).get(method) ?? Infinity));
    }
    return found;
  }

  // {tasks, instances, most, curves: [{method, points: [[tau, share], …]}]}: instances are the tasks that count; points are where the steps are.
  function profile(rows, measure) {
    const found = tasks(rows, measure);
    const ratios = new Map(T.data.distinct(rows, T.data.asked).map((method) => [method, []]));
    let instances = 0;
    for (const values of found.values()) {
      const best = Math.min(...values.values());
      if (values.size < 2 || best === Infinity) continue;
      instances += 1;
      for (const [method, value] of values) {
        if (value !== Infinity) ratios.get(method).push(best > 0 ? value / best : 1);
      }
    }
    const most = Math.max(1, ...[...ratios.values()].flat());
    const curves = [...ratios].map(([method, list]) => ({ method, points: steps(list, instances, most) }));
    return { tasks: found.size, instances, most, curves };
  }

  function steps(ratios, instances, most) {
    const points = [];
    ratios.sort((a, b) => a - b);
    ratios.forEach((ratio, i) => {
      if (i + 1 === ratios.length || ratios[i + 1] !== ratio) points.push([ratio, (i + 1) / instances]);
    });
    if (points.length === 0 || points[0][0] > 1) points.unshift([1, 0]);
    if (points[points.length - 1][0] < most) points.push([most, points[points.length - 1][1]]);
    return points;
  }

  // The share at any tau: that of the last step before it.
  const shareAt = (points, tau) => points.findLast(([ratio]) => ratio <= tau)?.[1] ?? 0;

  const gapEdges = [0, 0.01, 0.05, 0.1, 0.25, 0.5, 1];

  // How many rows have a gap of 0, up to 1 %, up to 5 %, …
  function gapBins(rows) {
    const names = ['0', '≤ 1', '≤ 5', '≤ 10', '≤ 25', '≤ 50', '≤ 100', 'more'];
    const counts = names.map(() => 0);
    for (const row of rows) {
      if (T.data.failed(row) || !T.format.known(row.gap)) continue;
      const bin = gapEdges.findIndex((edge) => row.gap <= edge);
      counts[bin < 0 ? gapEdges.length : bin] += 1;
    }
    return { names, counts };
  }

  const chunksOf = (row) => row.asked_chunks ?? null;

  // A line per instance, method and number of chunks that has results for several message sizes: {label, method, chunks, points: [[bytes, busbw, key], …]}; chunks
  // is null where a run leaves it to the instance. which: "all" numbers of chunks, one of them, or "best": a line takes the best of all. Of several results for one
  // size the best is taken; bestOf says over what: of "chunks" and "seeds".
  function sweeps(rows, which = 'all') {
    const lines = new Map();
    for (const row of rows) {
      if (T.data.failed(row) || !T.format.known(row.bytes) || !T.format.known(row.busbw_GBps)) continue;
      if (which !== 'all' && which !== 'best' && String(chunksOf(row)) !== which) continue;
      const id = JSON.stringify([T.data.label(row), T.data.asked(row), which === 'best' ? null : chunksOf(row)]);
      if (!lines.has(id)) lines.set(id, new Map());
      const sizes = lines.get(id);
      sizes.set(row.bytes, [...(sizes.get(row.bytes) || []), row]);
    }
    const swept = [...lines.values()].filter((sizes) => sizes.size > 1).map((sizes) => [...sizes.values()]);
    const merged = (field) => swept.flat().some((rivals) => new Set(rivals.map((row) => row[field])).size > 1);
    return {
      bestOf: [['chunks', 'asked_chunks'], ['seeds', 'seed']].filter(([, field]) => merged(field)).map(([name]) => name),
      lines: swept.map((sizes) => ({
        label: T.data.label(sizes[0][0]),
        method: T.data.asked(sizes[0][0]),
        chunks: which === 'best' ? null : chunksOf(sizes[0][0]),
        points: sizes.map((rivals) => rivals.reduce((best, row) => (row.busbw_GBps > best.busbw_GBps ? row : best)))
          .map((row) => [row.bytes, row.busbw_GBps, T.data.keyOf(row)]).sort((a, b) => a[0] - b[0]),
      })),
    };
  }

  T.profile = { profile, shareAt, gapBins, sweeps };
})((globalThis.Tutti = globalThis.Tutti || {}));
