// The load of links as a picture: one pixel per link and slice, enlarged without blur to where the chart wants it.
(function (T) {
  'use strict';

  // All of it, a pixel each.
  function whole(linkLoad) {
    const canvas = T.dom.el('canvas', { width: linkLoad.load[0].length, height: linkLoad.load.length });
    const context = canvas.getContext('2d');
    const colours = Array.from({ length: 21 }, (_, i) => T.colours.utilisation(i / 20));
    linkLoad.load.forEach((shares, row) => shares.forEach((share, slice) => {
      if (share <= 0) return;
      context.fillStyle = colours[Math.min(Math.ceil(20 * share), 20)];
      context.fillRect(slice, row, 1, 1);
    }));
    return canvas;
  }

  // The slices and rows that are in sight: {firstRow, lastRow, firstSlice, lastSlice}.
  function inSight(linkLoad, makespan, seen) {
    const slices = linkLoad.load[0].length;
    const slice = makespan / slices;
    const bound = (number) => Math.min(Math.max(Math.floor(number), 0), slices - 1);
    return { firstRow: seen.firstRow, lastRow: seen.lastRow, firstSlice: bound(seen.from / slice), lastSlice: bound(seen.to / slice) };
  }

  // That part on a canvas of width times height pixels.
  function picture(all, part, width, height) {
    const canvas = T.dom.el('canvas', { width: Math.max(1, Math.round(width)), height: Math.max(1, Math.round(height)) });
    const context = canvas.getContext('2d');
    context.imageSmoothingEnabled = false;
    context.drawImage(all, part.firstSlice, part.firstRow, part.lastSlice - part.firstSlice + 1, part.lastRow - part.firstRow + 1, 0, 0, canvas.width, canvas.height);
    return canvas;
  }

  T.heat = { whole, inSight, picture };
})((globalThis.Tutti = globalThis.Tutti || {}));
