// One schedule: the address, the numbers, the player, the network and the timeline.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import test from 'node:test';
import { dataOf, withData } from './fixture.mjs';
import { drawn, misplaced, sizes, withPage } from './browser.mjs';

const boxes = ['#head', '.view-head', '.facts', '.sentence', '.notice', '.player', '#network-card', '#timeline-card', '.player > *', '.tile', '#network-card .card-head > *', '#timeline-card .card-head > *', '#timeline-card .tools > *',
  '.legend-item'];
const network = '#network canvas:first-of-type';
const over = '#network canvas.over';

async function moveTo(page, time) {
  await page.$eval('#time', (slider, value) => { slider.value = value; slider.dispatchEvent(new Event('input')); }, time);
  await page.waitForFunction((value) => Math.abs(Number(document.getElementById('now').dataset.time) - value) < 1e-6 * (1 + value), time);
}

const zoomTime = (page, start, end) => page.evaluate(([from, to]) => globalThis.echarts.getInstanceByDom(document.querySelector('#timeline .fill'))
  .dispatchAction({ type: 'dataZoom', dataZoomIndex: 0, start: from, end: to }), [start, end]);
const timelineLabel = (page) => page.getAttribute('#timeline .fill', 'aria-label');

const flying = (sends, time) => sends.start.filter((start, i) => start <= time && sends.arrive[i] > time).length;

