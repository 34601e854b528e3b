// node run.mjs TUTTI MODULES: tests the report page in a real browser. TUTTI is the command, MODULES a folder with node_modules/playwright-core.
// Without a browser the exit code is 77 (skipped), or 1 if TUTTI_REQUIRE_BROWSER=1.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { after, before } from 'node:test';
import { fileURLToPath } from 'node:url';
import { launch } from './browser.mjs';
import { make } from './fixture.mjs';
import { reportTests } from './report_tests.mjs';
import { timelineTests } from './timeline_tests.mjs';
import { unitTests } from './unit.mjs';
import { viewTests } from './view_tests.mjs';

function skip(why) {
  console.error(`${why}; scripts/setup --with-browser brings it`);
  process.exit(process.env.TUTTI_REQUIRE_BROWSER === '1' ? 1 : 77);
}

function chromium() {
  const names = [process.env.TUTTI_CHROMIUM, 'chromium', 'chromium-browser', 'google-chrome'].filter(Boolean);
  return names.find((name) => spawnSync(name, ['--version'], { stdio: 'ignore' }).status === 0);
}

// The path of a program; playwright does not search for it.
const found = (name) => spawnSync('sh', ['-c', 'command -v "$0"', name], { encoding: 'utf8' }).stdout.trim();

const [binary, modules] = process.argv.slice(2).map((path) => resolve(path));
if (!existsSync(join(modules, 'node_modules', 'playwright-core'))) skip('playwright-core is not here');
if (Number(process.versions.node.split('.')[0]) < 20) skip(`playwright-core needs node 20, this is ${process.versions.node}`);
const executable = chromium();
if (!executable) skip('chromium is not here');

const scratch = mkdtempSync(join(tmpdir(), 'tutti-browser-'));
process.on('exit', () => rmSync(scratch, { recursive: true, force: true }));
const made = make(binary, scratch);

let browser = null;
before(async () => { browser = await launch(modules, found(executable)); });
after(async () => { await browser?.close(); });

unitTests(join(dirname(fileURLToPath(import.meta.url)), '../../src/report/page'));
reportTests(() => browser, made);
viewTests(() => browser, made);
timelineTests(() => browser, made);
