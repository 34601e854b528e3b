// The page of a run: its numbers are those of results.jsonl; sorting, filtering, plots.
import assert from 'node:assert/strict';
import test from 'node:test';
import { dataOf, hostile, withData, withoutCharts } from './fixture.mjs';
import { misplaced, sizes, withPage } from './browser.mjs';

const boxes = ['#head', '#summary', '.filters', '.plots .card', '#results', '.tile', '.filters label', '#row-count'];
const raw = (field) => (row) => row[field];
const columns = { npus: (row) => row.npus || null, bytes: raw('bytes'), makespan: raw('makespan'), lower_bound: raw('lower_bound'), gap: raw('gap'), algbw_GBps: raw('algbw_GBps'),
  busbw_GBps: raw('busbw_GBps'), seconds: raw('seconds'), peak_memory_bytes: raw('peak_memory_bytes'), collective: raw('collective'), instance: raw('label') };
const texts = new Set(['instance', 'method', 'collective', 'status']);

// The table as it is on the page: [{key, status, failed, values: {column: text}, shown: {column: text}}].
function table(page) {
  return page.$$eval('#table tbody tr[data-key]', (rows) => rows.map((row) => ({
    key: row.dataset.key,
    failed: row.classList.contains('failed'),
    values: Object.fromEntries([...row.cells].map((cell) => [cell.dataset.column, cell.dataset.value])),
    shown: Object.fromEntries([...row.cells].map((cell) => [cell.dataset.column, cell.textContent])),
    titles: Object.fromEntries([...row.cells].map((cell) => [cell.dataset.column, cell.title])),
  })));
}

const points = (page, plot) => page.evaluate((id) => globalThis.echarts.getInstanceByDom(document.getElementById(`plot-${id}`)).getOption().series
  .reduce((sum, series) => sum + series.data.length, 0), plot);

// What the tooltip of the first point says whose name passes.
function tip(page, box, wanted) {
  return page.evaluate(([id, test]) => {
    const chart = globalThis.echarts.getInstanceByDom(document.getElementById(id));
    const passes = globalThis.eval(test);
    chart.getOption().series.some((series, seriesIndex) => {
      const dataIndex = series.data.findIndex((point) => passes(point.name));
      if (dataIndex >= 0) chart.dispatchAction({ type: 'showTip', seriesIndex, dataIndex });
      return dataIndex >= 0;
    });
    return document.getElementById(id).innerText;
  }, [box, String(wanted)]);
}

