// The search field of projects with many classes: it leaves the answers that match, and Enter takes the best of them.
"use strict";

const plainLetters = (text) => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase().trim();

function makeAnswerSearch(field, buttons, { answer, leave }) {
  const found = document.getElementById("found");
  const names = new Map(buttons.map((button) => [button, plainLetters(button.dataset.label)]));

  // The same name, then names that begin so, then all others.
  function matches() {
    const words = plainLetters(field.value).split(/\s+/).filter(Boolean);
    const typed = words.join(" ");
    const rank = (button) => (names.get(button) === typed ? 0 : names.get(button).startsWith(typed) ? 1 : 2);
    const found = buttons.filter((button) => words.every((word) => names.get(button).includes(word)));
    return found.sort((one, other) => rank(one) - rank(other));
  }

  function filter() {
    const left = new Set(matches());
    const [first] = field.value.trim() ? left : [];
    for (const button of buttons) {
      button.hidden = !left.has(button);
      button.classList.toggle("answer--first", button === first);
    }
    found.textContent = field.value.trim() ? sayCount(left.size, "%(num)s answer matches", "%(num)s answers match") : "";
  }

  function clear() {
    if (!field.value) return;
    field.value = "";
    filter();
  }

  field.addEventListener("input", filter);
  field.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    if (event.key === "Escape") {
      clear();
      leave();
    } else if (event.key === "Enter") {
      const [first] = field.value.trim() ? matches() : [];
      if (first) answer(first);
    } else return;
    event.preventDefault();
  });
  return { clear, focus() { field.focus(); field.select(); } };
}
