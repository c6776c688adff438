// What any page may use: data-open="id" and data-close for dialogs, data-copy="id" for a button that copies a text.
"use strict";

// Sentences in the language of the page, by the English ones; English pages have none.
const translations = JSON.parse(document.querySelector('meta[name="words"]')?.content ?? "{}");
const fill = (words, values) => words.replace(/%\((\w+)\)s/g, (_, name) => values[name]);

function say(sentence, values = {}) {
  return fill(translations[sentence] ?? sentence, values);
}

// A sentence that depends on a number, `%(num)s`.
function sayCount(num, singular, plural, values = {}) {
  const form = new Intl.PluralRules(document.documentElement.lang).select(num);
  const words = translations[singular]?.[form] ?? (num === 1 ? singular : plural);
  return fill(words, { num, ...values });
}

// Colors that requesters chose; attributes of style are forbidden, scripts are not.
document.querySelectorAll("[data-color]").forEach((mark) => { mark.style.backgroundColor = mark.dataset.color; });

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
    button.querySelector("[data-copy-words]").textContent = say("Copied");
    announce(say("It is copied."));
  } catch {
    getSelection().selectAllChildren(text);
    announce(say("It is selected. Copy it with your keyboard."));
  }
});
