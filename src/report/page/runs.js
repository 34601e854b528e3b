// What the timeline draws where there are few sends in sight: rectangles.
//
// A run is [from, to, row, group, first send, sends]. Sends of one group that follow each other closer than a pixel become one run if they are narrow;
// wider ones stay apart, so that each can be seen. Where that leaves too many runs for a chart, pictures.js draws instead.
(function (T) {
  'use strict';

  const most = 6000;
  const apart = 3; // sends of this many pixels are drawn one by one
  const close = 0.7; // pixels

  // window: {from, to, firstRow, lastRow} in ticks and rows; perPixel: ticks; rows: link numbers. Null if there would be too many.
  function ofSends(sends, rows, window, perPixel) {
    const runs = [];
    for (let row = window.firstRow; row <= window.lastRow && runs.length <= most; row += 1) {
      addRow(runs, sends, sends.byLink.of(rows[row]), row, window, perPixel);
    }
    return runs.length <= most ? runs : null;
  }

  function addRow(runs, sends, items, row, window, perPixel) {
    let run = null;
    for (const i of items) {
      const from = sends.start[i];
      const to = Math.max(sends.free[i], from);
      if (to < window.from) continue;
      if (from > window.to) break;
      if (run !== null && run[3] === sends.group[i] && from - run[1] < close * perPixel && to - from < apart * perPixel) {
        run[1] = Math.max(run[1], to);
        run[5] += 1;
      } else {
        run = [from, to, row, sends.group[i], i, 1];
        runs.push(run);
      }
    }
  }

  T.runs = { ofSends };
})((globalThis.Tutti = globalThis.Tutti || {}));
