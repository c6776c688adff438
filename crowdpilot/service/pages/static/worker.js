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
  const NOTICE_MS = 4000; // for which a notice is shown
  const home = work.dataset.home;
  const deck = byId("deck");
  const clock = makeClock();
  const answered = new Map(); // what was answered here, by name, for undo and so as not to show it twice
  let shown = null;
  let shownAt = 0;
  let busy = false;
  let noticeTimer = null;
  let fetching = null;
  let done = Number(byId("done").textContent);
  let needed = Number(byId("needed").textContent); // labelled answers until the share is done
  const ends = needed > 0; // with the last of them, however many items are left

  const nameOf = (item) => `${item.dataset.item}.${item.dataset.criterion}`;
  const nameOfVote = (vote) => `${vote.item}.${vote.criterion}`;
  const unsure = work.querySelector('.panel-more [data-label=""]');
  const answers = [...work.querySelectorAll(".answer")];
  const buttons = { 0: unsure, c: unsure }; // by key
  for (const button of answers) if (button.dataset.key) buttons[button.dataset.key] = button;
  const waiting = () => [...deck.querySelectorAll(".item")];

  function showState(state) {
    const words = { saving: say("Saving…"), saved: say("Saved"), offline: say("Offline, will try again") };
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

  // Says something for a moment, without moving anything.
  function notice(words) {
    clearTimeout(noticeTimer);
    byId("notice").textContent = words;
    noticeTimer = setTimeout(() => { byId("notice").textContent = ""; }, NOTICE_MS);
  }

  const leaveField = () => deck.focus({ preventScroll: true });
  const outbox = makeOutbox(`${home}/vote`, { showState, onRefused, onSessionEnd });
  const comments = makeOutbox(
    `${home}/comment`,
    { showState: (state) => { if (state !== "saved" || !outbox.unsent.length) showState(state); }, onRefused: (_, words) => showError(words), onSessionEnd },
    "comments ",
  );
  const remarks = makeRemarks(comments, { nameOf, notice });
  const search = byId("find") && makeAnswerSearch(byId("find"), answers, { answer, leave: leaveField });
  const imageTools = makeImageTools(byId("zoom"));
  const drained = () => Promise.all([outbox.drained(), comments.drained()]);
  const unsent = () => outbox.unsent.length + comments.unsent.length;

  // Count an answer, or take one off; one without a label is not needed.
  function count(more, label) {
    done = Math.max(0, done + more);
    needed -= label ? more : 0;
    byId("done").textContent = String(done);
    byId("needed").textContent = String(needed);
    byId("total").textContent = String(done + Math.max(0, needed));
  }

  function setBusy(now) {
    busy = now;
    work.querySelector(".answers").setAttribute("aria-busy", String(now));
  }

  function show() {
    const items = ends && needed <= 0 ? [] : waiting();
    shown = items[0] ?? null;
    for (const item of waiting()) {
      item.hidden = item !== shown;
      if (item.hidden) pauseMedia(item);
    }
    byId("wait").hidden = shown !== null;
    search?.clear();
    remarks.show(shown);
    if (shown) {
      byId("question").textContent = shown.dataset.question;
      announce();
      clock.start();
      shownAt = performance.now();
      hurryMedia(shown);
      showLoading();
    }
    if (ends && needed <= 0) goHome();
    else if (items.length <= REFILL_BELOW) refill();
  }

  // Every item begins at its top, also for the keyboard.
  function toTop() {
    leaveField();
    scrollTo(0, 0);
    deck.scrollTop = 0;
  }

  function showLoading() {
    work.querySelector(".answers").classList.toggle("answers--waiting", seen(shown) === "loading");
  }

  // The time of an answer counts from when the item can be seen.
  function onMediaState(event) {
    if (!shown?.contains(event.target)) return;
    if (seen(shown) === "ready") clock.start();
    if (event.target.dataset.state === "failed") notice(event.target.querySelector(".item-broken-words").textContent);
    showLoading();
  }

  function announce() {
    const kind = shown.querySelector(".item-media")?.dataset.kind;
    const what = { image: say("An image."), audio: say("A sound."), video: say("A video.") }[kind] ?? "";
    const text = shown.querySelector(".item-text")?.textContent ?? what;
    const place = say("Item %(number)s.", { number: done + 1 });
    byId("say").textContent = `${place} ${shown.dataset.question} ${text}`;
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
    added.forEach(watchMedia);
  }

  function refill() {
    fetching ??= fetchMore().finally(() => { fetching = null; });
  }

  // What the server leases to this page, null if it cannot be reached; and whether it refuses that.
  async function fetchBatch() {
    const answer = await request(`${home}/batch`).catch(() => null);
    const text = answer?.ok ? await answer.text().catch(() => null) : null;
    const isRefused = answer !== null && !answer.ok && answer.status < 500 && answer.status !== 429;
    return { items: text === null ? null : itemsOf(text), isRefused };
  }

  async function fetchMore() {
    for (let wait = 1; ; wait = Math.min(wait * 2, 30)) {
      if (!waiting().length) await outbox.drained();
      const empty = !waiting().length; // then the server knows all that was answered here
      const { items, isRefused } = await fetchBatch();
      if (isRefused) return goHome();
      if (items) {
        place(items);
        if (waiting().length) return shown ? null : show();
        if (empty) return goHome();
      } else {
        showState("offline");
        await new Promise((next) => setTimeout(next, wait * 1000));
      }
    }
  }

  // The worker did nothing for a while, and holds nothing any more: what is still free they get again, else others.
  async function renew() {
    const { items, isRefused } = await fetchBatch();
    if (isRefused || items?.length === 0) return goHome();
    if (!items) return; // the next sign of life asks again
    const held = new Set(items.map(nameOf));
    place(items);
    const lost = waiting().filter((item) => !held.has(nameOf(item)));
    lost.forEach((item) => item.remove());
    if (!lost.includes(shown)) return;
    notice(say("You were away for a while, so the items that you had not answered went to other people."));
    show();
    toTop();
  }

  async function goHome() {
    await drained();
    location.assign(home);
    await new Promise(() => {}); // nothing more is fetched
  }

  function answer(button) {
    if (!shown || busy || performance.now() - shownAt < DOUBLE_PRESS_MS) return;
    const { item, criterion } = shown.dataset;
    const label = button.dataset.label || null; // null: they cannot tell
    const state = seen(shown);
    if (state === "loading") return notice(say("It is still loading. Your answer was not taken: please wait until you can see it."));
    if (state === "missing" && label) return notice(say("It is not loaded. Your answer was not taken: try again, or choose “Can’t tell”."));
    remarks.keep();
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
    toTop();
  }

  // It cannot be labelled: flagged, and they cannot tell.
  function unusable() {
    remarks.unusable(shown.querySelector(".item-broken:not([hidden]) .item-broken-words")?.textContent ?? "");
    answer(unsure);
  }

  async function undo() {
    if (busy) return;
    showError("");
    setBusy(true);
    await takeBack().catch(() => showError(say("You are offline. Undo works again when the connection is back.")));
    setBusy(false);
  }

  // An answer that was not sent yet never happened; any other is taken back by the server.
  async function takeBack() {
    const last = outbox.unsent.length > 1 ? answered.get(nameOfVote(outbox.unsent.at(-1))) : null;
    if (last) {
      outbox.drop();
      return returned(last);
    }
    const slow = setTimeout(() => showError(say("Undo waits until your last answer is saved.")), 800);
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
    watchMedia(item);
    count(-1, label);
    show();
    toTop();
  }

  async function leave(event) {
    remarks.keep();
    if (!unsent()) return;
    event.preventDefault();
    await Promise.race([drained(), new Promise((next) => setTimeout(next, 4000))]);
    if (unsent()) showError(say("Some answers are not saved yet. Please wait until you are online again."));
    else event.target.submit();
  }

  function press(event) {
    const typing = event.target.closest("input, textarea, select") !== null;
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || typing || !byId("keys").checked) return;
    if (document.querySelector("dialog[open]")) return;
    if (act(event)) event.preventDefault();
  }

  // Whether a key means something.
  function act(event) {
    const key = event.key.toLowerCase();
    if (shown && playByKey(shown, event)) return true;
    if (event.repeat) return false;
    if (event.shiftKey && /^\p{L}$/u.test(key)) return actOnItem(key); // with Caps Lock it is a small letter
    if (buttons[key]?.hidden) return false; // by the search
    if (buttons[key]) answer(buttons[key]);
    else if (key === "u" || key === "backspace") undo();
    else if (key === "p") byId("pause").requestSubmit();
    else if (key === "f") remarks.toggleFlag();
    else if (key === "h") byId("help").showModal();
    else if (key === "/" && search) search.focus();
    else return false;
    return true;
  }

  // Keys with Shift are about the item: letters alone are answers.
  function actOnItem(key) {
    const image = shown?.querySelector(".item-image img");
    if (key === "c") remarks.startComment();
    else if (image && key === "z") imageTools.zoom(image);
    else if (image && IMAGE_KEYS[key]) imageTools.use(image, IMAGE_KEYS[key]);
    else return false;
    return true;
  }

  // Answers stay in view while they leave room for the item.
  function watchPanel() {
    const panel = work.querySelector(".panel");
    const fit = () => panel.classList.toggle("panel--tall", panel.offsetHeight > innerHeight * 0.45);
    new ResizeObserver(fit).observe(panel);
    addEventListener("resize", fit);
  }

  function rememberKeys() {
    byId("keys").checked = readStored("localStorage", "keys") !== "off";
    byId("keys").addEventListener("change", (event) => store("localStorage", "keys", event.target.checked ? "on" : "off"));
  }

  work.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (button?.dataset.label !== undefined) answer(button);
    else if (button?.id === "undo") undo();
    else if (button?.dataset.zoom !== undefined) imageTools.zoom(button.querySelector("img"));
    else if (button?.dataset.tool) imageTools.use(shown.querySelector(".item-image img"), button.dataset.tool);
    else if (button?.dataset.retry !== undefined) retryMedia(shown, button.closest(".item-media"));
    else if (button?.dataset.unusable !== undefined) unusable();
  });
  deck.addEventListener("media-state", onMediaState);
  byId("pause").addEventListener("submit", leave);
  document.addEventListener("items-gone", () => { fetching ??= renew().finally(() => { fetching = null; }); });
  document.addEventListener("worker-quiet", remarks.keep); // while the item is held
  addEventListener("pagehide", remarks.keep);
  document.addEventListener("keydown", press);
  rememberKeys();
  for (const vote of outbox.unsent) {
    const item = waiting().find((one) => nameOf(one) === nameOfVote(vote));
    answered.set(nameOfVote(vote), item);
    item?.remove();
    count(1, vote.label);
  }
  drained();
  waiting().forEach(watchMedia);
  history.scrollRestoration = "manual";
  watchPanel();
  show();
}

labelling(byId("work"));
