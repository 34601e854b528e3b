// Which instance is open is in the address, so that the back button works and a view can be linked to.
(function (T) {
  'use strict';

  const prefix = '#view=';
  let show = () => {};

  const hashOf = (key) => prefix + encodeURIComponent(key);

  function current() {
    if (!location.hash.startsWith(prefix)) return null;
    const text = location.hash.slice(prefix.length);
    try {
      return decodeURIComponent(text);
    } catch {
      return text; // no key, but then the page says which one it does not know
    }
  }

  // The entry remembers whether the overview is right behind it in the history.
  function open(key) {
    history.pushState({ overviewBehind: current() === null }, '', hashOf(key));
    show(key);
  }

  function close() {
    if (history.state?.overviewBehind) {
      history.back();
    } else {
      history.pushState(null, '', '#');
      show(null);
    }
  }

  // Calls change(key or null) now and after every change; links to views open them here.
  function start(change) {
    show = change;
    window.addEventListener('popstate', () => show(current()));
    document.addEventListener('click', (event) => {
      const link = event.target.closest?.(`a[href^="${prefix}"]`);
      if (!link || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
      event.preventDefault();
      open(decodeURIComponent(link.getAttribute('href').slice(prefix.length)));
    });
    show(current());
  }

  T.route = { hashOf, open, close, start };
})((globalThis.Tutti = globalThis.Tutti || {}));
