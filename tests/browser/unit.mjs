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
    assert.equal(T.format.ticks(488444960, 'physical'), '488.4\u00a0us');
    assert.equal(T.format.ticks(1500, 'physical'), '1.5\u00a0ns');
    assert.equal(T.format.ticks(0, 'physical'), '0');
    assert.equal(T.format.ticks(null, 'physical'), '–');
    assert.equal(T.format.ticksText(1, 'abstract'), '1 tick');
  });

  test('the labels of a time axis share a unit and differ when zoomed in', () => {
    const label = T.format.axisTicks('physical', 5e8, 1000);
    assert.equal(label(100000000), '100\u00a0us');
    assert.notEqual(label(100000000), label(100000200));
  });

  test('bandwidths have three digits', () => {
    assert.deepEqual([1.2345, 34.348, 124.4, 1234.5].map(T.format.bandwidth), ['1.23', '34.3', '124', '1235']);
  });

  test('sizes are powers of 1024, gaps percent', () => {
    assert.equal(T.format.bytes(16 * 1024 * 1024), '16\u00a0MiB');
    assert.equal(T.format.bytes(1000), '1000\u00a0B');
    assert.equal(T.format.gap(0.0416666), '4.2\u00a0%');
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

  test('a profile counts how often a method is within a factor of the best', () => {
    const row = (label, asked, makespan, failure = null) => ({ label, asked, makespan, failure, verified: failure === null });
    const rows = [row('a', 'x', 10), row('a', 'y', 20), row('b', 'x', 30), row('b', 'y', 30), row('c', 'x', null, 'time'), row('c', 'y', 5),
      row('d', 'x', 1), row('e', 'x', null, 'time'), row('e', 'y', null, 'time')];
    const { instances, most, curves } = T.profile.profile(rows, 'makespan');
    assert.equal(instances, 3); // of d only one method was asked, e nobody solved
    assert.equal(most, 2);
    assert.deepEqual(plain(curves), [{ method: 'x', points: [[1, 2 / 3], [2, 2 / 3]] }, { method: 'y', points: [[1, 2 / 3], [2, 1]] }]);
  });

  test('gaps fall into bins, failures into none', () => {
    const rows = [{ gap: 0, verified: true }, { gap: 0.01, verified: true }, { gap: 0.02, verified: true }, { gap: 3, verified: true }, { gap: 0, failure: 'bug' }];
    assert.deepEqual(plain(T.profile.gapBins(rows).counts), [1, 1, 1, 0, 0, 0, 0, 1]);
  });

  test('a sweep needs several sizes of one instance', () => {
    const row = (label, bytes, busbw) => ({ label, asked: 'x', bytes, busbw_GBps: busbw, key: `${label} ${bytes}`, verified: true });
    const lines = plain(T.profile.sweeps([row('a', 2048, 5), row('a', 1024, 3), row('b', 1024, 1)]));
    assert.deepEqual(lines, [{ name: 'a · x', points: [[1024, 3, 'a 1024'], [2048, 5, 'a 2048']] }]);
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

  test('a hull goes round its points', () => {
    assert.equal(T.geometry.hull([[0, 0], [1, 0], [1, 1], [0, 1], [0.5, 0.5]]).length, 4);
    const square = T.geometry.hull([[0, 0], [1, 0], [1, 1], [0, 1]]);
    assert.ok(T.geometry.within(square, 0.5, 0.5, 0));
    assert.ok(!T.geometry.within(square, 2, 0.5, 0.1));
  });
}
