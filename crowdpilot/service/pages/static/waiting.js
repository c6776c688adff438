// A page that waits for work: it looks again by itself, while it can be seen, and goes on when there is something.
"use strict";

(function lookAgain({ look, next, seconds, script }) {
  const TIMEOUT_MS = 15000; // after which a look counts as failed, and the next one is due
  let looking = false;

  const isOver = async (answer) => (answer.ok ? !(await answer.json()).wait : answer.status < 500 && answer.status !== 429);

  // Without a session the page itself is loaded again, but only if the service can be reached.
  async function lookOnce() {
    const answer = await fetch(look || script, { credentials: "same-origin", cache: "no-store", signal: AbortSignal.timeout(TIMEOUT_MS) });
    if (!look && answer.ok) location.reload();
    else if (look && await isOver(answer)) location.assign(next);
  }

  async function check() {
    if (looking || document.visibilityState !== "visible") return;
    looking = true;
    await lookOnce().catch(() => {}); // it looks again
    looking = false;
  }

  document.addEventListener("visibilitychange", check);
  setInterval(check, seconds * 1000);
})({
  look: document.currentScript.dataset.look,
  next: document.currentScript.dataset.next,
  seconds: Number(document.currentScript.dataset.seconds),
  script: document.currentScript.src,
});
