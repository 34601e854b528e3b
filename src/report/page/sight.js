// What is in sight of the timeline, as ranges of percent of its time and of its rows: how buttons change them, and how it is said.
(function (T) {
  'use strict';

  const el = (...parts) => T.dom.el(...parts);
  const step = 1.6;
  const far = 0.6; // of what is in sight, by one push of a button
  const bound = (value, low, high) => Math.min(Math.max(value, low), high);

  // The range made narrower or wider around its middle, no narrower than `least`.
  function scaled([start, end], factor, least) {
    const half = bound((end - start) * factor, least, 100) / 2;
    const middle = bound((start + end) / 2, half, 100 - half);
    return [middle - half, middle + half];
  }

  function moved([start, end], share) {
    const by = bound(share * (end - start), -start, 100 - end);
    return [start + by, end + by];
  }

  // "rows 1–256 of 2 218 in sight"; nothing if all are.
  function rowsText(first, last, count) {
    return first === 0 && last >= count - 1 ? '' : `rows ${T.format.count(first + 1)}–${T.format.count(last + 1)} of ${T.format.count(count)} in sight`;
  }

  // timeline: range(axis) and look(axis, range), of 'time' and 'links', and least(axis).
  function buttons(timeline) {
    const button = (id, text, title, action) => el('button', { type: 'button', id: `timeline-${id}`, title, 'aria-label': title, on: { click: action } }, text);
    const change = (axis, make) => () => timeline.look(axis, make(timeline.range(axis)));
    const group = (axis, wheel, [before, earlier], [after, later]) => el('div', { class: 'zoom', role: 'group', 'aria-label': axis }, el('small', { 'aria-hidden': 'true' }, axis),
      button(`${axis}-in`, '+', `Zoom in on ${axis} (${wheel} + wheel)`, change(axis, (range) => scaled(range, 1 / step, timeline.least(axis)))),
      button(`${axis}-out`, '−', `Zoom out of ${axis} (${wheel} + wheel)`, change(axis, (range) => scaled(range, step, timeline.least(axis)))),
      button(`${axis}-back`, before, earlier, change(axis, (range) => moved(range, -far))),
      button(`${axis}-on`, after, later, change(axis, (range) => moved(range, far))));
    return [group('time', 'Ctrl', ['◀', 'Earlier'], ['▶', 'Later']), group('links', 'Shift', ['▲', 'Links above'], ['▼', 'Links below']),
      el('div', { class: 'zoom' }, button('all', '⤢', 'Show all', () => ['time', 'links'].forEach((axis) => timeline.look(axis, [0, 100]))))];
  }

  T.sight = { scaled, moved, rowsText, buttons };
})((globalThis.Tutti = globalThis.Tutti || {}));
