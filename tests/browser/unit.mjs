// The page's pure functions, without a browser: numbers as text, order of names and rows, performance profiles, what is in flight.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import vm from 'node:vm';

// The page's namespace. Defining it needs no document.
function load(folder) {
  const context = vm.createContext({ Intl });
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.js')).sort()) {
    vm.runInContext(readFileSync(join(folder, file), 'utf8'), context, { filename: file });
  }
  return context.Tutti;
}

const plain = (value) => JSON.parse(JSON.stringify(value)); // what another realm made is not deepEqual to ours

export function unitTests(pageFolder) {
  const T = load(pageFolder);

  test('times are read in their units', () => {
    assert.equal(T.format.ticks(25, 'abstract'), '25');
    assert.equal(T.format.ticks(1234567, 'abstract'), '1\u202f234\u202f567');
    assert.equal(T.format.ticks(488444960, 'physical'), '488.44\u00a0us');
    assert.equal(T.format.ticks(1500, 'physical'), '1.5\u00a0ns');
    assert.equal(T.format.ticks(0, 'physical'), '0\u00a0ps');
    assert.equal(T.format.ticks(null, 'physical'), '–');
    assert.equal(T.format.ticksText(1, 'abstract'), '1 tick');
    assert.equal(T.format.ticksText(1500, 'physical'), '1\u202f500 ticks (1.5\u00a0ns)');
    assert.equal(T.format.ticksText(0, 'physical'), '0 ticks');
  });

  test('what is half way goes to the even digit, as in the command', () => {
    assert.deepEqual([0.0625, 0.1875, 0.0015].map(T.format.gap), ['6.2\u00a0%', '18.8\u00a0%', '0.1\u00a0%']);
    assert.equal(T.format.ticks(100125, 'physical'), '100.12\u00a0ns');
    assert.equal(T.format.seconds(0.0625), '0.062');
    assert.deepEqual([12.25, 124.5].map(T.format.bandwidth), ['12.2', '124']);
  });

  test('digits that a number has lost are not shown', () => {
    assert.equal(T.format.ticks(2 ** 53 - 1, 'abstract'), '9\u202f007\u202f199\u202f254\u202f740\u202f991');
    assert.equal(T.format.ticks(9007199254740993, 'abstract'), '~9.00720e+15');
    assert.equal(T.format.count(1e22), '~1.00000e+22');
  });

  test('the labels of a time axis share a unit and differ when zoomed in', () => {
    const label = T.format.axisTicks('physical', 5e8, 1000);
    assert.equal(label(100000000), '100\u00a0us');
    assert.notEqual(label(100000000), label(100000200));
  });

  test('of collectives a task shows what its line says, and of many those that finish last, in their order', () => {
    const list = Array.from({ length: 300 }, (_, i) => ({ id: `c${i}`, finish: i % 2 === 0 ? 1000 + i : i }));
    assert.equal(T.collectives.all({ collectives: list }, { collectives: [] }), list);
    assert.equal(T.collectives.all({ collectives: null }, { collectives: list }), list);
    assert.equal(T.collectives.all(null, null).length, 0);
    assert.equal(T.collectives.shown(list.slice(0, 200)).length, 200);
    const shown = T.collectives.shown(list);
    assert.equal(shown.length, 200);
    assert.equal(shown.filter((one) => one.finish >= 1000).length, 150);
    assert.deepEqual(plain(shown.map((one) => one.id)), plain(list.filter((one) => one.finish >= 1000 || one.finish >= 200).map((one) => one.id)));
    assert.equal(T.collectives.card({ collectives: list.slice(0, 1) }, null), null);
  });

  test('bandwidths have three digits', () => {
    assert.deepEqual([1.2345, 9.996, 34.348, 99.96, 124.4, 1234.6].map(T.format.bandwidth), ['1.23', '10.0', '34.3', '100', '124', '1235']);
  });

  test('sizes and memory are powers of 1024, gaps percent', () => {
    assert.equal(T.format.bytes(16 * 1024 * 1024), '16\u00a0MiB');
    assert.equal(T.format.bytes(1000), '1000\u00a0B');
    assert.deepEqual([999, 8192000, 1023487, 1023488, 51257344].map(T.format.memory), ['999', '7.81', '999', '0.976', '48.9'].map((text, i) => `${text}\u00a0${['B', 'MiB', 'KiB', 'MiB', 'MiB'][i]}`));
    assert.equal(T.format.gap(0.0416666), '4.2\u00a0%');
    assert.equal(T.format.gap(0), '0.0\u00a0%');
    assert.equal(T.format.gap(0.0004), '<0.1\u00a0%');
    assert.equal(T.format.gap(null), '–');
  });

  test('text becomes no HTML', () => {
    assert.equal(T.format.escapeHtml('<img src=x onerror="a(\'b\')">&'), '&lt;img src=x onerror=&quot;a(&#39;b&#39;)&quot;&gt;&amp;');
  });

  test('numbers in names count as numbers', () => {
    assert.deepEqual(['mesh16x16', 'mesh4x4', 'ring', 'mesh4x10'].sort(T.format.natural), ['mesh4x4', 'mesh4x10', 'mesh16x16', 'ring']);
  });

  test('rows without a value are last in both directions, equal rows keep their order', () => {
    const rows = [{ n: 0, v: 2 }, { n: 1, v: null }, { n: 2, v: 1 }, { n: 3, v: 2 }, { n: 4 }];
    const order = (descending) => plain(T.data.sorted(rows, (row) => row.v, descending).map((row) => row.n));
    assert.deepEqual(order(false), [2, 0, 3, 1, 4]);
    assert.deepEqual(order(true), [0, 3, 2, 1, 4]);
  });

  test('infeasible is no failure where it is the right answer', () => {
    const row = { status: 'infeasible', error: 'chunk 1 cannot get to NPU 0', verified: false, makespan: null };
    assert.equal(T.data.failed({ ...row, failure: null }), false);
    assert.equal(T.data.status({ ...row, failure: null }), 'infeasible');
    assert.equal(T.data.failed({ ...row, failure: 'infeasible' }), true);
    assert.equal(T.data.failed({ ...row, status: 'unknown', failure: null }), true);
    assert.equal(T.data.failed({ status: 'feasible', makespan: 3, verified: false, failure: null }), true);
  });

  test('where few columns are in sight those that matter are first, and none is lost', () => {
    const ids = T.columns.narrow.map(({ id }) => id);
    assert.deepEqual(plain(ids.slice(0, 4)), ['instance', 'gap', 'status', 'makespan']);
    assert.deepEqual(plain(ids).sort(), plain(T.columns.all.map(({ id }) => id)).sort());
  });

  test('a profile counts how often a method is within a factor of the best', () => {
    const row = (label, asked, makespan, failure = null) => ({ label, asked, makespan, failure, verified: failure === null });
    const rows = [row('a', 'x', 10), row('a', 'y', 20), row('b', 'x', 30), row('b', 'y', 30), row('c', 'x', null, 'time'), row('c', 'y', 5),
      row('d', 'x', 1), row('e', 'x', null, 'time'), row('e', 'y', null, 'time')];
    const { tasks, instances, most, curves } = T.profile.profile(rows, 'makespan');
    assert.equal(tasks, 5);
    assert.equal(instances, 3); // of d only one method was asked, e nobody solved
    assert.equal(most, 2);
    assert.deepEqual(plain(curves), [{ method: 'x', points: [[1, 2 / 3], [2, 2 / 3]] }, { method: 'y', points: [[1, 2 / 3], [2, 1]] }]);
  });

  test('a task that was killed is the same task, and counts against its method', () => {
    const row = (label, asked, more) => ({ label, asked, asked_chunks: 2, asked_bytes: 64, seed: 1, chunks: 32, bytes: 64, makespan: 7, verified: true, failure: null, ...more });
    const killed = { chunks: 0, bytes: null, makespan: null, verified: false, failure: 'memory' };
    const { instances, curves } = T.profile.profile([row('a', 'x'), row('a', 'y'), row('b', 'x', killed), row('b', 'y')], 'makespan');
    assert.equal(instances, 2);
    assert.deepEqual(plain(curves), [{ method: 'x', points: [[1, 0.5]] }, { method: 'y', points: [[1, 1]] }]);
  });

  test('a curve has a value everywhere', () => {
    const points = [[1, 0.25], [1.5, 0.5], [3, 1]];
    assert.deepEqual([0.9, 1, 1.49, 1.5, 2, 9].map((tau) => T.profile.shareAt(points, tau)), [0, 0.25, 0.25, 0.5, 0.5, 1]);
  });

  test('gaps fall into bins, failures into none', () => {
    const rows = [{ gap: 0, verified: true }, { gap: 0.01, verified: true }, { gap: 0.02, verified: true }, { gap: 3, verified: true }, { gap: 0, failure: 'bug' }];
    assert.deepEqual(plain(T.profile.gapBins(rows).counts), [1, 1, 1, 0, 0, 0, 0, 1]);
  });

  test('a sweep needs several sizes of one instance', () => {
    const row = (label, bytes, busbw, seed = 1) => ({ label, asked: 'x', bytes, busbw_GBps: busbw, seed, key: `${label} ${bytes} ${seed}`, verified: true });
    const rows = [row('a', 2048, 5), row('a', 1024, 3), row('b', 1024, 1), row('b', 1024, 2, 2)];
    assert.deepEqual(plain(T.profile.sweeps(rows)), { bestOf: [], lines: [{ label: 'a', method: 'x', chunks: null, points: [[1024, 3, 'a 1024 1'], [2048, 5, 'a 2048 1']] }] });
    const { bestOf, lines } = plain(T.profile.sweeps([...rows, row('a', 1024, 4, 2)]));
    assert.deepEqual(bestOf, ['seeds']);
    assert.deepEqual(lines[0].points[0], [1024, 4, 'a 1024 2']);
  });

  test('every number of chunks is a line of a sweep, unless the best or one of them is asked for', () => {
    const rows = [1, 2, 4].flatMap((chunks) => [1024, 2048].map((bytes) => ({ label: 'a', asked: 'x', asked_chunks: chunks, bytes, busbw_GBps: bytes === 1024 ? 9 - chunks : chunks, seed: 1,
      key: `${chunks} ${bytes}`, verified: true })));
    const swept = (which) => plain(T.profile.sweeps(rows, which));
    assert.deepEqual(swept('all').lines.map(({ chunks, points }) => [chunks, ...points.map(([, busbw]) => busbw)]), [[1, 8, 1], [2, 7, 2], [4, 5, 4]]);
    assert.deepEqual(swept('all').bestOf, []);
    assert.deepEqual(swept('2').lines.map(({ chunks }) => chunks), [2]);
    assert.deepEqual(swept('best'), { bestOf: ['chunks'], lines: [{ label: 'a', method: 'x', chunks: null, points: [[1024, 8, '1 1024'], [2048, 4, '4 2048']] }] });
  });

  test('what is in flight has started and not arrived', () => {
    const view = { x: [0, 1], links: { src: [0], dst: [1] }, sends: { chunk: [0, 1, 2], link: [0, 0, 0], start: [0, 2, 4], free: [2, 4, 6], arrive: [7, 5, 7], group: [0, 0, 0] } };
    const sends = T.sends.prepare(view);
    const seen = (time) => { const list = []; const count = T.sends.inFlight(sends, time, (i, share) => list.push([i, share])); assert.equal(count, list.length); return list; };
    assert.deepEqual(seen(0), [[0, 0]]);
    assert.deepEqual(seen(3.5), [[0, 0.5], [1, 0.5]]);
    assert.deepEqual(seen(5), [[0, 5 / 7], [2, 1 / 3]]);
    assert.deepEqual(seen(7), []);
    assert.equal(T.sends.received(sends, 1, 6), 1);
    assert.equal(T.sends.received(sends, 1, 7), 3);
  });

  test('the timeline draws each send where they are few, and none by itself where they are many', () => {
    const n = 100000;
    const numbers = (make) => Array.from({ length: n }, (_, i) => make(i));
    const view = { x: [0, 1], links: { src: [0, 1], dst: [1, 0] }, sends: { chunk: numbers((i) => i), link: numbers((i) => i % 2), start: numbers((i) => i >> 1),
      free: numbers((i) => (i >> 1) + 1), arrive: numbers((i) => (i >> 1) + 2), group: numbers((i) => (i >> 3) % 5) } };
    const sends = T.sends.prepare(view);
    const runs = (from, to) => T.runs.ofSends(sends, [0, 1], { from, to, firstRow: 0, lastRow: 1 }, (to - from) / 800);
    assert.equal(runs(0, n / 2), null);
    assert.equal(runs(0, 3200).reduce((sum, run) => sum + run[5], 0), 2 * 3201);
    assert.equal(runs(0, 3200).length, 2 * 801); // four of one group in a row, a quarter of a pixel each
    assert.deepEqual(plain(runs(1000, 1009)).map((run) => run[5]), Array(22).fill(1)); // also what ends or starts at the edge of the window
    assert.equal(T.sends.onLink(sends, 1, 700.5), 1401);
    assert.equal(T.sends.onLink(sends, 1, -1), -1);
    assert.equal(T.sends.onLink(sends, 1, n), -1);
  });

  test('opposite links bulge to different sides', () => {
    const { y } = T.geometry.curves({ x: [0, 1], y: [0.5, 0.5], links: { src: [0, 1], dst: [1, 0] } });
    assert.ok((y[0] - 0.5) * (y[1] - 0.5) < 0);
  });

  test('parallel links are equally far apart, and within the edge of the drawing', () => {
    const parallel = (y) => plain([...T.geometry.curves({ x: [0, 1], y: [y, y], links: { src: Array(12).fill(0), dst: Array(12).fill(1) } }).y].map((control) => (control - y) / 2));
    const out = parallel(0.5);
    const steps = out.slice(1).map((far, i) => far - out[i]);
    assert.ok(Math.min(...steps) > 0.02 && Math.max(...steps) - Math.min(...steps) < 1e-9, String(out));
    const low = parallel(1);
    assert.ok(low.every((far, i) => far <= 0.08 + 1e-9 && (i === 0 || far > low[i - 1])), String(low));
  });

  test('an enlarged drawing fills its place wherever it is dragged', () => {
    assert.deepEqual([500, -100, -5000].map((offset) => T.geometry.clamp(offset, 400, 3)), [0, -100, -800]);
    assert.equal(Math.abs(T.geometry.clamp(70, 400, 1)), 0);
  });

  test('what is in sight of the timeline can be made narrower, wider and moved, within all of it', () => {
    assert.deepEqual(plain(T.sight.scaled([0, 100], 0.5, 1)), [25, 75]);
    assert.deepEqual(plain(T.sight.scaled([0, 10], 4, 1)), [0, 40]);
    assert.deepEqual(plain(T.sight.scaled([90, 100], 1000, 1)), [0, 100]);
    assert.deepEqual(plain(T.sight.scaled([40, 42], 0.01, 2)), [40, 42]);
    assert.deepEqual(plain(T.sight.moved([10, 30], 0.5)), [20, 40]);
    assert.deepEqual(plain(T.sight.moved([10, 30], -2)), [0, 20]);
    assert.equal(T.sight.rowsText(0, 255, 2218), 'rows 1–256 of 2\u202f218 in sight');
    assert.equal(T.sight.rowsText(0, 9, 10), '');
    assert.deepEqual([100, 260, 2218].map((count) => T.timechart.rowsAtFirst(count, 400)), [100, 260, 133]);
  });

  test('the axis of the load ends a little above the peak', () => {
    assert.deepEqual([0, 0.004, 0.0223, 0.0625, 0.1, 0.3, 0.51, 1].map(T.timechart.topOf), [1, 0.005, 0.05, 0.1, 0.1, 0.5, 1, 1]);
  });

  test('in a picture, sends and rows of three pixels have gaps between them, narrower ones are whole', () => {
    const bars = (wide) => Array.from({ length: 50 }, (_, i) => plain(T.pictures.bar(i * wide, (i + 1) * wide)));
    for (const wide of [3.2, 4.7, 30]) assert.ok(bars(wide).every(([, end], i, all) => i === 49 || all[i + 1][0] - end === 1), String(wide));
    for (const wide of [0.3, 1, 1.7]) assert.ok(bars(wide).every(([first, end], i, all) => end > first && (i === 49 || all[i + 1][0] <= end)), String(wide));
  });

  test('groups of the same colour have different hatches', () => {
    const picture = (group) => { let text = ''; for (let y = 0; y < 12; y += 1) for (let x = 0; x < 12; x += 1) text += T.colours.hatch(group)(x, y) ? 1 : 0; return text; };
    assert.equal(picture(7), '0'.repeat(144));
    assert.equal(new Set([0, 8, 16, 24, 32, 40].map(picture)).size, 6);
  });

  test('a hull goes round its points', () => {
    assert.equal(T.geometry.hull([[0, 0], [1, 0], [1, 1], [0, 1], [0.5, 0.5]]).length, 4);
    const square = T.geometry.hull([[0, 0], [1, 0], [1, 1], [0, 1]]);
    assert.ok(T.geometry.within(square, 0.5, 0.5, 0));
    assert.ok(!T.geometry.within(square, 2, 0.5, 0.1));
  });
}
