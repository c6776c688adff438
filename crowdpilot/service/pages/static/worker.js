// The worker pages. Labelling: the next item is shown at once, answers are sent one after the other in the
// background and sent again, with the same key, until the server has them.
"use strict";

const byId = (id) => document.getElementById(id);
const csrf = document.querySelector('meta[name="csrf"]')?.content ?? "";

function ask(address, options = {}) {
  const headers = { "X-CSRF-Token": csrf, ...options.headers };
  return fetch(address, { credentials: "same-origin", signal: AbortSignal.timeout(15000), ...options, headers });
}

// Answers on their way. `tell(state)` hears "saving", "saved", "offline"; `refused(vote, words, status)`.
function makeOutbox(address, tell, refused) {
  const name = `unsent ${csrf}`;
  const unsent = JSON.parse(sessionStorage.getItem(name) ?? "[]");
  let sending = null;
  let wake = () => {};

  const keep = () => sessionStorage.setItem(name, JSON.stringify(unsent));
  const later = (seconds) => new Promise((done) => { wake = done; setTimeout(done, seconds * 1000); });

  async function send(vote) {
    const body = JSON.stringify(vote);
    const headers = { "Content-Type": "application/json" };
    try {
      const answer = await ask(address, { method: "POST", body, headers, keepalive: true });
      if (answer.status === 429 || answer.status >= 500) return "again";
      if (!answer.ok) refused(vote, await wordsOf(answer), answer.status);
      return "over";
    } catch {
      return "again";
    }
  }

  async function run() {
    let wait = 1;
    while (unsent.length) {
      const slow = setTimeout(() => tell("saving"), 400);
      const outcome = await send(unsent[0]);
      clearTimeout(slow);
      if (outcome === "over") {
        unsent.shift();
        keep();
        wait = 1;
      } else {
        tell("offline");
        await later(wait * (0.75 + Math.random() / 2));
        wait = Math.min(wait * 2, 30);
      }
    }
    tell("saved");
    sending = null;
  }

  window.addEventListener("online", () => wake());
  window.addEventListener("beforeunload", (event) => { if (unsent.length) event.preventDefault(); });
  return {
    unsent,
    drained: () => (sending ??= unsent.length ? run() : null) ?? Promise.resolve(),
    add(vote) { unsent.push(vote); keep(); this.drained(); },
    takeBack() { const vote = unsent.length > 1 ? unsent.pop() : null; keep(); return vote; },
  };
}

async function wordsOf(answer) {
  const found = await answer.json().catch(() => ({}));
  return found.detail || "That did not work. Please load the page again.";
}

function newKey() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (n) => n.toString(16).padStart(2, "0")).join("");
}

// Seconds for which the page was visible since the last start.
function makeClock() {
  let spent = 0;
  let since = performance.now();
  const visible = () => document.visibilityState === "visible";
  const settle = () => { if (since !== null) spent += performance.now() - since; since = visible() ? performance.now() : null; };
  document.addEventListener("visibilitychange", settle);
  return {
    start() { spent = 0; since = visible() ? performance.now() : null; },
    seconds() { settle(); return Math.round(spent) / 1000; },
  };
}

