// Where nodes and links of a topology are drawn, in a unit square; pure functions.
//
// A link is a quadratic curve that keeps to the right of the straight line, as cars do, so that the two directions do not hide each other.
// Parallel links bulge more and more, in equal steps that leave all of them within the edge of the drawing; one that would run through another node bulges enough to pass it. Bulges are measured by the distance of the
// nearest two nodes, so that dense drawings stay tidy.
(function (T) {
  'use strict';

  const slight = 0.1;
  const wide = 0.45;
  const more = 0.12; // for each parallel link
  const mostOfLength = 0.05; // short links stay flat
  const most = 0.08; // of the drawing: what its edge has room for
  const mostSpread = 0.35; // of the length: parallel links are no wider than that, unless they are short
  const mostChecks = 4e6; // nodes times links: beyond it, nobody looks whether links run through nodes

  function bounds(view) {
    const n = view.x.length;
    let nearest = Infinity;
    const step = Math.max(1, Math.floor(n / 1500)); // of very many nodes a sample is near enough
    for (let i = 0; i < n; i += step) {
      for (let j = 0; j < n; j += 1) {
        if (i !== j) nearest = Math.min(nearest, Math.hypot(view.x[i] - view.x[j], view.y[i] - view.y[j]));
      }
    }
    return { nearest: nearest === Infinity ? 1 : Math.max(nearest, 1e-3) };
  }

  // Whether a node lies on the straight line between two others.
  function blocked(view, a, b, room) {
    const dx = view.x[b] - view.x[a];
    const dy = view.y[b] - view.y[a];
    const length2 = dx * dx + dy * dy;
    for (let v = 0; v < view.x.length; v += 1) {
      if (v === a || v === b) continue;
      const along = ((view.x[v] - view.x[a]) * dx + (view.y[v] - view.y[a]) * dy) / length2;
      if (along <= 0 || along >= 1) continue;
      const away = Math.hypot(view.x[a] + along * dx - view.x[v], view.y[a] + along * dy - view.y[v]);
      if (away < room) return true;
    }
    return false;
  }

  // How many links lead from the same node to the same as each.
  function pairs(view) {
    const count = new Map();
    const numbers = view.links.src.map((a, i) => a * view.x.length + view.links.dst[i]);
    for (const pair of numbers) count.set(pair, (count.get(pair) || 0) + 1);
    return { numbers, count };
  }

  // How far a point can go in a direction before it is beyond the edge of the drawing.
  function room(x, y, nx, ny) {
    const along = (at, n) => (n > 0 ? (1 + most - at) / n : n < 0 ? (at + most) / -n : Infinity);
    return Math.min(along(x, nx), along(y, ny));
  }

  // The curves' middle points, an entry per link: control points {x, y} of src – control – dst.
  function curves(view) {
    const { src, dst } = view.links;
    const look = view.x.length * src.length <= mostChecks;
    const { nearest } = bounds(view);
    const { numbers, count } = pairs(view);
    const drawn = new Map(); // of each pair
    const x = new Float64Array(src.length);
    const y = new Float64Array(src.length);
    for (let i = 0; i < src.length; i += 1) {
      const a = src[i];
      const b = dst[i];
      const earlier = drawn.get(numbers[i]) || 0;
      drawn.set(numbers[i], earlier + 1);
      const dx = view.x[b] - view.x[a];
      const dy = view.y[b] - view.y[a];
      const length = Math.hypot(dx, dy) || 1;
      const base = look && blocked(view, a, b, 0.25 * nearest) ? wide * nearest : Math.min(slight * nearest, mostOfLength * length);
      const first = most * (1 - Math.exp(-base / most));
      const mx = (view.x[a] + view.x[b]) / 2;
      const my = (view.y[a] + view.y[b]) / 2;
      const widest = Math.min(room(mx, my, -dy / length, dx / length), Math.max(most, mostSpread * length));
      const step = earlier > 0 ? Math.min(more * nearest, Math.max(widest - first, 0) / (count.get(numbers[i]) - 1)) : 0;
      const bulge = (2 * (first + earlier * step)) / length; // the control point is twice as far out as the curve
      x[i] = mx - bulge * dy;
      y[i] = my + bulge * dx;
    }
    return { x, y };
  }

  // Where a drawing of `size` pixels that is enlarged may begin: it goes on filling its place.
  const clamp = (offset, size, scale) => Math.min(Math.max(offset, size * (1 - scale)), 0);

  // A point of a quadratic curve.
  const bezier = (a, c, b, t) => (1 - t) * (1 - t) * a + 2 * t * (1 - t) * c + t * t * b;

  // The convex hull of points [[x, y], …], counter-clockwise (Andrew's monotone chain).
  function hull(points) {
    const sorted = [...points].sort((p, q) => p[0] - q[0] || p[1] - q[1]);
    if (sorted.length < 3) return sorted;
    const turn = (o, a, b) => (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0]);
    const chain = (list) => {
      const out = [];
      for (const point of list) {
        while (out.length > 1 && turn(out[out.length - 2], out[out.length - 1], point) <= 0) out.pop();
        out.push(point);
      }
      out.pop();
      return out;
    };
    return [...chain(sorted), ...chain(sorted.reverse())];
  }

  // Whether a point is in the convex polygon, or within `room` of its inside.
  function within(polygon, x, y, room) {
    if (polygon.length < 3) return false;
    for (let i = 0; i < polygon.length; i += 1) {
      const [ax, ay] = polygon[i];
      const [bx, by] = polygon[(i + 1) % polygon.length];
      const side = ((bx - ax) * (y - ay) - (by - ay) * (x - ax)) / (Math.hypot(bx - ax, by - ay) || 1);
      if (side < -room) return false;
    }
    return true;
  }

  T.geometry = { bounds, curves, clamp, bezier, hull, within };
})((globalThis.Tutti = globalThis.Tutti || {}));
