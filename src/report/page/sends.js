// The sends of a view as typed arrays, and the questions that a moment of time asks of them, each answered by binary search.
(function (T) {
  'use strict';

  // How many entries of a sorted array are <= value.
  function upTo(sorted, value) {
    let low = 0;
    let high = sorted.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (sorted[middle] <= value) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  // Lists of indices by some number of each send: list i is items.subarray(first[i], first[i + 1]), in order of start.
  function buckets(numbers, count) {
    const first = new Uint32Array(count + 1);
    for (const number of numbers) first[number + 1] += 1;
    for (let i = 0; i < count; i += 1) first[i + 1] += first[i];
    const next = first.slice();
    const items = new Uint32Array(numbers.length);
    numbers.forEach((number, index) => { items[next[number]++] = index; });
    return { first, items, of: (i) => items.subarray(first[i], first[i + 1]) };
  }

  function prepare(view) {
    const { chunk, link, start, free, arrive, group } = view.sends;
    const sends = {
      count: start.length,
      chunk: Uint32Array.from(chunk),
      link: Uint32Array.from(link),
      start: Float64Array.from(start),
      free: Float64Array.from(free),
      arrive: Float64Array.from(arrive),
      group: Uint32Array.from(group),
      longest: 0,
    };
    for (let i = 0; i < sends.count; i += 1) sends.longest = Math.max(sends.longest, sends.arrive[i] - sends.start[i]);
    sends.byLink = buckets(sends.link, view.links.src.length);
    const nodes = sends.link.map((number) => view.links.dst[number]);
    const byNode = buckets(nodes, view.x.length);
    sends.arrivals = Array.from(view.x, (_, node) => Float64Array.from(byNode.of(node), (i) => sends.arrive[i]).sort());
    sends.starts = [...new Set(start)]; // ascending, as the sends are
    return sends;
  }

  // Calls visit(index, share of the way) for every send that is under way at the time; returns how many there are.
  function inFlight(sends, time, visit) {
    let count = 0;
    const last = upTo(sends.start, time);
    for (let i = upTo(sends.start, time - sends.longest - 1e-9); i < last; i += 1) {
      if (sends.arrive[i] <= time) continue;
      count += 1;
      if (visit) visit(i, (time - sends.start[i]) / (sends.arrive[i] - sends.start[i]));
    }
    return count;
  }

  // The last send that keeps the link busy at the time, or -1.
  function onLink(sends, link, time) {
    const items = sends.byLink.of(link);
    let low = 0;
    let high = items.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (sends.start[items[middle]] <= time) low = middle + 1;
      else high = middle;
    }
    return low > 0 && sends.free[items[low - 1]] >= time ? items[low - 1] : -1;
  }

  // How many shown sends have arrived at a node by then.
  const received = (sends, node, time) => upTo(sends.arrivals[node], time);

  T.sends = { prepare, inFlight, onLink, received, upTo };
})((globalThis.Tutti = globalThis.Tutti || {}));
