// What the tests look at: a small batch, and schedules of their own, made by the command itself in a scratch folder.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export const hostile = { name: '</script><img src=x onerror="window.hacked=1">', file: '<img src=x onerror=window.hacked=1>' };

const ring = (npus, more) => ({ generate: { kind: 'ring', npus, ...more } });
const plain = { alpha: 1, beta: 2 };
const physical = { latency_ns: 500, bandwidth_GBps: 25 };

const instances = {
  ring4: { topology: ring(4, plain), collectives: [{ kind: 'all_gather' }] },
  ring10: { topology: ring(10, physical), collectives: [{ kind: 'all_gather', chunk_bytes: 1048576 }] },
  mesh: { topology: { generate: { kind: 'mesh', dims: [3, 4], ...plain } }, groups: { left: [0, 4, 8, 1], right: [2, 3, 7, 11, 10] },
    collectives: [{ kind: 'all_gather', group: 'left' }, { kind: 'all_to_all', group: 'right' }] },
  star: { topology: { generate: { kind: 'star', npus: 6, ...plain } }, collectives: [{ kind: 'broadcast', chunks: 3 }] },
  [hostile.file]: { name: hostile.name, topology: ring(3, plain), groups: { '<b>evil</b>': [0, 2] }, collectives: [{ kind: 'all_gather', group: '<b>evil</b>' }] },
  unreachable: { topology: { npus: 2, links: [{ src: 0, dst: 1, ...plain }] }, collectives: [{ kind: 'all_gather' }] },
};

// A tensor program whose product and all-reduce overlap by pieces, with a name that is no text to be trusted.
const program = {
  tutti_tensor: 1, name: hostile.name, mesh: { axes: [['t', 4]] }, sizes: {},
  values: [
    { id: 'x', op: 'input', dtype: 'f16', shape: [512, 4096], layout: { t: { sliced: 1 } } },
    { id: 'w', op: 'input', dtype: 'f16', shape: [4096, 1024], layout: { t: { sliced: 0 } } },
    { id: 'mm', op: 'einsum', args: ['x', 'w'], spec: 'bk,kh->bh' },
    { id: 'sum', op: 'all_reduce', args: ['mm'], axes: ['t'], reduce: 'sum' },
    { id: '<b>out</b>', op: 'tanh', args: ['sum'] },
  ],
  outputs: ['<b>out</b>'],
};
const device = { tutti_device: 1, name: 'toy', matmul_tflops: 20, pointwise_tflops: 2, memory_GBps: 400, launch_us: 2 };

function tuned(binary, scratch) {
  const files = { 'program.json': program, 'device.json': device, 'four.json': ring(4, physical) };
  for (const [name, content] of Object.entries(files)) writeFileSync(join(scratch, name), JSON.stringify(content));
  tutti(binary, scratch, ['tune', 'program.json', '--topology', 'four.json', '--device', 'device.json', '--pieces', '4', '-o', 'tuned', '-q']);
  return join(scratch, 'tuned', 'timeline.html');
}

export function tutti(binary, folder, args, codes = [0]) {
  const { status, stdout, stderr } = spawnSync(binary, args, { cwd: folder, encoding: 'utf8', timeout: 60000 });
  assert.ok(codes.includes(status), `tutti ${args.join(' ')}: exit code ${status}\n${stdout}${stderr}`);
  return stdout;
}

// The data within a page, and the page with other data.
const opening = '<script id="tutti-data" type="application/json">';
function parts(file) {
  const text = readFileSync(file, 'utf8');
  const from = text.indexOf(opening) + opening.length;
  const to = text.indexOf('</script>', from);
  assert.ok(from > opening.length && to > from, `${file} holds no data`);
  return [text.slice(0, from), text.slice(from, to), text.slice(to)];
}
export const dataOf = (file) => JSON.parse(parts(file)[1]);
export function withData(file, target, data) {
  const [head, , tail] = parts(file);
  writeFileSync(target, head + JSON.stringify(data).replaceAll('<', '\\u003c') + tail);
  return target;
}

// The same page as it is built where the charting library could not be had.
export function withoutCharts(file, target) {
  const [head, data, tail] = parts(file);
  const from = tail.indexOf('<script>') + '<script>'.length;
  writeFileSync(target, head + data + tail.slice(0, from) + tail.slice(tail.indexOf('</script>', from)));
  return target;
}

// {report, rows (of results.jsonl), view, sampled, scratch}
export function make(binary, scratch) {
  mkdirSync(join(scratch, 'in'));
  for (const [name, instance] of Object.entries(instances)) {
    writeFileSync(join(scratch, 'in', `${name}.json`), JSON.stringify({ tutti: 1, ...instance }));
  }
  writeFileSync(join(scratch, 'in', 'broken.json'), '{"tutti": 1,');
  tutti(binary, scratch, ['batch', 'in', '--method', 'greedy,auto', '--time-limit', '10', '-o', 'run', '-q'], [1]);
  const view = ['view', 'in/mesh.json', 'mesh.schedule.json', '-q'];
  tutti(binary, scratch, ['synth', 'in/mesh.json', '-o', 'mesh.schedule.json', '--method', 'greedy', '-q']);
  tutti(binary, scratch, [...view, '-o', 'mesh.html']);
  tutti(binary, scratch, [...view, '-o', 'sampled.html', '--sends', '20']);
  const rows = readFileSync(join(scratch, 'run', 'results.jsonl'), 'utf8').trim().split('\n').map((line) => JSON.parse(line));
  return { scratch, rows, timeline: tuned(binary, scratch), report: join(scratch, 'run', 'report.html'), view: join(scratch, 'mesh.html'), sampled: join(scratch, 'sampled.html') };
}
