// What any page may use: data-open="id" and data-close for dialogs, data-copy="id" for a button that copies a text.
"use strict";

document.addEventListener("click", (event) => {
  const opener = event.target.closest("[data-open]");
  if (opener) document.getElementById(opener.dataset.open).showModal();
  if (event.target.closest("[data-close]")) event.target.closest("dialog").close();
});

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const text = document.getElementById(button.dataset.copy);
  const announce = (words) => { document.getElementById("copied").textContent = words; };
  try {
    await navigator.clipboard.writeText(text.textContent.trim());
    button.querySelector("[data-copy-words]").textContent = "Copied";
    announce("It is copied.");
  } catch {
    getSelection().selectAllChildren(text);
    announce("It is selected. Copy it with your keyboard.");
  }
});
