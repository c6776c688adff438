// A page that waits for work: it looks again by itself, while it can be seen, and goes on when there is something.
"use strict";

(function lookAgain({ look, next, seconds }) {
  let looking = false;

  async function check() {
    if (looking || document.visibilityState !== "visible") return;
    if (!look) return location.reload();
    looking = true;
    const answer = await fetch(look, { credentials: "same-origin" }).catch(() => null);
    if (answer?.ok && !(await answer.json()).wait) location.assign(next);
    else if (answer && !answer.ok && answer.status < 500 && answer.status !== 429) location.assign(next);
    looking = false;
  }

  document.addEventListener("visibilitychange", check);
  setInterval(check, seconds * 1000);
})({
  look: document.currentScript.dataset.look,
  next: document.currentScript.dataset.next,
  seconds: Number(document.currentScript.dataset.seconds),
});
