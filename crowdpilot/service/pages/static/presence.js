// Signs of life of the labelling page: what it shows stays leased while the worker is here. Who is away for long goes
// to the page of a break, and a page that is closed gives its items back at once.
"use strict";

(function watchPresence({ home, beat, idle, hidden }) {
  const csrf = document.querySelector('meta[name="csrf"]').content;
  const HURRY_MS = 3000; // after which a page that was just loaded gives its second sign of life
  let active = Date.now(); // when the worker last did something
  let behind = null; // since when the page is behind others
  let leaving = false;

  const isPlaying = () => [...document.querySelectorAll("audio, video")].some((media) => !media.paused);
  const isUnsent = () => { try { return ["", "comments "].some((kind) => (sessionStorage.getItem(`unsent ${kind}${csrf}`) ?? "[]") !== "[]"); } catch { return false; } };
  const isAway = (now) => now - active > idle * 1000 || (behind !== null && now - behind > hidden * 1000);

  // What the server holds for this page; null if it cannot be reached.
  async function stay() {
    const options = { method: "POST", headers: { "X-CSRF-Token": csrf }, credentials: "same-origin" };
    const answer = await fetch(`${home}/presence`, options).catch(() => null);
    return answer?.ok ? (await answer.json()).held : null;
  }

  async function check() {
    if (leaving || isUnsent()) return;
    if (isPlaying()) active = Date.now();
    if (isAway(Date.now())) return go(`${home}/pause?away=1`);
    const shown = document.querySelector("#deck .item");
    if (await stay() === 0 && shown?.isConnected && !isUnsent() && !leaving) go(`${home}/label`);
  }

  function go(address) {
    leaving = true;
    location.assign(address);
  }

  function close() {
    navigator.sendBeacon(`${home}/presence`, new URLSearchParams({ csrf, left: "1" }));
  }

  for (const event of ["pointerdown", "pointermove", "keydown", "wheel", "touchstart", "scroll"]) {
    addEventListener(event, () => { active = Date.now(); }, { passive: true, capture: true });
  }
  document.addEventListener("visibilitychange", () => {
    behind = document.visibilityState === "visible" ? null : Date.now();
    if (behind === null) check();
  });
  addEventListener("pagehide", close);
  addEventListener("pageshow", (event) => { if (event.persisted) { leaving = false; check(); } });
  stay();
  setTimeout(stay, HURRY_MS);
  setInterval(check, beat * 1000);
})({
  home: document.currentScript.dataset.home,
  beat: Number(document.currentScript.dataset.beat),
  idle: Number(document.currentScript.dataset.idle),
  hidden: Number(document.currentScript.dataset.hidden),
});
