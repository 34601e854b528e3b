// What the timeline draws where there is too much for rectangles: one picture of all that is in sight, a line of pixels per link.
// A still is {from, to, firstRow, lastRow, paint(width, height)}; paint gives a canvas of that many pixels.
(function (T) {
  'use strict';

  const mostLines = 4096;

  function canvasOf(width, height) {
    return T.dom.el('canvas', { width: Math.max(1, Math.round(width)), height: Math.max(1, Math.round(height)) });
  }

  // A part of one canvas, enlarged without blur.
  function enlarged(canvas, x, y, wide, high, width, height) {
    const target = canvasOf(width, height);
    const context = target.getContext('2d');
    context.imageSmoothingEnabled = false;
    context.drawImage(canvas, x, y, wide, high, 0, 0, target.width, target.height);
    return target;
  }

  // link_load as a canvas, a pixel per link and slice; of use for all stills until the theme changes.
  function heatOf(linkLoad) {
    const canvas = canvasOf(linkLoad.load[0].length, linkLoad.load.length);
    const context = canvas.getContext('2d');
    const colours = Array.from({ length: 21 }, (_, i) => T.colours.utilisation(i / 20));
    linkLoad.load.forEach((shares, row) => shares.forEach((share, slice) => {
      if (share <= 0) return;
      context.fillStyle = colours[Math.min(Math.ceil(20 * share), 20)];
      context.fillRect(slice, row, 1, 1);
    }));
    return canvas;
  }

  function heatStill(heat, makespan, seen) {
    const slice = makespan / heat.width;
    const bound = (number) => Math.min(Math.max(Math.floor(number), 0), heat.width - 1);
    const first = bound(seen.from / slice);
    const last = bound(seen.to / slice);
    const { firstRow, lastRow } = seen;
    const paint = (width, height) => enlarged(heat, first, firstRow, last - first + 1, lastRow - firstRow + 1, width, height);
    return { from: first * slice, to: (last + 1) * slice, firstRow, lastRow, paint };
  }

  // Every send as wide as it is, a pixel at the least, in the colour of its group.
  function sendsStill(sends, rows, seen) {
    const { from, to, firstRow, lastRow } = seen;
    const paint = (width, height) => {
      const lines = Math.min(lastRow - firstRow + 1, mostLines);
      const canvas = canvasOf(width, lines);
      const context = canvas.getContext('2d');
      const image = context.createImageData(canvas.width, lines);
      const pixels = new Uint32Array(image.data.buffer);
      const colours = [];
      for (let row = firstRow; row <= lastRow; row += 1) {
        const line = Math.floor(((row - firstRow) * lines) / (lastRow - firstRow + 1)) * canvas.width;
        for (const i of sends.byLink.of(rows[row])) {
          if (sends.start[i] > to) break;
          if (sends.free[i] < from) continue;
          const x = Math.max(0, Math.floor(((sends.start[i] - from) / (to - from)) * canvas.width));
          const end = Math.min(canvas.width, Math.max(x + 1, Math.round(((sends.free[i] - from) / (to - from)) * canvas.width)));
          const group = sends.group[i];
          colours[group] = colours[group] ?? packed(T.colours.group(group));
          pixels.fill(colours[group], line + x, line + end);
        }
      }
      context.putImageData(image, 0, 0);
      return enlarged(canvas, 0, 0, canvas.width, lines, width, height);
    };
    return { from, to, firstRow, lastRow, paint };
  }

  // "#rrggbb" as the four bytes of a pixel, opaque, in the order of a little-endian machine.
  function packed(colour) {
    const value = parseInt(colour.slice(1), 16);
    return ((255 << 24) | ((value & 255) << 16) | (value & 0xff00) | (value >> 16)) >>> 0;
  }

  T.pictures = { heatOf, heatStill, sendsStill };
})((globalThis.Tutti = globalThis.Tutti || {}));
