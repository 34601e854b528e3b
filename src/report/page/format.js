// Numbers as people read them: digits and units are the command's (src/batch/figures.cpp), spaces and dashes are a page's. Text that is safe in HTML;
// names in natural order.
(function (T) {
  'use strict';

  const timeNames = ['ps', 'ns', 'us', 'ms', 's'];
  const byteNames = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
  const none = '–';

  const known = (value) => value !== null && value !== undefined && !Number.isNaN(value);

  // 1234567 as "1 234 567", with narrow spaces that do not break. From 2^53 on a number of JSON has lost its last digits, so they are not shown.
  function count(value) {
    if (!known(value)) return none;
    if (Math.abs(value) > Number.MAX_SAFE_INTEGER) return `~${value.toPrecision(6)}`;
    return String(value).replace(/\B(?=(\d{3})+(?!\d))/g, '\u202f');
  }

  // "1 link", "2 links".
  const counted = (value, noun) => `${count(value)} ${noun}${value === 1 ? '' : 's'}`;

  // Up to `digits` significant ones, without zeros at the end and without an exponent where it can be avoided.
  function short(value, digits) {
    return String(Number(value.toPrecision(digits)));
  }

  // C rounds what is half way to the even digit, JavaScript upwards: 6.25 is "6.2". longer: the same number with `more` further digits.
  const more = 30;
  function halfToEven(text, longer) {
    const last = Number(text.at(-1));
    return last % 2 === 1 && /^50*$/.test(longer.slice(-more)) ? text.slice(0, -1) + (last - 1) : text;
  }
  const fixed = (value, decimals) => halfToEven(value.toFixed(decimals), value.toFixed(decimals + more));
  const general = (value, digits) => short(Number(halfToEven(value.toPrecision(digits), value.toPrecision(digits + more))), digits);

  // least: what is this much or more takes the next unit.
  function scaled(value, base, names, digits, least = base) {
    let name = 0;
    while (Math.abs(value) >= least && name + 1 < names.length) {
      value /= base;
      name += 1;
    }
    return general(value, digits) + '\u00a0' + names[name];
  }

  // A time in ticks: "25" where ticks are abstract, "488.4 us" where they are picoseconds.
  function ticks(value, units, digits = 5) {
    if (!known(value)) return none;
    if (units !== 'physical') return Number.isInteger(value) ? count(value) : short(value, 6);
    return scaled(value, 1000, timeNames, digits);
  }

  // The same with the word, for sentences and tooltips.
  function ticksText(value, units) {
    if (!known(value)) return none;
    const text = `${ticks(value, 'abstract')} ${value === 1 ? 'tick' : 'ticks'}`;
    return units === 'physical' && value !== 0 ? `${text} (${ticks(value, units, 6)})` : text;
  }

  // A formatter for an axis of which `span` ticks are in sight: every label in one unit, as fine as the span asks for.
  function axisTicks(units, makespan, span) {
    let name = 0;
    let unit = 1;
    if (units === 'physical') {
      while (makespan / unit >= 1000 && name + 1 < timeNames.length) {
        unit *= 1000;
        name += 1;
      }
    }
    const decimals = Math.min(9, Math.max(0, Math.ceil(1 - Math.log10(Math.max(span, 1e-9) / unit))));
    const suffix = units === 'physical' ? '\u00a0' + timeNames[name] : '';
    return (value) => String(Number((value / unit).toFixed(decimals))) + suffix;
  }

  const bytes = (value, digits = 4) => (known(value) ? scaled(value, 1024, byteNames, digits) : none);
  const memory = (value) => (known(value) ? scaled(value, 1024, byteNames, 3, 999.5) : none);
  // A gap that rounds to nothing is still a gap.
  function gap(value) {
    if (!known(value)) return none;
    return value > 0 && value < 0.0005 ? '<0.1\u00a0%' : `${fixed(100 * value, 1)}\u00a0%`;
  }
  const seconds = (value) => (known(value) ? fixed(value, 3) : none);
  // Three digits, and no fewer than the whole part has.
  const bandwidth = (value) => (known(value) ? fixed(value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0) : none);

  const entities = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
  const escapeHtml = (text) => String(text).replace(/[&<>"']/g, (c) => entities[c]);

  // "mesh4x4" before "mesh16x16": runs of digits count as numbers.
  const collator = new Intl.Collator('en', { numeric: true, sensitivity: 'base' });
  const natural = (a, b) => collator.compare(a, b);

  T.format = {
    none, known, count, counted, short, ticks, ticksText, axisTicks, bytes, memory, gap, seconds, bandwidth, escapeHtml, natural,
  };
})((globalThis.Tutti = globalThis.Tutti || {}));
