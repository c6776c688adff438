// Comments on items, and flags: sent by an outbox of their own, so that nothing is lost offline.
"use strict";

// `nameOf(item)` names an item; `notice(words)` says something for a moment.
function makeRemarks(outbox, { nameOf, notice }) {
  const storage = `remarks ${csrf}`;
  const said = new Map(JSON.parse(readStored("sessionStorage", storage) ?? "[]")); // by the names of items
  const [flag, opener, box, field] = ["flag", "comment-open", "comment-box", "comment"].map((id) => document.getElementById(id));
  let item = null;

  const remarkOf = (one) => said.get(nameOf(one)) ?? { text: "", flagged: false };

  function write(one, change) {
    const remark = { ...remarkOf(one), ...change };
    const of = { item: Number(one.dataset.item), criterion: Number(one.dataset.criterion) };
    said.set(nameOf(one), remark);
    store("sessionStorage", storage, JSON.stringify([...said]));
    outbox.add({ ...of, ...remark }, (other) => other.item === of.item && other.criterion === of.criterion);
  }

  // What is typed counts when the worker leaves the field or the item.
  function keep() {
    if (item && field && field.value.trim() !== remarkOf(item).text) write(item, { text: field.value.trim() });
  }

  function render() {
    const remark = item ? remarkOf(item) : { text: "", flagged: false };
    flag?.setAttribute("aria-pressed", String(remark.flagged));
    if (!field) return;
    field.value = remark.text;
    open(remark.text !== "");
  }

  function open(now) {
    box.hidden = !now;
    opener.setAttribute("aria-expanded", String(now));
    opener.classList.toggle("btn--on", now);
  }

  function close() {
    keep();
    open(false);
    document.getElementById("deck").focus({ preventScroll: true });
  }

  function toggleFlag() {
    if (!flag || !item) return;
    keep();
    write(item, { flagged: !remarkOf(item).flagged });
    render();
    notice(remarkOf(item).flagged ? say("Flagged. Thank you. Please answer it all the same, or choose “Can’t tell”.") : say("The flag is taken off."));
  }

  // Flag the item that is shown, with a reason unless the worker has written one.
  function unusable(reason) {
    keep();
    write(item, field ? { flagged: true, text: remarkOf(item).text || reason } : { flagged: true });
    render();
  }

  function startComment() {
    if (!field || !item) return;
    open(true);
    field.focus();
    box.scrollIntoView({ block: "nearest" });
  }

  field?.addEventListener("change", keep);
  field?.addEventListener("keydown", (event) => {
    if (event.key === "Escape" || (event.key === "Enter" && (event.ctrlKey || event.metaKey))) {
      event.preventDefault();
      close();
    }
  });
  flag?.addEventListener("click", toggleFlag);
  opener?.addEventListener("click", () => (box.hidden ? startComment() : close()));
  document.getElementById("comment-close")?.addEventListener("click", close);
  return {
    toggleFlag,
    startComment,
    keep,
    show(next) { item = next; render(); },
    unusable,
  };
}
