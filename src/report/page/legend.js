// What the colours of a view mean.
(function (T) {
  'use strict';

  const el = (...parts) => T.dom.el(...parts);
  const mostGroups = 64;

  function utilisation() {
    const stops = Array.from({ length: 9 }, (_, i) => T.colours.utilisation(i / 8));
    const bar = el('span', { class: 'gradient', 'aria-hidden': 'true' });
    bar.style.background = `linear-gradient(to right, ${stops.join(', ')})`;
    return el('span', { class: 'legend-item' }, 'link utilisation 0 %', bar, '100 %');
  }

  // The mark of the group's dots; where there are more groups than colours also its bars.
  function swatch(group, bar) {
    const canvas = el('canvas', { class: 'swatch', 'aria-hidden': 'true' });
    const context = T.dom.sharpContext(canvas, bar ? 44 : 14, 14);
    if (bar) {
      const fill = T.colours.fill(group);
      context.fillStyle = fill.image ? context.createPattern(fill.image, fill.repeat) : fill;
      context.fillRect(18, 1, 26, 12);
    }
    context.beginPath();
    T.colours.tracePath(context, T.colours.mark(group), 7, 7, 5);
    context.fillStyle = T.colours.group(group);
    context.fill();
    context.lineWidth = 0.8;
    context.strokeStyle = T.dom.theme().text;
    context.stroke();
    return canvas;
  }

  function shape(name, text) {
    return el('span', { class: 'legend-item' }, el('span', { class: `shape ${name}`, 'aria-hidden': 'true' }), text);
  }

  // What is marked while the certificate is shown.
  function proof(view) {
    const { counted } = T.format;
    if (!view.cut) return shape('proof', `a fastest way: ${counted(view.path.links.length, 'link')}`);
    const { inside, links, out } = view.cut;
    return shape('proof', `${counted(inside.length, 'node')}, ${counted(links.length, 'link')} ${out ? 'out of' : 'into'} ${inside.length === 1 ? 'it' : 'them'}`);
  }

  function fill(parent, view, proven) {
    const items = view.groups.slice(0, mostGroups).map((group, i) => el('span', { class: 'legend-item', title: `${group.members.length} members: ${group.members.slice(0, 200).join(', ')}`, data: { group: i } },
      swatch(i, view.groups.length > T.colours.count), `${group.name} · ${group.collective}`));
    if (view.groups.length > mostGroups) items.push(el('span', { class: 'legend-item' }, `and ${view.groups.length - mostGroups} more`));
    parent.replaceChildren(utilisation(), shape('npu', 'NPU'), ...(view.x.length > view.npus ? [shape('switch', 'switch')] : []),
      el('span', { class: 'legend-item' }, el('span', { class: 'shape arc', 'aria-hidden': 'true' }), 'share received'), proven ? proof(view) : '', el('div', { class: 'groups', id: 'groups' }, ...items));
  }

  T.legend = { fill };
})((globalThis.Tutti = globalThis.Tutti || {}));
