// Numbers as people read them, the same as the command's; text that is safe in HTML; names in natural order.
(function (T) {
  'use strict';

  const timeNames = ['ps', 'ns', 'us', 'ms', 's'];
  const byteNames = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
  const none = '–';

  const known = (value) => value !== null && value !== undefined && !Number.isNaN(value);

  // 1234567 as "1 234 567", with narrow spaces that do not break.
  function count(value) {
    if (!known(value)) return none;
    return String(value).replace(/\B(?=(\d{3})+(?!\d))/g, '\u202f');
  }

  // "1 link", "2 links".
  const counted = (value, noun) => `${count(value)} ${noun}${value === 1 ? '' : 's'}`;

  // Up to `digits` significant ones, without zeros at the end and without an exponent where it can be avoided.
  function short(value, digits) {
    return String(Number(value.toPrecision(digits)));
  }

  function scaled(value, base, names, digits) {
    let name = 0;
    while (Math.abs(value) >= base && name + 1 < names.length) {
      value /= base;
      name += 1;
    }
    return short(value, digits) + '\u00a0' + names[name];
  }

  // A time in ticks: "25" where ticks are abstract, "488.4 us" where they are picoseconds.
  function ticks(value, units, digits = 4) {
    if (!known(value)) return none;
    if (units !== 'physical') return Number.isInteger(value) ? count(value) : short(value, 6);
    return value === 0 ? '0' : scaled(value, 1000, timeNames, digits);
  }

  // The same with the word, for sentences and tooltips.
  function ticksText(value, units) {
    if (!known(value)) return none;
    if (units === 'physical') return `${ticks(value, units, 6)} (${count(Math.round(value))} ticks)`;
    return `${ticks(value, units)} ${value === 1 ? 'tick' : 'ticks'}`;
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
  const gap = (value) => (known(value) ? `${(100 * value).toFixed(1)}\u00a0%` : none);
  const seconds = (value) => (known(value) ? value.toFixed(3) : none);
  // Three digits, and no fewer than the whole part has.
  const bandwidth = (value) => (known(value) ? value.toFixed(value >= 100 ? 0 : value >= 10 ? 1 : 2) : none);

  const entities = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
  const escapeHtml = (text) => String(text).replace(/[&<>"']/g, (c) => entities[c]);

  // "mesh4x4" before "mesh16x16": runs of digits count as numbers.
  const collator = new Intl.Collator('en', { numeric: true, sensitivity: 'base' });
  const natural = (a, b) => collator.compare(a, b);

  T.format = {
    none, known, count, counted, short, ticks, ticksText, axisTicks, bytes, gap, seconds, bandwidth, escapeHtml, natural,
  };
})((globalThis.Tutti = globalThis.Tutti || {}));
