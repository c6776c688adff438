// Signs of life of the labelling page: what it shows stays leased while the worker does something there. After a while
// without that they end, which nobody sees; the next move is a sign again, and the page gets other items if need be. Who
// is away for long goes to the page of a break, and a page that is closed gives its items back at once.
"use strict";

(function watchPresence({ home, beat, quiet, idle, hidden }) {
  const page = newKey();
  let active = Date.now(); // when the worker last did something
  let signed = 0; // when the page last gave a sign of life
  let behind = null; // since when the page is behind others
  let leaving = false;

  const isPlaying = () => [...document.querySelectorAll("audio, video")].some((media) => !media.paused);
  const isUnsent = () => { try { return ["", "comments "].some((kind) => (sessionStorage.getItem(`unsent ${kind}${csrf}`) ?? "[]") !== "[]"); } catch { return false; } };
  const isAway = (now) => now - active > idle * 1000 || (behind !== null && now - behind > hidden * 1000);

  // What the server holds for this page; null if it cannot be reached.
  async function stay() {
    try {
      const answer = await request(`${home}/presence`, { method: "POST", body: new URLSearchParams({ page }) });
      return answer.ok ? (await answer.json()).held : null;
    } catch {
      return null;
    }
  }

  async function sign() {
    if (leaving || isUnsent()) return;
    signed = Date.now();
    const shown = document.querySelector("#deck .item");
    if (await stay() === 0 && shown?.isConnected && !isUnsent() && !leaving) document.dispatchEvent(new Event("items-gone"));
  }

  function check() {
    const now = Date.now();
    if (isPlaying()) {
      active = now;
      behind &&= now;
    }
    if (now - active <= quiet * 1000) sign();
    else document.dispatchEvent(new Event("worker-quiet"));
    if (isAway(now) && !leaving && !isUnsent()) go(`${home}/pause?away=1`);
  }

  // The worker does something: a sign of life at once, if the last one was long ago.
  function note() {
    active = Date.now();
    if (active - signed > beat * 1000) sign();
  }

  function go(address) {
    leaving = true;
    location.assign(address);
  }

  function close() {
    navigator.sendBeacon(`${home}/presence`, new URLSearchParams({ csrf, page, left: "1" }));
  }

  for (const event of ["pointerdown", "pointermove", "keydown", "wheel", "touchstart", "scroll"]) {
    addEventListener(event, note, { passive: true, capture: true });
  }
  document.addEventListener("visibilitychange", () => {
    behind = document.visibilityState === "visible" ? null : Date.now();
    if (behind !== null) return;
    check();
    note();
  });
  addEventListener("pagehide", close);
  addEventListener("pageshow", (event) => {
    if (!event.persisted) return;
    leaving = false;
    signed = 0; // the page was closed
    note();
  });
  sign();
  setInterval(check, beat * 1000);
})({
  home: document.currentScript.dataset.home,
  beat: Number(document.currentScript.dataset.beat),
  quiet: Number(document.currentScript.dataset.quiet),
  idle: Number(document.currentScript.dataset.idle),
  hidden: Number(document.currentScript.dataset.hidden),
});
