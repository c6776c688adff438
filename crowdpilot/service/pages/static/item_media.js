// Images, sounds and videos of items: whether they are loaded, what to do if not, and the keys that play them.
"use strict";

const SLOW_MS = 8000; // after which a worker need not wait any longer
const SEEK_SECONDS = 5;

const mediaOf = (item) => [...item.querySelectorAll(".item-media")];
const elementOf = (box) => box.querySelector("img, audio, video");

// "loading"; "missing", if something failed or takes long; or "ready".
function seen(item) {
  const states = mediaOf(item).map((box) => box.dataset.state);
  if (states.some((state) => state === "failed" || state === "slow")) return "missing";
  return states.includes("loading") ? "loading" : "ready";
}

function setMediaState(box, state) {
  const words = box.querySelector(".item-broken-words");
  box.dataset.state = state;
  box.querySelector(".item-broken").hidden = state !== "failed" && state !== "slow";
  words.textContent = state === "failed" ? words.dataset.failed : words.dataset.slow;
  box.dispatchEvent(new CustomEvent("media-state", { bubbles: true }));
}

function watchMedia(item) {
  for (const box of mediaOf(item)) {
    if (box.dataset.watched) continue;
    box.dataset.watched = "yes";
    const element = elementOf(box);
    const ready = () => { if (box.dataset.state !== "ready") setMediaState(box, "ready"); }; // sounds suspend many times
    const failed = () => setMediaState(box, "failed");
    // A browser that saves data suspends before it has loaded anything: it loads when the worker plays.
    for (const event of ["load", "loadedmetadata", "suspend"]) element.addEventListener(event, ready);
    element.addEventListener("error", failed);
    if (element.naturalWidth || element.readyState >= 1) ready();
    else if (element.error || (element.complete && element.src)) failed();
    else setMediaState(box, "loading");
  }
}

// From when an item is shown: what is not loaded for long need not be waited for.
function hurryMedia(item) {
  setTimeout(() => {
    for (const box of mediaOf(item)) if (box.dataset.state === "loading") setMediaState(box, "slow");
  }, SLOW_MS);
}

function retryMedia(item, box) {
  const element = elementOf(box);
  const address = element.src;
  setMediaState(box, "loading");
  element.removeAttribute("src");
  element.src = address;
  element.load?.();
  hurryMedia(item);
}

function pauseMedia(item) {
  item.querySelectorAll("audio, video").forEach((media) => media.pause());
}

const playOrPause = (media) => (media.paused ? media.play().catch(() => {}) : media.pause());

// Whether a key was one that plays: space, or an arrow key. One with the focus has keys of its own.
function playByKey(item, event) {
  const media = item.querySelector("video, audio");
  if (!media || event.target.closest("video, audio") || (event.key === " " && event.target.closest("button, a, summary"))) return false;
  const end = Number.isFinite(media.duration) ? media.duration : Infinity;
  if (event.key === " " && event.repeat) return true;
  if (event.key === " ") playOrPause(media);
  else if (event.key === "ArrowLeft") media.currentTime = Math.max(0, media.currentTime - SEEK_SECONDS);
  else if (event.key === "ArrowRight") media.currentTime = Math.min(end, media.currentTime + SEEK_SECONDS);
  else return false;
  return true;
}