export function viewTests(browser, made) {
  const line = made.rows.find((row) => row.label === 'in/mesh' && row.asked === 'greedy');
  const hash = `#view=${encodeURIComponent(line.key)}`;

  test('an instance opens, its numbers are those of results.jsonl, and the ways back work', () => withPage(browser(), made.report, {}, async (page) => {
    await page.click(`#table a[href="${hash}"]`);
    await page.waitForSelector('#timeline canvas');
    assert.ok(page.url().endsWith(hash));
    assert.equal(await page.isVisible('#overview'), false);
    const fact = (name) => page.$eval(`.facts [data-fact="${name}"]`, (node) => node.dataset.value);
    for (const name of ['makespan', 'lower_bound', 'gap', 'sends', 'groups', 'npus']) assert.equal(await fact(name), String(line[name]), name);
    const schedule = JSON.parse(readFileSync(resolve(made.scratch, line.schedule), 'utf8'));
    assert.equal(await fact('sends'), String(schedule.sends.length));
    await page.keyboard.press('Escape');
    await page.waitForSelector('#overview:not([hidden])');
    await page.goForward();
    await page.waitForSelector('#timeline canvas');
    await page.goBack();
    await page.waitForSelector('#overview:not([hidden])');
    assert.equal(await page.isVisible('#view'), false);
    assert.equal((await page.$$('#table tbody tr')).length, made.rows.length);
    await page.focus(`#table a[href="${hash}"]`);
    await page.keyboard.press('Enter');
    await page.click('#back');
    await page.waitForSelector('#overview:not([hidden])');
  }));

  test('a link to an instance opens it', () => withPage(browser(), made.report, { hash }, async (page) => {
    await page.waitForSelector('#timeline canvas');
    await page.keyboard.press('Escape');
    await page.waitForSelector('#plot-gap svg');
    await page.goBack();
    await page.waitForSelector('#timeline canvas');
  }));

  test('the slider shows what is in flight', () => withPage(browser(), made.view, {}, async (page) => {
    const [view] = dataOf(made.view).views;
    let before = await drawn(page, over);
    for (const share of [0, 0.1, 0.35, 0.5, 0.77, 1]) {
      const time = share * view.makespan;
      await moveTo(page, time);
      assert.equal(await page.$eval('#in-flight', (node) => node.dataset.value), String(flying(view.sends, time)), `at ${time}`);
      if (share === 0) continue;
      const now = await drawn(page, over);
      assert.notEqual(now.sum, before.sum, `the dots have moved at ${time}`);
      before = now;
    }
    assert.equal(await page.$eval('#in-flight', (node) => node.dataset.value), '0');
  }));

  test('play moves time, pause stops it, steps go from start to start', () => withPage(browser(), made.view, {}, async (page) => {
    const [view] = dataOf(made.view).views;
    const now = () => page.$eval('#now', (node) => Number(node.dataset.time));
    await page.selectOption('#speed', '0.25');
    const played = await page.evaluate(async () => { // within the page, so that a slow machine does not reach the end meanwhile
      const button = document.getElementById('play');
      const time = () => Number(document.getElementById('now').dataset.time);
      const frames = async (count) => { for (let i = 0; i < count; i += 1) await new Promise(requestAnimationFrame); };
      button.click();
      while (time() === 0) await frames(1);
      const label = button.getAttribute('aria-label');
      button.click();
      const stopped = time();
      await frames(3);
      return { label, after: button.getAttribute('aria-label'), stopped, later: time() };
    });
    assert.deepEqual([played.label, played.after], ['Pause', 'Play']);
    assert.ok(played.stopped > 0 && played.stopped < view.makespan);
    assert.equal(played.later, played.stopped);
    await moveTo(page, 0);
    const starts = [...new Set(view.sends.start)];
    await page.click('#step-on');
    assert.equal(await now(), starts[1]);
    await page.click('#step-on');
    assert.equal(await now(), starts[2]);
    await page.click('#step-back');
    assert.equal(await now(), starts[1]);
    await page.selectOption('#speed', '4');
    await page.click('#play');
    await page.waitForFunction((end) => Number(document.getElementById('now').dataset.time) === end, view.makespan);
    assert.equal(await page.getAttribute('#play', 'aria-label'), 'Play');
  }));

  test('the page of one schedule is its view, without a table', () => withPage(browser(), made.view, {}, async (page) => {
    await page.waitForSelector('#timeline canvas');
    assert.equal(await page.isVisible('#overview'), false);
    assert.equal((await page.$$('#table, #back')).length, 0);
    await page.keyboard.press('Escape');
    assert.equal(await page.isVisible('#view'), true);
  }));

  test('what proves the bound is drawn', () => withPage(browser(), made.view, {}, async (page) => {
    const [view] = dataOf(made.view).views;
    assert.ok(view.cut || view.path, 'the fixture has a certificate that can be drawn');
    assert.ok((await page.textContent('#bound-text')).includes(view.bound_text));
    const before = await drawn(page, network);
    assert.ok(before.inked > 1000);
    await page.check('#show-proof');
    assert.notEqual((await drawn(page, network)).sum, before.sum);
    await page.uncheck('#show-proof');
    assert.equal((await drawn(page, network)).sum, before.sum);
    await page.click('#zoom-in');
    assert.notEqual((await drawn(page, network)).sum, before.sum);
    await page.click('#zoom-all');
    assert.equal((await drawn(page, network)).sum, before.sum);
  }));

  test('the legend says which way the links of a cut lead, and a weaker bound is called one', async () => {
    const data = dataOf(made.view);
    const [view] = data.views;
    const texts = [];
    for (const [cut, weaker] of [[{ inside: [0, 1], links: [0, 1, 2], out: true }, true], [{ inside: [0, 1], links: [0], out: false }, false], [{ inside: [0], links: [0] }, undefined]]) {
      await withPage(browser(), withData(made.view, `${made.scratch}/cut.html`, { ...data, views: [{ ...view, cut, path: null, bound_weaker: weaker }] }), {}, async (page) => {
        assert.match(await page.textContent('label.proof'), weaker ? /weaker bound/ : /what proves the bound/);
        await page.check('#show-proof');
        texts.push(await page.textContent('.legend'));
      });
    }
    ['2 nodes, 3 links out of them', '2 nodes, 1 link into them', '1 node, 1 link into it'].forEach((text, i) => assert.ok(texts[i].includes(text), texts[i]));
  });

  test('a proof that the sentence about the bound quotes is not said twice', async () => {
    const data = dataOf(made.view);
    const [view] = data.views;
    for (const [bound, shown] of [['cpsat found none shorter. What is drawn proves less: 3 chunks.', 0], ['3 chunks must pass.', 1]]) {
      const rows = [{ ...line, proof: 'cpsat found none shorter', view: 0 }];
      await withPage(browser(), withData(made.view, `${made.scratch}/said.html`, { ...data, rows, views: [{ ...view, bound_text: bound }] }), { hash }, async (page) => {
        await page.waitForSelector('#bound-text');
        assert.equal((await page.$$('#proof')).length, shown);
      });
    }
  });

  test('the page of a failed row says once what failed, and dashes what is not known', () => {
    const row = { ...made.rows.find((one) => one.failure !== null), error: 'killed after 4.1 s', why_no_view: 'killed after 4.1 s', npus: 0, groups: 0, sends: 0, seconds: 4.1, view: null };
    const data = { ...dataOf(made.report), rows: [row, line].map((one) => ({ ...one, view: null })), views: [] };
    return withPage(browser(), withData(made.report, `${made.scratch}/failed.html`, data), { hash: `#view=${encodeURIComponent(row.key)}` }, async (page) => {
      assert.equal((await page.textContent('#view')).split('killed after 4.1 s').length, 2);
      for (const name of ['npus', 'groups', 'sends']) assert.equal(await page.textContent(`.facts [data-fact="${name}"] dd`), '–', name);
      assert.equal(await page.textContent('.facts [data-fact="seconds"] dt'), 'Ended after');
    });
  });

  test('the timeline has a bar for every send, zooms, and moves the time by a click', () => withPage(browser(), made.view, {}, async (page) => {
    const [view] = dataOf(made.view).views;
    const runs = () => page.$eval('#timeline', (node) => Number(node.dataset.runs));
    assert.equal(await runs(), view.sends.total);
    await zoomTime(page, 0, 10);
    await page.waitForFunction((total) => Number(document.getElementById('timeline').dataset.runs) < total, view.sends.total);
    assert.ok(await runs() > 0);
    const box = await (await page.$('#timeline')).boundingBox();
    await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
    const time = await page.$eval('#now', (node) => Number(node.dataset.time));
    assert.ok(time > 0 && time < 0.1 * view.makespan, `${time} is within what is in sight`);
  }));

  test('tooltips say what is under the pointer', () => withPage(browser(), made.view, {}, async (page) => {
    const [view] = dataOf(made.view).views;
    const box = await (await page.$('#network')).boundingBox();
    const edge = await page.evaluate(() => globalThis.Tutti.Topology.edge);
    await page.mouse.move(box.x + edge + view.x[5] * (box.width - 2 * edge), box.y + edge + view.y[5] * (box.height - 2 * edge));
    assert.match(await page.textContent('#tip'), /^NPU 5/);
    await page.mouse.move(5, 5);
    assert.equal(await page.isVisible('#tip'), false);
  }));

  test('where not all sends are shown the page says so and draws the load', () => withPage(browser(), made.sampled, {}, async (page) => {
    const [view] = dataOf(made.sampled).views;
    assert.ok(view.sends.shown < view.sends.total);
    assert.equal(await page.textContent('#sends-note'), view.sends.note);
    assert.match(await page.textContent('#in-flight'), /of the shown sends in flight/);
    assert.equal(await page.$eval('.facts [data-fact="sends"]', (node) => node.dataset.value), String(view.sends.total));
    assert.equal(await page.$eval('#timeline', (node) => node.dataset.runs), 'picture');
    const shades = await page.$eval('#timeline canvas', (canvas) => {
      const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
      const seen = new Set();
      for (let i = 0; i < data.length; i += 4) if (data[i + 3] === 255) seen.add((data[i] << 16) | (data[i + 1] << 8) | data[i + 2]);
      return seen.size;
    });
    assert.ok(shades > 3);
    assert.match(await timelineLabel(page), /Load of/);
    await page.selectOption('#timeline-what', 'sends');
    assert.equal(await page.$eval('#timeline', (node) => Number(node.dataset.runs)), view.sends.shown);
    assert.match(await timelineLabel(page), new RegExp(`${view.sends.shown} of ${view.sends.total} sends`));
    await page.selectOption('#timeline-what', 'load');
    assert.equal(await page.$eval('#timeline', (node) => node.dataset.runs), 'picture');
  }));

  test('of many rows with long names the title says which are in sight, and both charts have one axis of time', () => {
    const data = dataOf(made.view);
    const [view] = data.views;
    const nodes = 12000;
    const links = 2000;
    const numbers = (make, n = links) => Array.from({ length: n }, (_, i) => make(i));
    Object.assign(view, { npus: nodes, x: numbers((i) => (i % 110) / 109, nodes), y: numbers((i) => Math.floor(i / 110) / 110, nodes), cut: null, path: null, load: view.load.map(() => 0.02) });
    view.links = { src: numbers((i) => nodes - 2 - i), dst: numbers((i) => nodes - 1 - i), sends: numbers(() => 1), busy: numbers(() => 1), utilisation: numbers(() => 0.1) };
    const step = view.makespan / links;
    view.sends = { total: links, shown: links, note: null, chunk: numbers((i) => i), link: numbers((i) => i), start: numbers((i) => i * step), free: numbers((i) => (i + 1) * step), arrive: numbers((i) => (i + 1) * step),
      group: numbers(() => 0) };
    return withPage(browser(), withData(made.view, `${made.scratch}/rows.html`, data), {}, async (page) => {
      const sight = async () => (await timelineLabel(page)).match(/Rows ([\d\u202f]+)–([\d\u202f]+) of 2\u202f000 in sight/)?.slice(1).map((text) => Number(text.replace('\u202f', ''))) ?? [1, links];
      const chart = (use) => page.evaluate(`(() => { const chart = globalThis.echarts.getInstanceByDom(document.querySelector('#timeline .fill')); return ${use}; })()`);
      const [first, last] = await sight();
      assert.ok(first === 1 && last > 50 && last < 400, `${first} to ${last}`);
      for (const share of [0, 0.4, 1]) {
        const time = share * view.makespan;
        const places = await chart(`[0, 1].map((xAxisIndex) => chart.convertToPixel({ xAxisIndex }, ${time}))`);
        assert.ok(Math.abs(places[0] - places[1]) < 0.01, String(places));
        await moveTo(page, time);
        const line = await page.$eval('.now-line', (node) => new DOMMatrix(getComputedStyle(node).transform).e);
        assert.ok(Math.abs(line - places[0]) < 0.01 + 1e-6 * line, `${line} ${places}`);
      }
      assert.equal(await chart('chart.getOption().yAxis[0].max'), 0.02);
      const before = await timelineLabel(page);
      await page.click('#timeline-links-on');
      await page.waitForFunction((text) => document.querySelector('#timeline .fill').getAttribute('aria-label') !== text, before);
      assert.ok((await sight())[0] > 1);
      assert.ok((await chart('chart.getOption().title[1].text')).includes('in sight'));
      for (let i = 0; i < 9; i += 1) await page.click('#timeline-links-in'); // until the handles of the slider would lie on each other
      await page.waitForFunction(() => globalThis.echarts.getInstanceByDom(document.querySelector('#timeline .fill')).getOption().dataZoom[2].handleSize === 0);
      await page.click('#timeline-all');
      await page.waitForFunction(() => !document.querySelector('#timeline .fill').getAttribute('aria-label').includes('in sight'));
      assert.notEqual(await chart('chart.getOption().dataZoom[2].handleSize'), 0);
      await page.click('#timeline-time-in');
      await page.waitForFunction(() => !/from 0 /.test(document.querySelector('#timeline .fill').getAttribute('aria-label')));
    });
  });

  test('network and timeline are images with a name', () => withPage(browser(), made.view, {}, async (page) => {
    for (const selector of [network, '#timeline .fill']) {
      assert.equal(await page.getAttribute(selector, 'role'), 'img');
      assert.match(await page.getAttribute(selector, 'aria-label'), /^(Network|Timeline) of \S+.*\d/);
    }
  }));

  test('the proof has a colour of its own, and beyond eight groups bars are hatched as in the legend', async () => {
    const data = dataOf(made.view);
    const [view] = data.views;
    view.groups = Array.from({ length: 9 }, (_, i) => ({ ...view.groups[0], name: `g${i}` }));
    view.sends.group = view.sends.group.map((_, i) => (i % 2) * 8); // two groups of one colour
    const file = withData(made.view, `${made.scratch}/groups.html`, data);
    for (const dark of [false, true]) {
      await withPage(browser(), file, { dark }, async (page) => {
        const [proof, groups] = await page.evaluate(() => [globalThis.Tutti.dom.theme().proof, Array.from({ length: 8 }, (_, i) => globalThis.Tutti.colours.group(i).toLowerCase())]);
        assert.ok(!groups.includes(proof.toLowerCase()));
        const colours = (canvas) => page.$eval(canvas, (node) => {
          const { data: pixels } = node.getContext('2d').getImageData(20, 3, 20, 8);
          return new Set(Array.from({ length: 160 }, (_, i) => pixels.slice(4 * i, 4 * i + 3).join())).size;
        });
        assert.deepEqual([await colours('[data-group="0"] canvas'), await colours('[data-group="8"] canvas')], [1, 2]);
        const hatched = await page.evaluate(() => {
          const list = globalThis.echarts.getInstanceByDom(document.querySelector('#timeline .fill')).getZr().storage.getDisplayList();
          return list.filter((shape) => shape.type === 'rect' && shape.style.fill?.image).length;
        });
        assert.ok(hatched > 0);
      });
    }
  });

  test('a tap shows what is under it until the next tap, and a zoomed network cannot be dragged away', () => withPage(browser(), made.view, { size: sizes.narrow, touch: true }, async (page) => {
    const [view] = dataOf(made.view).views;
    await page.$eval('#network', (node) => node.scrollIntoView({ block: 'center' }));
    const edge = await page.evaluate(() => globalThis.Tutti.Topology.edge);
    let box = await (await page.$('#network')).boundingBox();
    const node = (i) => [box.x + edge + view.x[i] * (box.width - 2 * edge), box.y + edge + view.y[i] * (box.height - 2 * edge)];
    await page.touchscreen.tap(...node(5));
    assert.match(await page.textContent('#tip'), /^NPU 5/);
    assert.equal(await page.isVisible('#tip'), true);
    await page.touchscreen.tap(...node(6));
    assert.match(await page.textContent('#tip'), /^NPU 6/);
    await page.touchscreen.tap(box.x + 4, box.y + 4);
    assert.equal(await page.isVisible('#tip'), false);
    await page.tap('#zoom-in');
    await page.tap('#zoom-in');
    box = await (await page.$('#network')).boundingBox();
    const before = await drawn(page, network);
    for (const [x, y] of [[2000, 1500], [-4000, -3000]]) {
      await page.mouse.move(box.x + 60, box.y + 60);
      await page.mouse.down();
      await page.mouse.move(box.x + x, box.y + y, { steps: 3 });
      await page.mouse.up();
      await page.evaluate(() => new Promise((done) => { requestAnimationFrame(() => requestAnimationFrame(done)); }));
      const now = await drawn(page, network);
      assert.notEqual(now.sum, before.sum);
      assert.ok(now.inked > before.inked / 4, `${now.inked} of ${before.inked} pixels`);
    }
  }));

  test('numbers are no wider than their nodes', () => withPage(browser(), made.view, {}, async (page) => {
    const widest = await page.evaluate(() => {
      const context = document.createElement('canvas').getContext('2d');
      const { Topology, dom } = globalThis.Tutti;
      return Math.max(...[2, 3, 4].flatMap((digits) => [5, 8, 11, 15].map((radius) => {
        context.font = `600 ${Topology.prototype.numberSize.call({ digits, radius })}px ${dom.theme().font}`;
        return context.measureText('8'.repeat(digits)).width / (2 * radius);
      })));
    });
    assert.ok(widest <= 1, String(widest));
  }));

  test('a hundred thousand sends are a picture, and bars when zoomed in', () => {
    const data = dataOf(made.view);
    const [view] = data.views;
    const links = view.links.src.length;
    const n = 100000;
    const numbers = (make) => Array.from({ length: n }, (_, i) => make(i));
    const slot = (i) => Math.floor(i / links);
    Object.assign(view, { makespan: slot(n) + 3, lower_bound: slot(n) });
    Object.assign(view.sends, { total: n, shown: n, chunk: numbers((i) => i), link: numbers((i) => i % links), start: numbers(slot), free: numbers((i) => slot(i) + 1),
      arrive: numbers((i) => slot(i) + 3), group: numbers((i) => (slot(i) + i) % 2) });
    view.links.sends = view.links.src.map(() => Math.ceil(n / links));
    return withPage(browser(), withData(made.view, `${made.scratch}/big.html`, data), {}, async (page) => {
      const runs = () => page.$eval('#timeline', (node) => node.dataset.runs);
      assert.equal(await runs(), 'picture');
      const time = Math.floor(view.makespan / 2) + 0.5;
      await moveTo(page, time);
      assert.equal(await page.$eval('#in-flight', (node) => node.dataset.value), String(3 * links));
      await zoomTime(page, 50, 51);
      await page.waitForFunction(() => Number(document.getElementById('timeline').dataset.runs) > 100);
    });
  });

  for (const [name, size] of Object.entries(sizes)) {
    for (const [what, file, dark] of [['a schedule', made.view, false], ['a sampled schedule', made.sampled, true]]) {
      test(`nothing of ${what} overlaps or sticks out, ${name}`, () => withPage(browser(), file, { size, dark }, async (page) => {
        await page.waitForSelector('#timeline canvas');
        assert.deepEqual(await misplaced(page, boxes), []);
        if (await page.$('#show-proof')) await page.check('#show-proof');
        assert.deepEqual(await misplaced(page, boxes), []);
      }));
    }
  }

  test('nothing overlaps or sticks out where a row has all its numbers, or an error', async () => {
    const failed = made.rows.find((row) => row.failure !== null);
    const physical = made.rows.find((row) => row.busbw_GBps !== null);
    for (const row of [failed, physical]) {
      await withPage(browser(), made.report, { size: sizes.narrow, hash: `#view=${encodeURIComponent(row.key)}` }, async (page) => {
        await page.waitForSelector('.facts');
        assert.deepEqual(await misplaced(page, boxes), []);
      });
    }
  });

  test('a change of theme and of size, and printing, redraw without complaint', () => withPage(browser(), made.view, {}, async (page) => {
    const light = await drawn(page, network);
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.waitForFunction(() => globalThis.Tutti.dom.theme().dark);
    assert.notEqual((await drawn(page, network)).sum, light.sum);
    await page.setViewportSize(sizes.narrow);
    assert.deepEqual(await misplaced(page, boxes), []);
    assert.ok((await page.pdf({ format: 'A4' })).length > 10000);
  }));
}
