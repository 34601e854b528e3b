// A page in a real browser, without any network: what it asks for and what it complains about is recorded.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

export const sizes = { wide: { width: 1400, height: 900 }, narrow: { width: 400, height: 800 } };

export async function launch(modules, executable) {
  const { chromium } = createRequire(`${modules}/x.js`)('playwright-core');
  return chromium.launch({ executablePath: executable, args: ['--disable-gpu', '--host-resolver-rules=MAP * ~NOTFOUND'] });
}

// Opens a file; use(page) looks at it. Fails if the page asked for anything but itself, or if anything went wrong on its console.
export async function withPage(browser, file, { size = sizes.wide, dark = false, hash = '', touch = false }, use) {
  const context = await browser.newContext({ viewport: size, colorScheme: dark ? 'dark' : 'light', offline: true, hasTouch: touch, isMobile: touch });
  const page = await context.newPage();
  page.setDefaultTimeout(60000);
  const address = pathToFileURL(file).href;
  const wrong = [];
  page.on('request', (request) => {
    const url = request.url();
    if (url.split('#')[0] !== address && !url.startsWith('data:')) wrong.push(`asked for ${url}`);
  });
  page.on('console', (message) => { if (['error', 'warning'].includes(message.type())) wrong.push(`${message.type()}: ${message.text()}`); });
  page.on('pageerror', (error) => wrong.push(String(error.stack || error)));
  page.on('dialog', (dialog) => { wrong.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
  try {
    await page.goto(address + hash);
    await use(page);
    assert.deepEqual(wrong, []);
  } catch (error) {
    if (wrong.length > 0 && !String(error.message).includes(wrong[0])) error.message += `\nthe page said: ${wrong.join('\n')}`;
    throw error;
  } finally {
    await context.close();
  }
}

// Visible boxes that share pixels or hold more than they show, and what is wider than the window. A box within another does not count.
export async function misplaced(page, selectors) {
  return page.evaluate((list) => {
    const boxes = list.flatMap((selector) => [...document.querySelectorAll(selector)].map((node) => ({ selector, node, rect: node.getBoundingClientRect() })))
      .filter(({ rect }) => rect.width > 0 && rect.height > 0);
    const faults = [];
    if (document.documentElement.scrollWidth > window.innerWidth) faults.push(`the body is ${document.documentElement.scrollWidth} wide, the window ${window.innerWidth}`);
    boxes.forEach((a, i) => {
      if (a.rect.left < -0.5 || a.rect.right > window.innerWidth + 0.5) faults.push(`${a.selector} sticks out: ${a.rect.left} to ${a.rect.right}`);
      if (a.node.scrollWidth > a.node.clientWidth + 1 && a.node.clientWidth > 0) faults.push(`${a.selector} is cut: ${a.node.textContent}`);
      for (const b of boxes.slice(i + 1)) {
        if (a.node.contains(b.node) || b.node.contains(a.node)) continue;
        const wide = Math.min(a.rect.right, b.rect.right) - Math.max(a.rect.left, b.rect.left);
        const high = Math.min(a.rect.bottom, b.rect.bottom) - Math.max(a.rect.top, b.rect.top);
        if (wide > 1 && high > 1) faults.push(`${a.selector} and ${b.selector} overlap`);
      }
    });
    return faults;
  }, selectors);
}

// A number that changes when what is drawn on the canvas does.
export function drawn(page, selector) {
  return page.evaluate((which) => {
    const canvas = document.querySelector(which);
    const copy = document.createElement('canvas');
    Object.assign(copy, { width: canvas.width, height: canvas.height });
    const context = copy.getContext('2d', { willReadFrequently: true });
    context.drawImage(canvas, 0, 0);
    const { data } = context.getImageData(0, 0, copy.width, copy.height);
    let sum = 0;
    let inked = 0;
    for (let i = 0; i < data.length; i += 4) {
      sum = (sum * 31 + data[i] + 3 * data[i + 1] + 7 * data[i + 2] + 11 * data[i + 3]) % 1000000007;
      if (data[i + 3] > 0) inked += 1;
    }
    return { sum, inked };
  }, selector);
}
