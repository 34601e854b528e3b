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

// The options of a plot as they are drawn, as plain data.
const drawnOption = (page, plot) => page.evaluate((id) => {
  const { series, xAxis, yAxis } = globalThis.echarts.getInstanceByDom(document.getElementById(`plot-${id}`)).getOption();
  return { series: series.map(({ name, symbol, color, itemStyle, lineStyle, data }) => ({ name, symbol, colour: color || itemStyle.color, dash: lineStyle?.type, data })), x: xAxis[0].name, y: yAxis[0].name };
}, plot);

// The page with other rows: each is a good one of the fixture's with what is given of its own.
function withRows(made, name, rows, change = {}) {
  const data = dataOf(made.report);
  const one = data.rows.find((row) => row.busbw_GBps !== null);
  const filled = rows.map((row) => ({ ...one, ...row, view: null, key: [row.label ?? one.label, row.asked ?? one.asked, row.asked_chunks, row.asked_bytes, row.seed].join(' ') }));
  return withData(made.report, `${made.scratch}/${name}.html`, { ...data, ...change, rows: filled });
}
const threeMethods = ['x/a', 'y/b', 'y/c'].flatMap((label) => ['auto', 'cpsat', 'greedy'].filter((asked) => label === 'x/a' || asked !== 'auto')
  .flatMap((asked) => [1024, 1048576].map((bytes) => ({ label, asked, asked_bytes: bytes, bytes }))));

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

  test('the profile says of how many instances, and every curve where the pointer is', () => {
    const killed = { chunks: 0, bytes: null, makespan: null, verified: false, failure: 'memory', error: 'killed' };
    const rows = [10, 11, 12].flatMap((makespan, i) => [{ label: `f/${i}`, asked: 'auto', makespan: 10, ...(i === 2 ? killed : {}) }, { label: `f/${i}`, asked: 'greedy', makespan }]);
    return withPage(browser(), withRows(made, 'killed', [...rows, { label: 'f/alone', asked: 'auto' }]), {}, async (page) => {
      const { y } = await drawnOption(page, 'profile');
      assert.equal(y, 'share of 3 instances (of 4)');
      const box = await page.locator('#plot-profile').boundingBox();
      await page.mouse.move(box.x + 0.55 * box.width, box.y + 0.4 * box.height);
      const text = await page.innerText('#tip');
      assert.match(text, /^within 1\.0[45]\d* times the best/);
      assert.match(text, /auto: 66\.7\s%/);
      assert.match(text, /greedy: 66\.7\s%/);
      await page.mouse.move(box.x + 0.5 * box.width, box.y - 40);
      assert.equal(await page.isHidden('#tip'), true);
    });
  });

  test('the labels of an axis differ, also where all methods tie', () => {
    const rows = ['f/0', 'f/1'].flatMap((label) => [{ label, asked: 'auto' }, { label, asked: 'greedy' }]);
    return withPage(browser(), withRows(made, 'tie', rows), {}, async (page) => {
      const labels = await page.evaluate(() => globalThis.echarts.getInstanceByDom(document.getElementById('plot-profile')).getModel().getComponent('xAxis').axis.getViewLabels()
        .map(({ formattedLabel }) => formattedLabel));
      assert.ok(labels.length > 2);
      assert.equal(new Set(labels).size, labels.length, labels.join(', '));
    });
  });

  test('a method keeps its colour, mark and dash whatever the filter leaves', () => withPage(browser(), withRows(made, 'three', threeMethods), {}, async (page) => {
    const styles = async (plot) => Object.fromEntries((await drawnOption(page, plot)).series.filter(({ data }) => data.length > 0).map(({ name, symbol, colour, dash }) => [name, { symbol, colour, dash }]));
    const before = {};
    for (const plot of ['gap', 'seconds', 'profile', 'sweep']) before[plot] = await styles(plot);
    assert.equal(Object.keys(before.gap).length, 3);
    assert.equal(new Set(Object.values(before.gap).map(({ colour }) => colour)).size, 3);
    await page.fill('#filter-text', 'y/');
    for (const plot of ['gap', 'seconds', 'profile', 'sweep']) {
      const after = await styles(plot);
      assert.ok(Object.keys(after).length >= 2, plot);
      for (const [name, style] of Object.entries(after)) assert.deepEqual(style, before[plot][name], `${plot}: ${name}`);
    }
  }));

  test('points are named by what was asked, with exact numbers', () => {
    const rows = [1, 2].map((seed) => ({ label: 'f/0', asked: 'auto', seed, chunks: 16256 + seed, npus: 8 }));
    return withPage(browser(), withRows(made, 'exact', rows), {}, async (page) => {
      assert.equal((await drawnOption(page, 'gap')).x, 'chunks'); // the NPUs are the same
      assert.equal(await page.$eval('#gap-size', (node) => node.value), 'chunks');
      const text = await tip(page, 'plot-gap', (name) => name.includes('seed=2'));
      assert.ok(text.includes('f/0 seed=2'), text);
      assert.ok(text.includes('16\u202f258 chunks'), text);
    });
  });

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
      assert.equal(await page.textContent('[data-plot="sweep"] .note'), '');
      assert.deepEqual(await misplaced(page, boxes), []);
    });
  });

  test('a sweep draws every number of chunks, and the reader may choose', () => {
    const data = dataOf(made.report);
    const one = data.rows.find((row) => row.busbw_GBps !== null);
    data.rows = [1, 2, 4].flatMap((chunks) => [10, 15, 20].map((power) => ({ ...one, asked_chunks: chunks, bytes: 2 ** power, busbw_GBps: chunks === 1 ? 30 - power : chunks * power / 4,
      key: `${one.label} chunks=${chunks} bytes=${2 ** power}` })));
    return withPage(browser(), withData(made.report, `${made.scratch}/chunks.html`, data), {}, async (page) => {
      const series = async () => (await drawnOption(page, 'sweep')).series;
      assert.deepEqual((await series()).map(({ name }) => name.split(' · ').at(-1)), ['1 chunk', '2 chunks', '4 chunks']);
      assert.equal(new Set((await series()).map(({ colour }) => colour)).size, 3);
      await page.selectOption('#sweep-chunks', 'best');
      assert.equal((await series()).length, 1);
      assert.equal(await page.textContent('[data-plot="sweep"] .note'), 'best of all chunks');
      await page.selectOption('#sweep-chunks', '4');
      assert.deepEqual((await series()).map(({ name }) => name.split(' · ').at(-1)), ['4 chunks']);
      assert.deepEqual(await misplaced(page, boxes), []);
    });
  });

  test('equal lines of a sweep can be told apart, and the best of several is called so', () => {
    const rows = threeMethods.flatMap((row) => [1, 2].map((seed) => ({ ...row, seed })));
    return withPage(browser(), withRows(made, 'lines', rows), {}, async (page) => {
      assert.equal(await page.textContent('[data-plot="sweep"] .note'), 'best of all seeds');
      const lines = (await drawnOption(page, 'sweep')).series.filter(({ name }) => name.startsWith('x/a'));
      assert.equal(lines.length, 3);
      for (const style of ['dash', 'symbol']) assert.equal(new Set(lines.map((line) => line[style])).size, 3, style);
      const height = await page.evaluate(() => globalThis.echarts.getInstanceByDom(document.getElementById('plot-sweep')).getOption().legend[0].textStyle.lineHeight);
      assert.ok(height >= 16, 'a paged legend clips letters that are higher than its line');
    });
  });

  test('on a narrow screen the name stays in sight with its variant, and what matters is next to it', () => {
    const rows = [1, 2].flatMap((seed) => [1, 1024].map((chunks) => ({ label: 'cluster/cluster2xdgx1-shared-ar-of-many-words', asked: 'auto', asked_chunks: chunks, seed })));
    const file = withRows(made, 'variants', rows);
    const scrolled = (page) => page.$eval('#table-box', (box) => { box.scrollLeft = 250; });
    return withPage(browser(), file, { size: sizes.narrow }, async (page) => {
      assert.deepEqual((await page.$$eval('#table th', (cells) => cells.map((cell) => cell.dataset.column))).slice(0, 4), ['instance', 'gap', 'status', 'makespan']);
      const edges = () => page.$eval('.frame', (frame) => [frame.classList.contains('more-left'), frame.classList.contains('more-right')]);
      assert.deepEqual(await edges(), [false, true]);
      await scrolled(page);
      await page.waitForSelector('.frame.more-left');
      const { cell, link, small, box } = await page.evaluate(() => {
        const rect = (selector) => { const { left, right, top, bottom } = document.querySelector(selector).getBoundingClientRect(); return { left, right, top, bottom }; };
        return { cell: rect('#table td'), link: rect('#table td a'), small: rect('#table td small'), box: rect('#table-box') };
      });
      assert.equal(cell.left, box.left);
      assert.ok(small.top >= link.bottom - 1 && small.right <= cell.right && small.bottom <= cell.bottom);
      assert.equal((await page.textContent('#table td small')), 'chunks=1 seed=1');
      await page.setViewportSize(sizes.wide);
      await page.waitForFunction(() => document.querySelectorAll('#table th')[1].dataset.column === 'method');
      assert.deepEqual(await edges(), [false, false]);
    });
  });

  test('on A4 no column is cut', () => withPage(browser(), made.report, { size: { width: 718, height: 1040 } }, async (page) => {
    await page.emulateMedia({ media: 'print' });
    const [right, widest] = await page.evaluate(() => [document.getElementById('results').getBoundingClientRect().right, Math.max(...[...document.querySelectorAll('#table tr')].map((row) => row.getBoundingClientRect().right))]);
    assert.ok(widest <= right, `${widest} of ${right}`);
  }));

  test('a run of one instance has its table, and its words are singular', () => {
    const data = dataOf(made.report);
    data.rows = [{ ...data.rows.find((row) => row.view !== null), view: 0 }];
    data.views = data.views.slice(0, 1);
    return withPage(browser(), withData(made.report, `${made.scratch}/one.html`, data), {}, async (page) => {
      assert.equal((await table(page)).length, 1);
      assert.equal(await page.textContent('#row-count'), '1 row');
      await page.waitForSelector('#plot-gap svg');
      await page.click('#table a');
      await page.waitForSelector('#view:not([hidden])');
      assert.equal(await page.title(), `${data.rows[0].label} – ${data.title} – tutti`);
      await page.click('#back');
      await page.waitForSelector('#table');
      assert.equal(await page.title(), `${data.title} – tutti`);
    });
  });

  test('a run without results says so', () => withPage(browser(), withRows(made, 'empty', [], { views: [] }), {}, async (page) => {
    assert.match(await page.textContent('#table tbody'), /No results yet/);
    assert.equal(await page.$$eval('#plots *', (nodes) => nodes.length), 0);
  }));

  test('where nothing has a size none is offered', () => {
    const nothing = { npus: 0, chunks: 0, bytes: null, makespan: null, gap: null, verified: false, failure: 'crash', error: 'killed' };
    return withPage(browser(), withRows(made, 'crashed', [{ label: 'f/0', ...nothing }]), {}, async (page) => {
      await page.waitForSelector('#plot-gap svg');
      assert.equal(await page.$('#gap-size'), null);
    });
  });

  for (const [hash, name] of [['#view=no%20such%20%3Cb%3E', 'no such <b>'], ['#view=%zz', '%zz']]) {
    test(`a link to what is not here says so: ${name}`, () => withPage(browser(), made.report, { hash }, async (page) => {
      assert.ok((await page.textContent('#unknown')).includes(name));
      await page.click('#table a');
      await page.click('#back');
      await page.waitForSelector('#overview:not([hidden])');
    }));
  }

  test('an instance that is rightly infeasible is no failure, and digits that are lost are not shown', () => {
    const infeasible = { label: 'f/0', status: 'infeasible', makespan: null, lower_bound: null, gap: null, busbw_GBps: null, verified: false, failure: null, error: 'chunk 1 cannot get to NPU 0' };
    return withPage(browser(), withRows(made, 'infeasible', [infeasible, { label: 'f/1', units: 'abstract', makespan: 9007199254740993 }]), {}, async (page) => {
      const [first, second] = await table(page);
      assert.equal(first.failed, false);
      assert.equal(first.shown.status, '∅ infeasible');
      assert.equal(await page.$eval('#summary [data-fact="failed"]', (node) => node.dataset.value), '0');
      assert.match(second.shown.makespan, /^~9\.0072/);
    });
  });
}
