// What the timeline draws where there is too much for rectangles: one picture of all that is in sight.
// A still is {from, to, firstRow, lastRow, paint(width, height)}; paint gives a canvas of that many pixels.
(function (T) {
  'use strict';

  const apart = 3; // pixels: what is as large has a gap behind it

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

  // Every send as wide as it is, a pixel at the least, in the colour of its group. Where there is room for it, sends and rows are kept apart.
  function sendsStill(sends, rows, seen) {
    const { from, to, firstRow, lastRow } = seen;
    const count = lastRow - firstRow + 1;
    const paint = (width, height) => {
      const canvas = canvasOf(width, height);
      const context = canvas.getContext('2d');
      const image = context.createImageData(canvas.width, canvas.height);
      const pixels = { wide: canvas.width, of: new Uint32Array(image.data.buffer) };
      const inks = [];
      const x = (time) => Math.min(Math.max(((time - from) / (to - from)) * canvas.width, 0), canvas.width - 1e-6);
      for (let row = firstRow; row <= lastRow; row += 1) {
        const [top, bottom] = bar(((row - firstRow) * canvas.height) / count, ((row - firstRow + 1) * canvas.height) / count);
        for (const i of sends.byLink.of(rows[row])) {
          if (sends.start[i] > to) break;
          if (sends.free[i] < from) continue;
          const group = sends.group[i];
          inks[group] = inks[group] ?? inkOf(group);
          fill(pixels, ...bar(x(sends.start[i]), x(sends.free[i])), top, bottom, inks[group]);
        }
      }
      context.putImageData(image, 0, 0);
      return canvas;
    };
    return { from, to, firstRow, lastRow, paint };
  }

  // The whole pixels [first, end) from one place to another, one at the least, without the last if there are enough of them. What follows begins at
  // the next pixel, so that the gap stays.
  function bar(from, to) {
    const first = Math.floor(from);
    const end = Math.max(first + 1, Math.floor(to));
    return [first, end - first >= apart ? end - 1 : end];
  }

  function fill(pixels, left, right, top, bottom, ink) {
    for (let y = top; y < bottom; y += 1) {
      pixels.of.fill(ink.colour, y * pixels.wide + left, y * pixels.wide + right);
      if (!ink.hatched) continue;
      for (let x = left; x < right; x += 1) if (ink.hatched(x, y)) pixels.of[y * pixels.wide + x] = ink.stripes;
    }
  }

  function inkOf(group) {
    const colour = T.colours.group(group);
    return { colour: packed(colour), hatched: group >= T.colours.count ? T.colours.hatch(group) : null, stripes: packed(T.colours.textOn(colour)) };
  }

  // "#rrggbb" as the four bytes of a pixel, opaque, in the order of a little-endian machine.
  function packed(colour) {
    const value = parseInt(colour.slice(1), 16);
    return ((255 << 24) | ((value & 255) << 16) | (value & 0xff00) | (value >> 16)) >>> 0;
  }

  T.pictures = { heatOf, heatStill, sendsStill, bar };
})((globalThis.Tutti = globalThis.Tutti || {}));
