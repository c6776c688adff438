// The review queue by keyboard: keys choose answers, Enter confirms, S skips, G makes gold, A asks again, R resolves flags, U undoes.
"use strict";

const groups = [...document.querySelectorAll("[data-group]")];
const hint = document.getElementById("review-hint");

function choose(key) {
  const open = groups.find((group) => !group.querySelector("input:checked")) ?? groups.at(-1);
  const focused = document.activeElement?.closest?.("[data-group]");
  const input = (focused ?? open)?.querySelector(`[data-choose="${CSS.escape(key)}"]`);
  if (!input) return false;
  input.checked = true;
  if (focused) input.focus();
  return true;
}

function isTyping(target) {
  return target.closest("textarea, select, input:not([type=radio])") !== null;
}

function needsChoice(button) {
  return "needsChoice" in button.dataset && !document.querySelector("[data-group] input:checked");
}

function press(button, event) {
  event.preventDefault();
  if (needsChoice(button)) hint.textContent = "Choose an answer first.";
  else button.click();
}

document.addEventListener("keydown", (event) => {
  if (event.repeat || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
  const key = event.key.toLowerCase();
  if (key === "enter" && event.target.closest("a, button, summary")) return;
  const button = document.querySelector(`[data-press="${CSS.escape(key)}"]`);
  if (button) press(button, event);
  else if (key.length === 1 && choose(key)) event.preventDefault();
});

document.getElementById("review")?.addEventListener("submit", (event) => {
  if (event.submitter && needsChoice(event.submitter)) {
    event.preventDefault();
    hint.textContent = "Choose an answer first.";
  }
});
