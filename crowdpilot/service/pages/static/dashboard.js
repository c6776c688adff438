// The live parts of the dashboard: no requests while the page is hidden, and only new status texts are announced.
"use strict";

document.addEventListener("htmx:beforeRequest", (event) => {
  if (document.hidden && event.detail.requestConfig.triggeringEvent === undefined) event.preventDefault();
});

function announce() {
  const words = document.querySelector("#live [data-status]")?.textContent.trim();
  const said = document.getElementById("said");
  if (words && said && said.textContent !== words) said.textContent = words;
  const now = document.getElementById("state-now")?.innerHTML.trim();
  const state = document.getElementById("state");
  if (now && state && state.innerHTML.trim() !== now) state.innerHTML = now;
}

document.addEventListener("htmx:afterSwap", announce);

// What somebody has unfolded stays open when the live part is replaced.
let unfolded = [];
document.addEventListener("htmx:beforeSwap", () => {
  unfolded = [...document.querySelectorAll("#live details[open][id]")].map((details) => details.id);
});
document.addEventListener("htmx:afterSwap", () => {
  for (const id of unfolded) document.getElementById(id)?.setAttribute("open", "");
});

// Number keys answer in the audit, unless somebody is typing.
document.addEventListener("keydown", (event) => {
  if (event.repeat || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest("input, textarea, select")) return;
  document.querySelector(`[data-key="${CSS.escape(event.key)}"]`)?.click();
});

document.querySelector(".tabs [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });

// The total of a form: the product of its fields, in whole cents, or MTurk's fee for it: a lower rate, and a higher one from
// ten assignments on.
function showProducts() {
  for (const output of document.querySelectorAll("[data-product]")) {
    const fields = output.dataset.product.split(" ").map((id) => document.getElementById(id)?.value.trim() ?? "");
    const texts = output.dataset.times ? [output.dataset.times, ...fields] : fields;
    const isTyped = texts.every((text) => /^[0-9]{1,5}(\.[0-9]{1,2})?$/.test(text));
    const numbers = texts.map(Number);
    const [few, many] = (output.dataset.fee ?? "1 1").split(" ").map(Number);
    const rate = numbers.at(-1) >= 10 ? many : few;
    const cents = isTyped ? Math.round(numbers.reduce((product, one) => product * one, 1) * rate * 100) : 0;
    output.textContent = isTyped ? `USD ${(cents / 100).toFixed(2)}` : "…";
  }
}
if (document.querySelector("[data-product]")) document.addEventListener("input", showProducts);
