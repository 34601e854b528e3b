// Chunks on their way, as dots over the network, and around each node how much of what it will receive has arrived.
(function (T) {
  'use strict';

  class Chunks {
    constructor(topology, sends) {
      this.topology = topology;
      this.sends = sends;
      this.canvas = T.dom.el('canvas', { class: 'over', 'aria-hidden': 'true' });
      topology.box.append(this.canvas);
    }

    // Returns how many are under way.
    draw(time) {
      const { topology, sends } = this;
      const context = T.dom.sharpContext(this.canvas, topology.width, topology.height);
      const theme = T.dom.theme();
      if (topology.radius >= 5) this.drawReceived(context, theme, time);
      const size = Math.min(Math.max(0.38 * topology.radius, 2), 5);
      const dots = new Map(); // one path per group, so that thousands of dots are a few fills
      const count = T.sends.inFlight(sends, time, (i, share) => {
        const group = sends.group[i];
        if (!dots.has(group)) dots.set(group, []);
        dots.get(group).push(...this.place(sends.link[i], share, size));
      });
      for (const [group, points] of dots) {
        context.beginPath();
        for (let k = 0; k < points.length; k += 2) T.colours.tracePath(context, T.colours.mark(group), points[k], points[k + 1], size);
        context.lineWidth = size > 2.5 ? 1.5 : 0.8;
        context.strokeStyle = theme.page;
        context.stroke();
        context.fillStyle = T.colours.group(group);
        context.fill();
        if (size > 2.5) {
          context.lineWidth = 0.8;
          context.strokeStyle = theme.text;
          context.stroke();
        }
      }
      return count;
    }

    // From the rim of one node to the rim of the other, so that dots leave the numbers free.
    place(link, share, size) {
      const [sx, sy] = this.topology.at(link, 0);
      const [ex, ey] = this.topology.at(link, 1);
      const rim = Math.min(0.38, (this.topology.radius + size / 2) / (Math.hypot(ex - sx, ey - sy) || 1));
      return this.topology.at(link, rim + share * (1 - 2 * rim));
    }

    drawReceived(context, theme, time) {
      const { topology, sends } = this;
      context.strokeStyle = theme.text;
      context.lineWidth = 2.5;
      context.beginPath();
      for (let node = 0; node < topology.view.npus; node += 1) {
        const all = sends.arrivals[node].length;
        const share = all > 0 ? T.sends.received(sends, node, time) / all : 0;
        if (share === 0) continue;
        const x = topology.px(topology.view.x[node]);
        const y = topology.py(topology.view.y[node]);
        const r = topology.radius + (topology.marked(node) ? 7 : 3.5);
        context.moveTo(x, y - r);
        context.arc(x, y, r, -Math.PI / 2, -Math.PI / 2 + share * 2 * Math.PI);
      }
      context.stroke();
    }
  }

  T.Chunks = Chunks;
})((globalThis.Tutti = globalThis.Tutti || {}));