function labelling(work) {
  const LOW = 3; // items left in the page when more are fetched
  const GUARD = 150; // milliseconds in which a second press is taken for a slip
  const home = work.dataset.home;
  const deck = byId("deck");
  const clock = makeClock();
  const given = new Map(); // what was answered here, by name, for undo and so as not to show it twice
  let shown = null;
  let shownAt = 0;
  let busy = false;
  let fetching = null;
  let done = Number(byId("done").textContent);

  const nameOf = (item) => `${item.dataset.item}.${item.dataset.criterion}`;
  const nameOfVote = (vote) => `${vote.item}.${vote.criterion}`;
  const unsure = work.querySelector('[data-label=""]');
  const buttons = { 0: unsure, c: unsure }; // by key
  work.querySelectorAll(".answer").forEach((button, place) => { if (place < 9) buttons[place + 1] = button; });
  const waiting = () => [...deck.querySelectorAll(".item")];

  function tell(state) {
    const words = { saving: "Saving…", saved: "Saved", offline: "Offline, will try again" };
    byId("saving").textContent = words[state];
    byId("saving").classList.toggle("work-saving--bad", state === "offline");
  }

  function problem(words) {
    byId("problem").hidden = !words;
    byId("problem").firstElementChild.textContent = words;
  }

  function refused(vote, words, status) {
    given.delete(nameOfVote(vote));
    count(-1);
    problem(words);
    if (status === 401) setBusy(true);
  }

  const outbox = makeOutbox(`${home}/vote`, tell, refused);

  function count(more) {
    done = Math.max(0, done + more);
    byId("done").textContent = String(done);
  }

  function setBusy(now) {
    busy = now;
    work.querySelector(".answers").setAttribute("aria-busy", String(now));
  }

  function show() {
    const items = waiting();
    shown = items[0] ?? null;
    items.forEach((item, place) => { item.hidden = place > 0; });
    byId("wait").hidden = shown !== null;
    if (shown) {
      byId("question").textContent = shown.dataset.question;
      announce();
      clock.start();
      shownAt = performance.now();
    }
    if (items.length <= LOW) refill();
  }

  function announce() {
    const text = shown.querySelector(".item-text")?.textContent ?? "An image.";
    byId("say").textContent = `Item ${done + 1}. ${shown.dataset.question} ${text}`;
  }

  // Put the items of a fragment into the deck, leaving out those that are there or answered already.
  function place(fragment, first = false) {
    const holder = document.createElement("template");
    holder.innerHTML = fragment;
    const there = new Set(waiting().map(nameOf));
    const fresh = [...holder.content.querySelectorAll(".item")];
    const added = fresh.filter((item) => !there.has(nameOf(item)) && !given.has(nameOf(item)));
    if (first) deck.prepend(...added);
    else byId("wait").before(...added);
    added.forEach(watchImage);
    return added.length;
  }

  function refill() {
    fetching ??= fetchMore().finally(() => { fetching = null; });
  }

  async function fetchMore() {
    for (let wait = 1; ; wait = Math.min(wait * 2, 30)) {
      if (!waiting().length) await outbox.drained();
      const empty = !waiting().length; // then everything given is known to the server
      try {
        const answer = await ask(`${home}/batch`);
        if (answer.ok) {
          const added = place(await answer.text());
          if (!shown && waiting().length) show();
          if (added || !empty) return;
          return location.assign(home);
        }
        if (answer.status < 500 && answer.status !== 429) {
          await outbox.drained();
          return location.assign(home);
        }
      } catch {
        tell("offline");
      }
      await new Promise((next) => setTimeout(next, wait * 1000));
    }
  }

  function answer(button) {
    if (!shown || busy || performance.now() - shownAt < GUARD) return;
    const { item, criterion } = shown.dataset;
    const label = button.dataset.label || null; // null: they cannot tell
    const vote = { item: Number(item), criterion: Number(criterion), label, seconds: clock.seconds(), key: newKey() };
    button.classList.add("answer--pressed");
    setTimeout(() => button.classList.remove("answer--pressed"), 160);
    problem("");
    given.set(nameOf(shown), shown);
    shown.remove();
    count(1);
    outbox.add(vote);
    show();
  }

  async function undo() {
    if (busy) return;
    problem("");
    setBusy(true);
    const kept = outbox.takeBack();
    try {
      if (kept) returned(given.get(nameOfVote(kept)).outerHTML, nameOfVote(kept));
      else await undoThere();
    } catch {
      problem("You are offline. Undo works again when the connection is back.");
    }
    setBusy(false);
  }

  async function undoThere() {
    await outbox.drained();
    const answer = await ask(`${home}/undo`, { method: "POST" });
    if (!answer.ok) return problem(await wordsOf(answer));
    const fragment = await answer.text();
    const name = fragment.match(/data-item="(\d+)" data-criterion="(\d+)"/);
    returned(fragment, name ? `${name[1]}.${name[2]}` : "");
  }

  function returned(fragment, name) {
    given.delete(name);
    if (place(fragment, true)) count(-1);
    show();
  }

  function watchImage(item) {
    const image = item.querySelector(".item-image img");
    if (!image) return;
    const broken = () => { item.querySelector(".item-broken").hidden = false; };
    if (image.complete && image.src && !image.naturalWidth) broken();
    image.addEventListener("error", broken);
  }

  async function leave(event) {
    if (!outbox.unsent.length) return;
    event.preventDefault();
    await Promise.race([outbox.drained(), new Promise((next) => setTimeout(next, 4000))]);
    if (outbox.unsent.length) problem("Some answers are not saved yet. Please wait until you are online again.");
    else event.target.submit();
  }

  function press(event) {
    const typing = event.target.closest("input, textarea, select") !== null;
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || typing || !byId("keys").checked) return;
    if (document.querySelector("dialog[open]")) return;
    const key = event.key.toLowerCase();
    if (buttons[key]) answer(buttons[key]);
    else if (key === "u" || key === "backspace") undo();
    else if (key === "p") byId("pause").requestSubmit();
    else return;
    event.preventDefault();
  }

  function zoom(button) {
    byId("zoom").querySelector("img").src = button.querySelector("img").src;
    byId("zoom").showModal();
  }

  function rememberKeys() {
    byId("keys").checked = localStorage.getItem("keys") !== "off";
    byId("keys").addEventListener("change", (event) => localStorage.setItem("keys", event.target.checked ? "on" : "off"));
  }

  work.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (button?.dataset.label !== undefined) answer(button);
    else if (button?.id === "undo") undo();
    else if (button?.dataset.zoom !== undefined) zoom(button);
  });
  byId("zoom").addEventListener("click", (event) => { if (event.target.closest(".zoom-in")) byId("zoom").close(); });
  byId("pause").addEventListener("submit", leave);
  document.addEventListener("keydown", press);
  rememberKeys();
  for (const vote of outbox.unsent) {
    const item = waiting().find((one) => nameOf(one) === nameOfVote(vote));
    if (item) { given.set(nameOf(item), item); item.remove(); count(1); }
  }
  outbox.drained();
  waiting().forEach(watchImage);
  show();
}

function dialogs() {
  document.addEventListener("click", (event) => {
    const opener = event.target.closest("[data-open]");
    if (opener) byId(opener.dataset.open).showModal();
    if (event.target.closest("[data-close]")) event.target.closest("dialog").close();
  });
}

function copying() {
  document.querySelector("[data-copy]")?.addEventListener("click", async (event) => {
    const button = event.currentTarget;
    const code = byId(button.dataset.copy);
    try {
      await navigator.clipboard.writeText(code.textContent.trim());
      button.querySelector("[data-copy-words]").textContent = "Copied";
      byId("copied").textContent = "The code is copied.";
    } catch {
      getSelection().selectAllChildren(code);
      byId("copied").textContent = "The code is selected. Copy it with your keyboard.";
    }
  });
}

dialogs();
copying();
if (byId("work")) labelling(byId("work"));
