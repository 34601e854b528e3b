// The load of links as a picture: one pixel per link and slice, enlarged without blur to where the chart wants it.
(function (T) {
  'use strict';

  // The slices and rows that are in sight: {firstRow, lastRow, firstSlice, lastSlice}.
  function inSight(linkLoad, makespan, seen) {
    const slices = linkLoad.load[0].length;
    const slice = makespan / slices;
    const bound = (number) => Math.min(Math.max(Math.floor(number), 0), slices - 1);
    return { firstRow: seen.firstRow, lastRow: seen.lastRow, firstSlice: bound(seen.from / slice), lastSlice: bound(seen.to / slice) };
  }

  // That part on a canvas of width times height pixels.
  function picture(linkLoad, part, width, height) {
    const small = T.dom.el('canvas', { width: part.lastSlice - part.firstSlice + 1, height: part.lastRow - part.firstRow + 1 });
    const context = small.getContext('2d');
    for (let row = part.firstRow; row <= part.lastRow; row += 1) {
      for (let slice = part.firstSlice; slice <= part.lastSlice; slice += 1) {
        const share = linkLoad.load[row][slice];
        if (share <= 0) continue;
        context.fillStyle = T.colours.utilisation(Math.ceil(20 * share) / 20);
        context.fillRect(slice - part.firstSlice, row - part.firstRow, 1, 1);
      }
    }
    const large = T.dom.el('canvas', { width: Math.max(1, Math.round(width)), height: Math.max(1, Math.round(height)) });
    const target = large.getContext('2d');
    target.imageSmoothingEnabled = false;
    target.drawImage(small, 0, 0, large.width, large.height);
    return large;
  }

  T.heat = { inSight, picture };
})((globalThis.Tutti = globalThis.Tutti || {}));