export function reportTests(browser, made) {
  const failed = made.rows.filter((row) => row.failure !== null);
  const good = made.rows.filter((row) => row.failure === null);

  test('the table says what results.jsonl says', () => withPage(browser(), made.report, {}, async (page) => {
    const shown = new Map((await table(page)).map((row) => [row.key, row]));
    assert.equal(shown.size, made.rows.length);
    for (const row of made.rows) {
      const { values, failed: marked } = shown.get(row.key);
      assert.equal(marked, row.failure !== null, row.key);
      for (const [column, value] of Object.entries(columns)) assert.equal(values[column], String(value(row) ?? ''), `${row.key}: ${column}`);
    }
  }));

  test('the tiles are sums of results.jsonl', () => withPage(browser(), made.report, {}, async (page) => {
    const tile = (name) => page.$eval(`#summary [data-fact="${name}"]`, (node) => node.dataset.value);
    assert.equal(await tile('tasks'), String(made.rows.length));
    assert.equal(await tile('verified'), String(made.rows.filter((row) => row.verified).length));
    assert.equal(await tile('optimal'), String(good.filter((row) => row.status === 'optimal').length));
    assert.equal(await tile('failed'), String(failed.length));
    const gaps = good.map((row) => row.gap).filter((gap) => gap !== null);
    assert.ok(Math.abs(Number(await tile('gap')) - gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length) < 1e-12);
  }));

  test('a failed row says so in words, with its error', () => withPage(browser(), made.report, {}, async (page) => {
    const rows = (await table(page)).filter((row) => row.failed);
    assert.ok(rows.length >= 2);
    for (const row of rows) {
      const line = made.rows.find(({ key }) => key === row.key);
      assert.match(row.shown.status, /^✕ failed: /);
      assert.ok(row.shown.status.endsWith(line.failure));
      assert.equal(row.titles.status, line.error);
    }
    await page.click(`tr[data-key="${rows[0].key}"] a`);
    const line = made.rows.find(({ key }) => key === rows[0].key);
    assert.ok((await page.textContent('#error')).includes(line.error));
  }));

  test('every head sorts upwards and downwards, with rows without a value last', () => withPage(browser(), made.report, {}, async (page) => {
    const order = new Intl.Collator('en', { numeric: true, sensitivity: 'base' });
    const heads = await page.$$eval('#table th', (cells) => cells.map((cell) => cell.dataset.column));
    assert.equal(heads.length, 13);
    for (const column of heads) {
      for (const direction of ['ascending', 'descending']) {
        await page.click(`th[data-column="${column}"] button`);
        assert.equal(await page.getAttribute(`th[data-column="${column}"]`, 'aria-sort'), direction);
        assert.equal(await page.$$eval('th:not([aria-sort="none"])', (cells) => cells.length), 1);
        const values = (await table(page)).map((row) => row.values[column]);
        const given = values.filter((value) => value !== '');
        assert.deepEqual(values.slice(given.length), values.filter((value) => value === ''), `${column}: nulls last`);
        const sign = direction === 'ascending' ? 1 : -1;
        for (let i = 1; i < given.length; i += 1) {
          const compared = texts.has(column) ? order.compare(given[i - 1], given[i]) : Number(given[i - 1]) - Number(given[i]);
          assert.ok(sign * compared <= 0, `${column} ${direction}: ${given[i - 1]} before ${given[i]}`);
        }
      }
    }
  }));

  test('filters leave what they say, in table and plots', () => withPage(browser(), made.report, {}, async (page) => {
    const left = async () => {
      const rows = await table(page);
      assert.equal(await page.$eval('#row-count', (node) => node.dataset.value), String(rows.length));
      return rows.map((row) => row.key).sort();
    };
    const keys = (test) => made.rows.filter(test).map((row) => row.key).sort();
    await page.fill('#filter-text', 'RING4');
    assert.deepEqual(await left(), keys((row) => row.label === 'in/ring4'));
    assert.equal(await points(page, 'gap'), 2);
    await page.selectOption('#filter-method', 'greedy');
    assert.deepEqual(await left(), keys((row) => row.label === 'in/ring4' && row.asked === 'greedy'));
    await page.click('#filter-clear');
    assert.deepEqual(await left(), keys(() => true));
    assert.equal(await points(page, 'gap'), good.length);
    await page.selectOption('#filter-status', 'failed');
    assert.deepEqual(await left(), keys((row) => row.failure !== null));
    assert.equal(await points(page, 'gap'), 0);
    await page.selectOption('#filter-status', '');
    await page.selectOption('#filter-collective', 'all_gather');
    assert.deepEqual(await left(), keys((row) => row.collective === 'all_gather'));
    await page.fill('#filter-text', 'no such thing');
    assert.deepEqual(await left(), []);
    assert.match(await page.textContent('#table tbody'), /No row passes/);
  }));

  test('a click on a point opens its instance', () => withPage(browser(), made.report, {}, async (page) => {
    const [key, x, y] = await page.evaluate(() => {
      const box = document.getElementById('plot-seconds');
      const chart = globalThis.echarts.getInstanceByDom(box);
      const series = chart.getOption().series;
      const [px, py] = chart.convertToPixel({ seriesIndex: series.length - 1 }, series[series.length - 1].data[0].value);
      const rect = box.getBoundingClientRect();
      return [series[series.length - 1].data[0].value[2], rect.left + px, rect.top + py];
    });
    await page.mouse.click(x, y);
    await page.waitForSelector('#view:not([hidden]) #view-name');
    assert.equal(decodeURIComponent(new URL(page.url()).hash), `#view=${key}`);
  }));

  test('the plots can be asked for another size and measure', () => withPage(browser(), made.report, {}, async (page) => {
    const name = (plot) => page.evaluate((id) => globalThis.echarts.getInstanceByDom(document.getElementById(`plot-${id}`)).getOption().xAxis[0].name, plot);
    assert.equal(await name('gap'), 'NPUs');
    await page.selectOption('#gap-size', 'bytes');
    assert.match(await name('gap'), /bytes/);
    assert.equal(await points(page, 'gap'), good.filter((row) => row.bytes !== null).length);
    await page.selectOption('#profile-measure', 'seconds');
    assert.ok(await points(page, 'profile') >= 2);
  }));

  test('hostile names are only text', () => withPage(browser(), made.report, {}, async (page) => {
    const line = made.rows.find((row) => row.instance === hostile.name);
    assert.ok(line.label.includes(hostile.file), line.label);
    const [shown] = (await table(page)).filter((row) => row.key === line.key);
    assert.ok(shown.shown.instance.startsWith(line.label));
    assert.ok((await tip(page, 'plot-gap', (name) => name.includes('onerror'))).includes(line.label));
    await page.click('#table a:has-text("onerror")');
    assert.ok((await page.textContent('#view-name')).startsWith(hostile.name));
    assert.match(await page.textContent('#groups'), /<b>evil<\/b>/);
    await page.hover('#network');
    await page.hover('#timeline');
    assert.equal(await page.evaluate(() => document.querySelectorAll('img, #view b').length), 0);
    assert.equal(await page.evaluate(() => window.hacked), undefined);
  }));

  for (const [name, size] of Object.entries(sizes)) {
    for (const dark of [false, true]) {
      test(`nothing overlaps or sticks out, ${name} and ${dark ? 'dark' : 'light'}`, () => withPage(browser(), made.report, { size, dark }, async (page) => {
        await page.waitForSelector('#plot-gap svg');
        assert.deepEqual(await misplaced(page, boxes), []);
      }));
    }
  }

  test('without the charting library the table is there, and a word', () => {
    const file = withoutCharts(made.report, `${made.scratch}/bare.html`);
    return withPage(browser(), file, {}, async (page) => {
      assert.equal((await table(page)).length, made.rows.length);
      assert.match(await page.textContent('#no-charts'), /without its charting library/);
      await page.click('#table a:has-text("in/mesh")');
      assert.match(await page.textContent('#no-timeline'), /without its charting library/);
      await page.waitForSelector('#network canvas');
    });
  });

  test('thousands of rows come in pages', () => {
    const data = dataOf(made.report);
    const one = data.rows.find((row) => row.failure === null);
    data.rows = Array.from({ length: 2000 }, (_, i) => ({ ...one, key: `${one.label} seed=${i}`, seed: i, gap: i / 2000 }));
    return withPage(browser(), withData(made.report, `${made.scratch}/many.html`, data), {}, async (page) => {
      assert.equal(await page.$eval('#row-count', (node) => node.dataset.value), '2000');
      assert.equal((await table(page)).length, 200);
      await page.click('th[data-column="gap"] button');
      await page.click('th[data-column="gap"] button');
      assert.equal((await table(page))[0].values.gap, String(1999 / 2000));
      await page.click('[data-turn="on"]');
      assert.equal((await table(page))[0].values.gap, String(1799 / 2000));
      assert.match(await page.textContent('.pager'), /201–400 of 2000/);
    });
  });

  test('a sweep of sizes has a plot of its own', () => {
    const data = dataOf(made.report);
    const one = data.rows.find((row) => row.busbw_GBps !== null);
    data.rows = [10, 15, 20, 25].map((power) => ({ ...one, bytes: 2 ** power, busbw_GBps: power, key: `${one.label} bytes=${2 ** power}` }));
    return withPage(browser(), withData(made.report, `${made.scratch}/sweep.html`, data), { size: sizes.narrow }, async (page) => {
      assert.equal(await points(page, 'sweep'), 4);
      assert.deepEqual(await misplaced(page, boxes), []);
    });
  });
}
