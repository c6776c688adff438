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

// Number keys answer in the audit, unless somebody is typing.
document.addEventListener("keydown", (event) => {
  if (event.repeat || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest("input, textarea, select")) return;
  document.querySelector(`[data-key="${CSS.escape(event.key)}"]`)?.click();
});

document.querySelector(".tabs [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
