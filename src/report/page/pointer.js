// The pointer over the network: what is under it, and zooming and moving the drawing.
(function (T) {
  'use strict';

  const el = (...parts) => T.dom.el(...parts);
  const samples = [0.15, 0.25, 0.35, 0.45, 0.55, 0.65, 0.75, 0.85];

  // {node} or {link} near a point of the box, or null.
  function under(topology, x, y) {
    const reach = Math.max(topology.radius, 6) + 2;
    const { view } = topology;
    let best = null;
    let nearest = reach;
    for (let node = 0; node < view.x.length; node += 1) {
      const away = Math.hypot(topology.px(view.x[node]) - x, topology.py(view.y[node]) - y);
      if (away < nearest) [best, nearest] = [{ node }, away];
    }
    if (best) return best;
    nearest = 8;
    for (let link = 0; link < view.links.src.length; link += 1) {
      if (!topology.touches(link, x - nearest, y - nearest, x + nearest, y + nearest)) continue;
      for (const t of samples) {
        const [px, py] = topology.at(link, t);
        const away = Math.hypot(px - x, py - y);
        if (away < nearest) [best, nearest] = [{ link }, away];
      }
    }
    return best;
  }

  function nodeLines(topology, sends, node, time) {
    const { view } = topology;
    const groups = topology.membership[node].map((group) => view.groups[group]);
    const shown = groups.slice(0, 6).map((group) => `group ${group.name}: ${group.collective}`);
    const arrivals = sends.arrivals[node].length;
    const part = view.sends.note ? ' shown' : '';
    return [`${node < view.npus ? 'NPU' : 'switch'} ${node}`, ...shown, ...(groups.length > 6 ? [`and ${groups.length - 6} groups more`] : []),
      `${T.sends.received(sends, node, time)} of ${arrivals}${part} sends have arrived`];
  }

  function linkLines(view, link) {
    const { src, dst, sends, busy, utilisation } = view.links;
    return [`link ${link}: ${src[link]} → ${dst[link]}`, T.format.counted(sends[link], 'send'), `busy ${T.format.ticksText(busy[link], view.units)}`,
      `utilisation ${T.format.gap(utilisation[link])}`];
  }

  function zoomBy(topology, factor, redraw) {
    const { zoom } = topology;
    const { edge } = T.Topology;
    const scale = Math.min(Math.max(zoom.scale * factor, 1), 40);
    const ratio = scale / zoom.scale;
    // The middle of the box stays where it is.
    zoom.x = topology.width / 2 - edge - ratio * (topology.width / 2 - edge - zoom.x);
    zoom.y = topology.height / 2 - edge - ratio * (topology.height / 2 - edge - zoom.y);
    zoom.scale = scale;
    redraw();
  }

  function buttons(topology, redraw) {
    const button = (id, text, title, action) => el('button', { type: 'button', id: `zoom-${id}`, title, 'aria-label': title, on: { click: action } }, text);
    return el('div', { class: 'zoom' },
      button('in', '+', 'Zoom in', () => zoomBy(topology, 1.6, redraw)),
      button('out', '−', 'Zoom out', () => zoomBy(topology, 1 / 1.6, redraw)),
      button('all', '⤢', 'Show all', () => zoomBy(topology, 0, redraw)));
  }

  // A finger does not hover: what a tap shows stays until the next one.
  const untilNextTap = () => document.addEventListener('pointerdown', T.dom.hideTip, { once: true });

  // Calls draw once in the next frame, however often it is asked to; not for a box that is gone.
  function inFrames(box, draw) {
    let asked = false;
    return () => {
      if (asked) return;
      asked = true;
      requestAnimationFrame(() => { asked = false; if (box.isConnected) draw(); });
    };
  }

  // Tooltips and dragging; now() is the player's time. The buttons go into `tools`.
  function attach(topology, tools, sends, now, redraw) {
    const { box } = topology;
    const redrawSoon = inFrames(box, redraw);
    let drag = null;
    tools.append(buttons(topology, () => { box.classList.toggle('zoomed', topology.zoom.scale > 1); redraw(); }));
    const tip = (event) => {
      const rect = box.getBoundingClientRect();
      const found = under(topology, event.clientX - rect.left, event.clientY - rect.top);
      if (!found) T.dom.hideTip();
      else T.dom.showTip('node' in found ? nodeLines(topology, sends, found.node, now()) : linkLines(topology.view, found.link), event);
    };
    box.addEventListener('pointerdown', (event) => {
      if (topology.zoom.scale > 1) {
        drag = { x: event.clientX - topology.zoom.x, y: event.clientY - topology.zoom.y };
        box.setPointerCapture(event.pointerId);
      }
    });
    box.addEventListener('pointermove', (event) => {
      if (drag) {
        Object.assign(topology.zoom, { x: event.clientX - drag.x, y: event.clientY - drag.y });
        T.dom.hideTip();
        redrawSoon();
      } else if (event.pointerType !== 'touch') tip(event);
    });
    for (const name of ['pointerup', 'pointercancel']) box.addEventListener(name, () => { drag = null; });
    box.addEventListener('click', (event) => {
      tip(event);
      untilNextTap();
    });
    box.addEventListener('pointerleave', (event) => { if (event.pointerType !== 'touch') T.dom.hideTip(); });
  }

  T.pointer = { attach, untilNextTap };
})((globalThis.Tutti = globalThis.Tutti || {}));
