// The network: links coloured by utilisation, nodes by group, and what proves the bound. Drawn once per change; chunks.js moves over it.
(function (T) {
  'use strict';

  const edge = 38; // pixels around the drawing
  const room = 30; // pixels beyond the box in which something may reach into it
  const mostArrows = 800;
  const leastNumber = 6.5; // pixels of type that can still be read

  class Topology {
    constructor(box, view) {
      this.box = box;
      this.view = view;
      this.curves = T.geometry.curves(view);
      this.nearest = T.geometry.bounds(view).nearest;
      this.order = Array.from(view.links.src.keys()).sort((a, b) => view.links.utilisation[a] - view.links.utilisation[b]); // the busiest in front
      this.digits = Math.max(2, String(view.x.length - 1).length);
      this.zoom = { scale: 1, x: 0, y: 0 };
      this.proof = false;
      this.membership = view.x.map(() => []);
      view.groups.forEach((group, i) => group.members.forEach((node) => this.membership[node].push(i)));
      this.canvas = T.dom.el('canvas', { role: 'img', 'aria-label': `Network of ${view.name}: ${view.npus} NPUs, ${view.x.length - view.npus} switches, ${view.links.src.length} links` });
      box.append(this.canvas);
    }

    // Where a point of the unit square is, in pixels of the box.
    px(x) { return this.zoom.x + edge + x * (this.width - 2 * edge) * this.zoom.scale; }
    py(y) { return this.zoom.y + edge + y * (this.height - 2 * edge) * this.zoom.scale; }

    // Pixels of link i at share t of its way.
    at(i, t) {
      const { src, dst } = this.view.links;
      return [this.px(T.geometry.bezier(this.view.x[src[i]], this.curves.x[i], this.view.x[dst[i]], t)),
        this.py(T.geometry.bezier(this.view.y[src[i]], this.curves.y[i], this.view.y[dst[i]], t))];
    }

    measure() {
      this.width = this.box.clientWidth;
      this.height = this.box.clientHeight;
      this.zoom.x = T.geometry.clamp(this.zoom.x, this.width - 2 * edge, this.zoom.scale);
      this.zoom.y = T.geometry.clamp(this.zoom.y, this.height - 2 * edge, this.zoom.scale);
      const least = Math.min(this.width, this.height) - 2 * edge;
      this.radius = Math.min(Math.max(0.3 * this.nearest * least * this.zoom.scale, 2), 15);
    }

    draw() {
      this.measure();
      const context = T.dom.sharpContext(this.canvas, this.width, this.height);
      const theme = T.dom.theme();
      if (this.proof && this.view.cut) this.drawHull(context, theme);
      this.drawLinks(context, theme);
      this.view.x.forEach((_, node) => this.drawNode(context, theme, node));
    }

    // Links of the certificate, in front of faint others.
    proven() {
      if (!this.proof) return null;
      return new Set((this.view.cut || this.view.path || { links: [] }).links);
    }

    drawLinks(context, theme) {
      const { utilisation, sends } = this.view.links;
      const proven = this.proven();
      const seen = this.order.filter((i) => this.touches(i, -room, -room, this.width + room, this.height + room));
      const colours = Array.from({ length: 21 }, (_, i) => T.colours.utilisation(i / 20));
      context.globalAlpha = proven ? 0.25 : 1;
      for (const i of seen) {
        if (!proven?.has(i)) this.drawLink(context, i, sends[i] === 0 ? theme.line : colours[Math.min(Math.ceil(20 * utilisation[i]), 20)], 1.2 + 2.3 * utilisation[i]);
      }
      context.globalAlpha = 1;
      // The certificate has a halo, so that it is not its colour alone that tells it apart.
      for (const [colour, width] of proven ? [[theme.page, 8], [theme.proof, 4]] : []) {
        for (const i of seen) if (proven.has(i)) this.drawLink(context, i, colour, width);
      }
      context.setLineDash([]);
    }

    // Whether any of link i can be within a rectangle of pixels: a curve is within the triangle of its three points.
    touches(i, left, top, right, bottom) {
      const { src, dst } = this.view.links;
      const beyond = (a, c, b, low, high) => Math.max(a, c, b) < low || Math.min(a, c, b) > high;
      return !beyond(this.px(this.view.x[src[i]]), this.px(this.curves.x[i]), this.px(this.view.x[dst[i]]), left, right)
        && !beyond(this.py(this.view.y[src[i]]), this.py(this.curves.y[i]), this.py(this.view.y[dst[i]]), top, bottom);
    }

    drawLink(context, i, colour, width) {
      const { src, dst, sends } = this.view.links;
      context.strokeStyle = colour;
      context.fillStyle = colour;
      context.lineWidth = width;
      context.setLineDash(sends[i] === 0 ? [3, 4] : []);
      context.beginPath();
      context.moveTo(this.px(this.view.x[src[i]]), this.py(this.view.y[src[i]]));
      context.quadraticCurveTo(this.px(this.curves.x[i]), this.py(this.curves.y[i]), this.px(this.view.x[dst[i]]), this.py(this.view.y[dst[i]]));
      context.stroke();
      if (src.length <= mostArrows) this.drawArrow(context, i);
    }

    drawArrow(context, i) {
      const [x, y] = this.at(i, 0.62);
      const [bx, by] = this.at(i, 0.58);
      const [sx, sy] = this.at(i, 0);
      const [ex, ey] = this.at(i, 1);
      if (Math.hypot(ex - sx, ey - sy) < 3 * this.radius + 14) return;
      const size = 3 + context.lineWidth;
      const angle = Math.atan2(y - by, x - bx);
      context.beginPath();
      context.moveTo(x + size * Math.cos(angle), y + size * Math.sin(angle));
      context.lineTo(x + size * Math.cos(angle + 2.4), y + size * Math.sin(angle + 2.4));
      context.lineTo(x + size * Math.cos(angle - 2.4), y + size * Math.sin(angle - 2.4));
      context.fill();
    }

    // A shape around the inside of the cut, only where it encloses no other node.
    drawHull(context, theme) {
      const inside = new Set(this.view.cut.inside);
      const place = (node) => [this.px(this.view.x[node]), this.py(this.view.y[node])];
      const polygon = T.geometry.hull([...inside].map(place));
      const room = this.radius + 2;
      const lie = polygon.length > 2 && this.view.x.some((_, node) => !inside.has(node) && T.geometry.within(polygon, ...place(node), room));
      if (lie || polygon.length === 0) return;
      context.beginPath();
      polygon.forEach(([x, y]) => context.lineTo(x, y));
      context.closePath();
      context.lineJoin = 'round';
      context.strokeStyle = theme.proofArea;
      context.fillStyle = theme.proofArea;
      context.lineWidth = 2 * this.radius + 16;
      context.stroke();
      context.fill();
    }

    drawNode(context, theme, node) {
      const x = this.px(this.view.x[node]);
      const y = this.py(this.view.y[node]);
      if (x < -room || y < -room || x > this.width + room || y > this.height + room) return;
      const r = this.radius;
      const isSwitch = node >= this.view.npus;
      const groups = this.membership[node];
      const plain = isSwitch ? theme.panel : theme.line;
      context.fillStyle = groups.length > 0 ? T.colours.group(groups[0]) : plain;
      context.beginPath();
      if (isSwitch) context.rect(x - r, y - r, 2 * r, 2 * r);
      else context.arc(x, y, r, 0, 2 * Math.PI);
      context.fill();
      if (groups.length > 1) this.drawSlices(context, x, y, groups);
      this.drawRim(context, theme, node, x, y);
      if (this.numberSize() >= leastNumber) this.drawNumber(context, theme, node, x, y, groups, isSwitch);
      if (r >= 6.5 && this.view.groups.length > T.colours.count) this.drawMarks(context, theme, x, y, groups);
    }

    drawSlices(context, x, y, groups) {
      const turn = (2 * Math.PI) / groups.length;
      groups.forEach((group, i) => {
        context.fillStyle = T.colours.group(group);
        context.beginPath();
        context.moveTo(x, y);
        context.arc(x, y, this.radius, i * turn - Math.PI / 2, (i + 1) * turn - Math.PI / 2);
        context.fill();
      });
    }

    marked(node) {
      return Boolean(this.proof && this.view.cut && this.insideSet().has(node));
    }

    drawRim(context, theme, node, x, y) {
      const inside = this.marked(node);
      const r = this.radius + (inside ? 2 : 0); // a broad rim leaves the number free
      context.beginPath();
      if (node >= this.view.npus) context.rect(x - r, y - r, 2 * r, 2 * r);
      else context.arc(x, y, r, 0, 2 * Math.PI);
      // Inside the cut the rim has a halo too, and is seen on any colour of group.
      for (const [colour, width] of inside ? [[theme.page, 8], [theme.proof, 4]] : [[theme.text, 1]]) {
        context.strokeStyle = colour;
        context.lineWidth = width;
        context.stroke();
      }
    }

    insideSet() {
      this.inside = this.inside || new Set(this.view.cut.inside);
      return this.inside;
    }

    // Of type with which the longest number fits into its node.
    numberSize() {
      return Math.min(12, (2.7 * this.radius) / this.digits);
    }

    drawNumber(context, theme, node, x, y, groups, isSwitch) {
      const text = String(node);
      context.font = `600 ${this.numberSize()}px ${theme.font}`;
      context.textAlign = 'center';
      context.textBaseline = 'middle';
      const single = groups.length === 1;
      const colour = single ? T.colours.textOn(T.colours.group(groups[0])) : theme.text;
      if (groups.length > 1) {
        context.lineJoin = 'round';
        context.lineWidth = 3;
        context.strokeStyle = theme.page;
        context.strokeText(text, x, y + 0.5);
      }
      context.fillStyle = isSwitch ? theme.text : colour;
      context.fillText(text, x, y + 0.5);
    }

    // Beyond eight groups colours repeat; the mark beside the node tells them apart.
    drawMarks(context, theme, x, y, groups) {
      groups.slice(0, 4).forEach((group, i) => {
        context.beginPath();
        T.colours.tracePath(context, T.colours.mark(group), x + this.radius * 0.9 + 7 * i, y - this.radius * 0.9, 3);
        context.fillStyle = T.colours.group(group);
        context.strokeStyle = theme.page;
        context.lineWidth = 1;
        context.fill();
        context.stroke();
      });
    }
  }

  Topology.edge = edge;
  T.Topology = Topology;
})((globalThis.Tutti = globalThis.Tutti || {}));
