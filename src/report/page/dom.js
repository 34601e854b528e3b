// Elements, the tooltip and the theme. Text from the data is only ever set as text.
(function (T) {
  'use strict';

  // el('p', {class: 'x', data: {value: 3}, on: {click}}, child, 'text', …); attributes that are null or false are left out.
  function el(tag, attributes, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
      if (value === null || value === undefined || value === false) continue;
      if (name === 'data') Object.assign(node.dataset, value);
      else if (name === 'on') Object.entries(value).forEach(([event, action]) => node.addEventListener(event, action));
      else node.setAttribute(name, value === true ? '' : String(value));
    }
    node.append(...children.filter((child) => child !== null && child !== undefined));
    return node;
  }

  // A drawing of 16 by 16, from the text of an SVG path.
  function icon(path) {
    const space = 'http://www.w3.org/2000/svg';
    const svg = document.createElementNS(space, 'svg');
    const shape = document.createElementNS(space, 'path');
    for (const [name, value] of [['viewBox', '0 0 16 16'], ['width', '16'], ['height', '16'], ['aria-hidden', 'true']]) svg.setAttribute(name, value);
    shape.setAttribute('d', path);
    shape.setAttribute('fill', 'currentColor');
    svg.append(shape);
    return svg;
  }

  const byId = (id) => document.getElementById(id);

  // Lines of text beside the pointer.
  function showTip(lines, event) {
    const tip = byId('tip');
    tip.replaceChildren(...lines.map((line, i) => el(i === 0 ? 'strong' : 'span', null, line)));
    tip.hidden = false;
    const { width, height } = tip.getBoundingClientRect();
    const left = event.clientX + 14 + width > window.innerWidth ? event.clientX - width - 10 : event.clientX + 14;
    const top = event.clientY + 14 + height > window.innerHeight ? event.clientY - height - 10 : event.clientY + 14;
    tip.style.left = `${Math.max(4, left)}px`;
    tip.style.top = `${Math.max(4, top)}px`;
  }
  const hideTip = () => { byId('tip').hidden = true; };

  // The colours of the style sheet, for what is drawn on a canvas. Asking the style for them is slow, so they are kept until they may have changed.
  let kept = null;
  const theme = () => (kept = kept || readTheme());
  const forgetTheme = () => { kept = null; };

  function readTheme() {
    const style = getComputedStyle(document.documentElement);
    const read = (name) => style.getPropertyValue(name).trim();
    return {
      dark: read('--dark') === '1',
      page: read('--page'),
      panel: read('--panel'),
      text: read('--text'),
      muted: read('--muted'),
      line: read('--line'),
      proof: read('--proof'),
      proofArea: read('--proof-area'),
      font: style.fontFamily,
    };
  }

  // A canvas as sharp as the screen; returns its context in CSS pixels, cleared.
  function sharpContext(canvas, width, height) {
    const ratio = Math.min(window.devicePixelRatio || 1, 3);
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
      canvas.style.width = `${width}px`;
      canvas.style.height = `${height}px`;
    }
    const context = canvas.getContext('2d');
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    return context;
  }

  const hasCharts = () => typeof globalThis.echarts !== 'undefined';

  T.dom = { el, icon, byId, showTip, hideTip, theme, forgetTheme, sharpContext, hasCharts };
})((globalThis.Tutti = globalThis.Tutti || {}));
