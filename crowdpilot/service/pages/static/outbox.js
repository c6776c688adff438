// A queue of answers, or of comments: sent one after the other, and again until the server has committed them.
// What is not sent yet survives a reload of the page.
"use strict";

const csrf = document.querySelector('meta[name="csrf"]')?.content ?? "";

function request(address, options = {}) {
  const headers = { "X-CSRF-Token": csrf, "Accept-Language": document.documentElement.lang, ...options.headers };
  return fetch(address, { credentials: "same-origin", signal: AbortSignal.timeout(15000), ...options, headers });
}

async function wordsOf(answer) {
  const { detail } = await answer.json().catch(() => ({}));
  return detail ? `${detail[0].toUpperCase()}${detail.slice(1)}.` : say("That did not work. Please load the page again.");
}

function newKey() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (n) => n.toString(16).padStart(2, "0")).join("");
}

// Where a browser forbids storage, nothing is stored, and everything else works.
function readStored(storage, name) {
  try { return window[storage].getItem(name); } catch { return null; }
}

function store(storage, name, value) {
  try { window[storage].setItem(name, value); } catch { /* not stored */ }
}

// Callbacks: `showState(state)` with "saving", "saved" or "offline"; `onRefused(vote, words)` for an answer that the
// server refuses; `onSessionEnd(words)`, after which answers wait until the worker has signed in again.
function makeOutbox(address, { showState, onRefused, onSessionEnd }, kind = "") {
  const name = `unsent ${kind}${csrf}`;
  const unsent = JSON.parse(readStored("sessionStorage", name) ?? "[]");
  let sending = null;
  let wake = () => {};

  const keep = () => store("sessionStorage", name, JSON.stringify(unsent));
  const later = (seconds) => new Promise((done) => { wake = done; setTimeout(done, seconds * 1000); });

  // Whether an answer is settled: committed or refused.
  async function send(vote) {
    const headers = { "Content-Type": "application/json" };
    try {
      const answer = await request(address, { method: "POST", body: JSON.stringify(vote), headers, keepalive: true });
      if (answer.status === 401) onSessionEnd(await wordsOf(answer));
      if ([401, 429].includes(answer.status) || answer.status >= 500) return false;
      if (!answer.ok) onRefused(vote, await wordsOf(answer));
      return true;
    } catch {
      return false;
    }
  }

  async function run() {
    let wait = 1;
    while (unsent.length) {
      const slow = setTimeout(() => showState("saving"), 400);
      const over = await send(unsent[0]);
      clearTimeout(slow);
      if (over) {
        unsent.shift();
        keep();
        wait = 1;
      } else {
        showState("offline");
        await later(wait * (0.75 + Math.random() / 2));
        wait = Math.min(wait * 2, 30);
      }
    }
    showState("saved");
    sending = null;
  }

  window.addEventListener("online", () => wake());
  window.addEventListener("beforeunload", (event) => { if (unsent.length) event.preventDefault(); });
  return {
    unsent,
    drained: () => (sending ??= unsent.length ? run() : null) ?? Promise.resolve(),
    // Of those that wait, the one that `isReplaced` names is left out; never the first, which may be on its way.
    add(vote, isReplaced = () => false) {
      const at = unsent.findLastIndex((one, n) => n > 0 && isReplaced(one));
      if (at > 0) unsent.splice(at, 1);
      unsent.push(vote);
      keep();
      this.drained();
    },
    drop() { unsent.pop(); keep(); }, // the last; never the first, which may be on its way
  };
}
