// What the timeline draws at some zoom: never more than a few thousand rectangles, however many sends there are.
//
// A run is [from, to, row, colour, first send, sends]. Sends of one link that follow each other closer than a pixel become one run if they
// belong to one group. If that leaves too many, runs narrower than 1, 2, 4, … pixels join their neighbours whatever their group; such a mixed
// run has the colour -1. Zooming in takes the runs apart again.
(function (T) {
  'use strict';

  const most = 6000;
  const apart = 3; // sends of this many pixels are drawn one by one

  // window: {from, to, firstRow, lastRow} in ticks and rows; perPixel: ticks; rows: link numbers.
  function ofSends(sends, rows, window, perPixel) {
    for (let narrow = 0; ; narrow = Math.max(1, 2 * narrow)) {
      const runs = [];
      for (let row = window.firstRow; row <= window.lastRow; row += 1) {
        addRow(runs, sends, sends.byLink.of(rows[row]), row, window, perPixel, narrow);
      }
      if (runs.length <= most || narrow > 512) return runs;
    }
  }

  function addRow(runs, sends, items, row, window, perPixel, narrow) {
    let run = null;
    for (const i of items) {
      const from = sends.start[i];
      const to = Math.max(sends.free[i], from);
      if (to < window.from) continue;
      if (from > window.to) break;
      const close = run !== null && from - run[1] < perPixel * Math.max(0.7, narrow);
      const limit = run !== null && run[3] === sends.group[i] ? Math.max(apart, narrow) : narrow;
      if (close && to - from < limit * perPixel) {
        run[1] = Math.max(run[1], to);
        run[5] += 1;
        if (run[3] !== sends.group[i]) run[3] = -1;
      } else {
        run = [from, to, row, sends.group[i], i, 1];
        runs.push(run);
      }
    }
  }

  // The same of shares of slices (link_load): runs of equal colour, which is the share in steps of a tenth; idle slices are left out.
  function ofLoad(linkLoad, makespan, window) {
    for (let step = 1; ; step *= 2) {
      const runs = [];
      for (let row = window.firstRow; row <= window.lastRow; row += 1) addLoad(runs, linkLoad.load[row], row, makespan, window, step);
      if (runs.length <= most || step > 512) return runs;
    }
  }

  function addLoad(runs, load, row, makespan, window, step) {
    const slice = makespan / load.length;
    let run = null;
    for (let s = 0; s < load.length; s += step) {
      const to = Math.min(s + step, load.length);
      if (to * slice < window.from || s * slice > window.to) continue;
      let sum = 0;
      for (let k = s; k < to; k += 1) sum += load[k];
      const level = Math.ceil((10 * sum) / (to - s) - 1e-9) / 10;
      if (run !== null && run[3] === level && run[1] === s * slice) run[1] = to * slice;
      else if (level > 0) runs.push((run = [s * slice, to * slice, row, level, -1, 0]));
    }
  }

  T.runs = { ofSends, ofLoad };
})((globalThis.Tutti = globalThis.Tutti || {}));
