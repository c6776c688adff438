// The labelling page: the answer is shown pressed and the next item appears at once, from a batch that is in the
// page; answers are sent in the background (outbox.js).
"use strict";

const byId = (id) => document.getElementById(id);

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
  const REFILL_BELOW = Math.min(3, Math.floor(work.querySelectorAll(".item").length / 2)); // items left when more are fetched
  const DOUBLE_PRESS_MS = 150; // in which a second press is ignored
  const home = work.dataset.home;
  const deck = byId("deck");
  const clock = makeClock();
  const answered = new Map(); // what was answered here, by name, for undo and so as not to show it twice
  let shown = null;
  let shownAt = 0;
  let busy = false;
  let fetching = null;
  let done = Number(byId("done").textContent);
  let needed = Number(byId("needed").textContent); // labelled answers until the worker can finish

  const nameOf = (item) => `${item.dataset.item}.${item.dataset.criterion}`;
  const nameOfVote = (vote) => `${vote.item}.${vote.criterion}`;
  const unsure = work.querySelector('[data-label=""]');
  const buttons = { 0: unsure, c: unsure }; // by key
  work.querySelectorAll(".answer").forEach((button, place) => { if (place < 9) buttons[place + 1] = button; });
  const waiting = () => [...deck.querySelectorAll(".item")];

  function showState(state) {
    const words = { saving: "Saving…", saved: "Saved", offline: "Offline, will try again" };
    byId("saving").textContent = words[state];
    byId("saving").classList.toggle("work-saving--bad", state === "offline");
  }

  function showError(words) {
    byId("problem").hidden = !words;
    byId("problem").firstElementChild.textContent = words;
  }

  function onRefused(vote, words) {
    answered.delete(nameOfVote(vote));
    count(-1, vote.label);
    showError(words);
  }

  function onSessionEnd(words) {
    showError(words);
    setBusy(true);
  }

  const outbox = makeOutbox(`${home}/vote`, { showState, onRefused, onSessionEnd });

  // Count an answer, or take one off; one without a label is not needed.
  function count(more, label) {
    done = Math.max(0, done + more);
    needed -= label ? more : 0;
    byId("done").textContent = String(done);
    byId("needed").textContent = String(needed);
    byId("until").hidden = needed <= 0;
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
    if (items.length <= REFILL_BELOW) refill();
  }

  function announce() {
    const text = shown.querySelector(".item-text")?.textContent ?? "An image.";
    byId("say").textContent = `Item ${done + 1}. ${shown.dataset.question} ${text}`;
  }

  function itemsOf(fragment) {
    const holder = document.createElement("template");
    holder.innerHTML = fragment;
    return [...holder.content.querySelectorAll(".item")];
  }

  // Put items at the end of the deck, leaving out those that are there or answered already.
  function place(items) {
    const there = new Set(waiting().map(nameOf));
    const added = items.filter((item) => !there.has(nameOf(item)) && !answered.has(nameOf(item)));
    byId("wait").before(...added);
    added.forEach(watchImage);
  }

  function refill() {
    fetching ??= fetchMore().finally(() => { fetching = null; });
  }

  async function fetchMore() {
    for (let wait = 1; ; wait = Math.min(wait * 2, 30)) {
      if (!waiting().length) await outbox.drained();
      const empty = !waiting().length; // then the server knows all that was answered here
      const answer = await request(`${home}/batch`).catch(() => null);
      if (answer?.ok) {
        place(itemsOf(await answer.text()));
        if (waiting().length) return shown ? null : show();
        if (empty) return goHome();
      } else if (answer && answer.status < 500 && answer.status !== 429) {
        return goHome();
      } else {
        showState("offline");
        await new Promise((next) => setTimeout(next, wait * 1000));
      }
    }
  }

  async function goHome() {
    await outbox.drained();
    location.assign(home);
    await new Promise(() => {}); // nothing more is fetched
  }

  function answer(button) {
    if (!shown || busy || performance.now() - shownAt < DOUBLE_PRESS_MS) return;
    const { item, criterion } = shown.dataset;
    const label = button.dataset.label || null; // null: they cannot tell
    const vote = { item: Number(item), criterion: Number(criterion), label, seconds: clock.seconds(), key: newKey() };
    button.classList.add("answer--pressed");
    setTimeout(() => button.classList.remove("answer--pressed"), 160);
    showError("");
    answered.set(nameOf(shown), shown);
    shown.dataset.label = label ?? "";
    shown.remove();
    count(1, label);
    outbox.add(vote);
    show();
  }

  async function undo() {
    if (busy) return;
    showError("");
    setBusy(true);
    await takeBack().catch(() => showError("You are offline. Undo works again when the connection is back."));
    setBusy(false);
  }

  // An answer that was not sent yet never happened; any other is taken back by the server.
  async function takeBack() {
    const last = outbox.unsent.length > 1 ? answered.get(nameOfVote(outbox.unsent.at(-1))) : null;
    if (last) {
      outbox.drop();
      return returned(last);
    }
    const slow = setTimeout(() => showError("Undo waits until your last answer is saved."), 800);
    await outbox.drained();
    clearTimeout(slow);
    const answer = await request(`${home}/undo`, { method: "POST" });
    showError(answer.ok ? "" : await wordsOf(answer));
    if (answer.ok) itemsOf(await answer.text()).forEach(returned);
  }

  function returned(item) {
    const label = (answered.get(nameOf(item)) ?? item).dataset.label ?? "unknown";
    answered.delete(nameOf(item));
    waiting().find((one) => nameOf(one) === nameOf(item))?.remove();
    deck.prepend(item);
    watchImage(item);
    count(-1, label);
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
    if (outbox.unsent.length) showError("Some answers are not saved yet. Please wait until you are online again.");
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
    const view = byId("zoom").querySelector(".zoom-in");
    view.firstElementChild.src = button.querySelector("img").src;
    byId("zoom").showModal();
    const middle = () => view.scrollTo((view.scrollWidth - view.clientWidth) / 2, (view.scrollHeight - view.clientHeight) / 2);
    view.firstElementChild.decode().then(middle, middle);
  }

  function rememberKeys() {
    byId("keys").checked = readStored("localStorage", "keys") !== "off";
    byId("keys").addEventListener("change", (event) => store("localStorage", "keys", event.target.checked ? "on" : "off"));
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
    answered.set(nameOfVote(vote), item);
    item?.remove();
    count(1, vote.label);
  }
  outbox.drained();
  waiting().forEach(watchImage);
  show();
}

labelling(byId("work"));
