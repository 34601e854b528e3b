// Time: the slider, play and pause, steps from start to start, speed. Tells changed(time) of every change, at most once per frame.
(function (T) {
  'use strict';

  const el = (...parts) => T.dom.el(...parts);

  const icons = { play: 'M4 2 L14 8 L4 14 Z', pause: 'M3 2 H7 V14 H3 Z M9 2 H13 V14 H9 Z', back: 'M2 2 H4.5 V14 H2 Z M14 2 V14 L5.5 8 Z', on: 'M2 2 L10.5 8 L2 14 Z M11.5 2 H14 V14 H11.5 Z' };

  const longestFrame = 200; // milliseconds: a page that was asleep goes on where it was

  class Player {
    constructor(parent, view, sends, changed) {
      Object.assign(this, { view, sends, changed, time: 0, playing: false, frame: 0 });
      // Each moment at which something starts gets a good look, but the whole is over in half a minute.
      this.seconds = Math.min(Math.max(0.6 * sends.starts.length, 4), 24);
      this.build(parent);
      this.move(0);
    }

    build(parent) {
      const button = (id, icon, title, action) => el('button', { type: 'button', id, title, 'aria-label': title, on: { click: action } }, T.dom.icon(icon));
      this.button = button('play', icons.play, 'Play', () => this.toggle());
      this.slider = el('input', { id: 'time', type: 'range', min: 0, max: this.view.makespan, step: 'any', value: 0, 'aria-label': 'Time' });
      this.slider.addEventListener('input', () => { this.pause(); this.moveSoon(Number(this.slider.value)); });
      this.speed = el('select', { id: 'speed', 'aria-label': 'Speed' }, ...[0.25, 0.5, 1, 2, 4].map((speed) => el('option', { value: speed, selected: speed === 1 }, `${speed} ×`)));
      this.now = el('output', { id: 'now', 'aria-live': 'off' });
      this.flight = el('output', { id: 'in-flight', 'aria-live': 'off' });
      parent.append(this.button, button('step-back', icons.back, 'To the start before', () => this.step(-1)), button('step-on', icons.on, 'To the next start', () => this.step(1)),
        this.slider, el('span', { class: 'clock' }, this.now, this.flight), this.speed);
    }

    toggle() {
      if (this.playing) this.pause();
      else this.play();
    }

    play() {
      if (this.time >= this.view.makespan) this.move(0);
      this.playing = true;
      this.label(icons.pause, 'Pause');
      let before = null; // frames have a clock of their own, which may be behind the one of the click
      const tick = (now) => {
        if (!this.playing) return;
        const passed = before === null ? 0 : Math.min(now - before, longestFrame) / 1000;
        const next = this.time + passed * (this.view.makespan / this.seconds) * Number(this.speed.value);
        before = now;
        this.move(Math.min(next, this.view.makespan));
        if (this.time >= this.view.makespan) this.pause();
        else this.frame = requestAnimationFrame(tick);
      };
      this.frame = requestAnimationFrame(tick);
    }

    pause() {
      this.playing = false;
      cancelAnimationFrame(this.frame);
      this.frame = 0;
      this.label(icons.play, 'Play');
    }

    label(icon, title) {
      this.button.replaceChildren(T.dom.icon(icon));
      this.button.title = title;
      this.button.setAttribute('aria-label', title);
    }

    // To the start before or after now; the makespan is the last stop.
    step(direction) {
      this.pause();
      const { starts } = this.sends;
      const after = T.sends.upTo(starts, this.time);
      if (direction > 0) this.move(after < starts.length ? starts[after] : this.view.makespan);
      else this.move(starts[Math.max(0, after - (starts[after - 1] === this.time ? 2 : 1))] ?? 0);
    }

    moveSoon(time) {
      this.wanted = time;
      if (this.frame === 0) this.frame = requestAnimationFrame(() => { this.frame = 0; this.move(this.wanted); });
    }

    move(time) {
      this.time = time;
      if (Number(this.slider.value) !== time) this.slider.value = time;
      const text = T.format.ticks(time, this.view.units, 5);
      this.now.textContent = `${text} of ${T.format.ticks(this.view.makespan, this.view.units, 5)}${this.view.units === 'physical' ? '' : ' ticks'}`;
      this.now.dataset.time = time;
      this.slider.setAttribute('aria-valuetext', this.now.textContent);
      const flying = this.changed(time);
      this.flight.textContent = `${T.format.count(flying)}${this.view.sends.note ? ' of the shown sends' : ''} in flight`;
      this.flight.dataset.value = flying;
    }

    close() {
      this.pause();
    }
  }

  T.Player = Player;
})((globalThis.Tutti = globalThis.Tutti || {}));
