// The timeline of a tensor program: streams, pieces, and the ways to the collectives' own pages.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import test from 'node:test';
import { dataOf } from './fixture.mjs';
import { misplaced, sizes, withPage } from './browser.mjs';

const boxes = ['#head', '.card', '#tools', '#heading', '#sentence', '.legend'];

export function timelineTests(browser, made) {
  const data = dataOf(made.timeline);

  test('the bars of a timeline are those of its data, on the streams that they need', () => withPage(browser(), made.timeline, {}, async (page) => {
    assert.ok(data.bars.some((bar) => bar.piece >= 0), 'the best schedule overlaps');
    const drawn = await page.$$eval('#streams rect', (nodes) => nodes.map((node) => [node.dataset.kernel, Number(node.dataset.piece), Number(node.getAttribute('x')), Number(node.getAttribute('width'))]));
    assert.equal(drawn.length, data.bars.reduce((sum, bar) => sum + bar.computes + bar.communicates, 0));
    const scale = (node) => node[3] / data.bars.filter((bar) => bar.kernel === node[0] && bar.piece === node[1]).map((bar) => bar.end_us - bar.start_us)[0];
    const widest = drawn.toSorted((a, b) => b[3] - a[3]);
    assert.ok(Math.abs(scale(widest[0]) / scale(widest[1]) - 1) < 0.01, 'time has one scale');
    assert.match(await page.textContent('#sentence'), new RegExp(`${data.kernels} kernels`));
  }));

  test('a collective opens its own schedule', () => withPage(browser(), made.timeline, {}, async (page) => {
    const links = await page.$$eval('#streams a, #calls a', (nodes) => nodes.map((node) => node.getAttribute('href')));
    assert.ok(links.length > 1);
    for (const link of links) assert.ok(existsSync(join(dirname(made.timeline), link)), link);
    assert.deepEqual([...new Set(links)].sort(), data.collectives.map((one) => one.page).sort());
  }));

  test('names on a timeline are text, whatever they hold', () => withPage(browser(), made.timeline, {}, async (page) => {
    assert.equal(await page.evaluate(() => window.hacked), undefined);
    assert.equal(await page.textContent('#title'), data.program);
    assert.equal(await page.$('svg b, #steps b'), null);
  }));

  test('a timeline zooms, and fits wide and narrow windows in light and dark', async () => {
    for (const [size, dark] of [[sizes.wide, false], [sizes.narrow, true]]) {
      await withPage(browser(), made.timeline, { size, dark }, async (page) => {
        assert.deepEqual(await misplaced(page, boxes), []);
        const width = () => page.$eval('#streams', (node) => Number(node.getAttribute('width')));
        const before = await width();
        await page.click('#in');
        assert.ok(await width() > 1.9 * before);
        await page.click('#all');
        assert.equal(await width(), before);
      });
    }
  });
}
