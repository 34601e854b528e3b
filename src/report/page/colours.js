// Colours that colour-blind people can tell apart: Okabe and Ito's for groups and methods, cividis for utilisation. Beyond eight groups colours
// repeat: then the marks of dots and the hatches of bars differ.
(function (T) {
  'use strict';

  // The order puts the strongest contrasts first. Where the page is dark, black becomes white and the dark blue is last.
  const okabeIto = ['#0072B2', '#E69F00', '#009E73', '#D55E00', '#56B4E9', '#CC79A7', '#F0E442', '#000000'];
  const okabeItoDark = ['#56B4E9', '#E69F00', '#009E73', '#D55E00', '#CC79A7', '#F0E442', '#FFFFFF', '#0072B2'];
  const marks = ['circle', 'square', 'triangle', 'diamond', 'cross', 'ring'];
  // Whether a pixel is of the hatch, for the marks one by one. All repeat after `period` pixels.
  const period = 12;
  const stripe = (at) => ((at % 6) + 6) % 6 < 2;
  const hatches = [() => false, (x, y) => stripe(x + y), (x, y) => stripe(x - y), (x, y) => stripe(x + y) || stripe(x - y), (x) => stripe(x), (x, y) => stripe(y)];

  // cividis at 0, 1/8, …, 1.
  const cividis = [[0, 34, 78], [18, 53, 112], [59, 73, 108], [87, 93, 109], [112, 113, 115], [138, 134, 120], [165, 156, 116],
    [195, 179, 105], [254, 232, 56]];

  const dark = () => T.dom.theme().dark;

  const group = (index) => (dark() ? okabeItoDark : okabeIto)[index % okabeIto.length];
  const round = (index) => Math.floor(index / okabeIto.length) % marks.length;
  const mark = (index) => marks[round(index)];
  const hatch = (index) => hatches[round(index)];

  function blend(position) {
    const at = Math.min(Math.max(position, 0), 1) * (cividis.length - 1);
    const low = Math.min(Math.floor(at), cividis.length - 2);
    const mix = cividis[low].map((value, i) => Math.round(value + (at - low) * (cividis[low + 1][i] - value)));
    return `rgb(${mix.join(', ')})`;
  }

  // Utilisation from 0 to 1: what is busy stands out from the page, so the map runs backwards where the page is light.
  const utilisation = (share) => blend(dark() ? 0.2 + 0.8 * share : 0.94 * (1 - share));

  function luminance(colour) {
    const value = parseInt(colour.slice(1), 16);
    const channels = [value >> 16, (value >> 8) & 255, value & 255].map((c) => c / 255)
      .map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * channels[0] + 0.7152 * channels[1] + 0.0722 * channels[2];
  }
  // Black or white, whichever can be read on the colour.
  const textOn = (colour) => (luminance(colour) > 0.18 ? '#000000' : '#FFFFFF');

  // What the bars of a group are filled with: its colour, or a picture of its hatch to be repeated. Pictures are kept, as thousands of bars ask.
  const kept = new Map();
  function fill(index) {
    if (round(index) === 0) return group(index);
    const key = `${dark()} ${index % (okabeIto.length * marks.length)}`;
    if (!kept.has(key)) kept.set(key, { image: tileOf(index), repeat: 'repeat' });
    return kept.get(key);
  }

  function tileOf(index) {
    const canvas = T.dom.el('canvas', { width: period, height: period });
    const context = canvas.getContext('2d');
    const hatched = hatch(index);
    context.fillStyle = group(index);
    context.fillRect(0, 0, period, period);
    context.fillStyle = textOn(group(index));
    for (let y = 0; y < period; y += 1) for (let x = 0; x < period; x += 1) if (hatched(x, y)) context.fillRect(x, y, 1, 1);
    return canvas;
  }

  // Adds the mark's outline to the path of a canvas.
  function tracePath(context, shape, x, y, r) {
    if (shape === 'square') {
      context.rect(x - r * 0.9, y - r * 0.9, r * 1.8, r * 1.8);
    } else if (shape === 'triangle') {
      context.moveTo(x, y - r * 1.2);
      context.lineTo(x + r * 1.1, y + r * 0.8);
      context.lineTo(x - r * 1.1, y + r * 0.8);
      context.closePath();
    } else if (shape === 'diamond') {
      context.moveTo(x, y - r * 1.3);
      context.lineTo(x + r * 1.3, y);
      context.lineTo(x, y + r * 1.3);
      context.lineTo(x - r * 1.3, y);
      context.closePath();
    } else if (shape === 'cross') {
      context.rect(x - r * 0.4, y - r * 1.2, r * 0.8, r * 2.4);
      context.rect(x - r * 1.2, y - r * 0.4, r * 2.4, r * 0.8);
    } else {
      context.moveTo(x + r, y);
      context.arc(x, y, r, 0, 2 * Math.PI);
      if (shape === 'ring') {
        context.moveTo(x + r * 0.45, y);
        context.arc(x, y, r * 0.45, 0, 2 * Math.PI, true);
      }
    }
  }

  T.colours = { group, mark, hatch, fill, utilisation, textOn, tracePath, count: okabeIto.length };
})((globalThis.Tutti = globalThis.Tutti || {}));
