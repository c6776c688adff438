// The form of a project: rows that are added and removed, costs in words, a table of costs. The steps of the wizard
// are in wizard.js. Without these scripts everything is one long form.
"use strict";

const setup = document.getElementById("setup") ?? document.querySelector("[data-setup]");
const inForm = (id) => document.getElementById(id);

// Rows ------------------------------------------------------------------------------------------

const FIELDS = "input, textarea, select";
const ROW = /(^| )(classes|criteria|pictures|examples|quiz)-\d+-/g;
const listOf = (group) => setup.querySelector(`[data-rows="${group}"]`);
const nameOf = (row) => row.querySelector('[name$="-name"]').value.trim();
const valuesOf = (group) => [...listOf(group).children].map(nameOf).filter(Boolean);

// After rows were added, removed or moved: they are numbered as they stand, so that no number is too large.
function renumber(list) {
  [...list.children].forEach((row, number) => {
    for (const one of row.querySelectorAll("*")) {
      for (const name of ["id", "name", "for", "aria-describedby"]) {
        if (one.hasAttribute(name)) one.setAttribute(name, one.getAttribute(name).replace(ROW, `$1$2-${number}-`));
      }
    }
    row.querySelectorAll('[name$="-key"]').forEach((one) => { one.placeholder = number < 9 ? number + 1 : ""; });
  });
  showRowButtons(list);
  tableOfCosts();
  answersChanged();
}

function emptyRow(list) {
  const row = list.lastElementChild.cloneNode(true);
  row.querySelectorAll(".error").forEach((one) => one.remove());
  row.querySelectorAll(".field--bad").forEach((one) => one.classList.remove("field--bad"));
  row.querySelectorAll("[aria-invalid]").forEach((one) => one.removeAttribute("aria-invalid"));
  row.querySelectorAll(FIELDS).forEach((one) => { one.value = ""; });
  return row;
}

function addRow(group) {
  const list = listOf(group);
  const row = emptyRow(list);
  list.append(row);
  renumber(list);
  return row;
}

function removeRow(row) {
  const list = row.parentElement;
  const place = [...list.children].indexOf(row);
  if (list.children.length === 1) row.querySelectorAll(FIELDS).forEach((one) => { one.value = ""; });
  else row.remove();
  renumber(list);
  const next = list.children[Math.min(place, list.children.length - 1)];
  next.querySelector("input:not([type=hidden]), textarea").focus();
}

function showRowButtons(list) {
  const least = list.dataset.rows === "classes" ? 2 : 0;
  list.querySelectorAll("[data-remove]").forEach((button, place) => {
    button.hidden = list.children.length <= least;
    button.setAttribute("aria-label", `Remove row ${place + 1}`);
  });
  const add = setup.querySelector(`[data-add="${list.dataset.rows}"]`);
  if (add) add.hidden = list.children.length >= Number(list.dataset.most);
}

// Rows of these names: one that is there stays whole, with its key, colour and description; others begin empty.
function fillRows(group, names) {
  const list = listOf(group);
  const there = new Map([...list.children].map((row) => [nameOf(row), row]));
  const rows = [...new Set(names)].map((name) => {
    const row = there.get(name) ?? emptyRow(list);
    row.querySelector('[name$="-name"]').value = name;
    return row;
  });
  while (rows.length < 2) rows.push(emptyRow(list));
  list.replaceChildren(...rows);
  renumber(list);
}

// Several lines that are pasted into the name of an answer become several answers.
function pasteLines(event) {
  const field = event.target.closest('[name^="classes-"][name$="-name"]:not([readonly])');
  const lines = (event.clipboardData?.getData("text") ?? "").split(/\r?\n/).map((line) => line.trim()).filter(Boolean);
  if (!field || lines.length < 2) return;
  event.preventDefault();
  fillRows("classes", [...valuesOf("classes").filter((name) => name !== field.value.trim()), ...lines]);
}

function fillSelects(end, names, first) {
  for (const select of setup.querySelectorAll(`select[name$="-${end}"]`)) {
    const chosen = select.value;
    const options = names.includes(chosen) || !chosen ? names : [...names, chosen];
    select.replaceChildren(new Option(first, ""), ...options.map((name) => new Option(name, name)));
    select.value = chosen;
  }
}

// Costs -----------------------------------------------------------------------------------------

const number = (id) => Number(inForm(id)?.value.trim().replace(",", ".") || NaN);

function money(value) {
  const digits = value && Math.abs(value) < 0.01 ? 4 : 2;
  return `${inForm("currency").value} ${value.toLocaleString("en", { minimumFractionDigits: 2, maximumFractionDigits: digits })}`.trim();
}

function costsInWords() {
  const names = valuesOf("classes");
  const price = number("price");
  const meant = names.length === 2
    ? [[`a missed “${names[1]}”`, number("missed")], [`“${names[1]}” by mistake`, number("mistake")]]
    : [["a wrong label", number("wrong")]];
  if (inForm("each").checked || meant.some(([, answers]) => !(answers >= 0)) || !(price >= 0)) return "";
  const costs = meant.map(([what, answers]) => `${what} costs ${price ? money(answers * price) : `as much as ${answers} answers`}`);
  const most = Math.max(...meant.map(([, answers]) => answers));
  const care = most <= 2 ? "Items get about one answer." : most < 10 ? "Most items get one or two answers." : most <= 50 ? "Clear items get one or two answers, hard ones more." : "Most items get several answers, because mistakes are expensive.";
  const words = `${costs.join(", ")}. ${care}`;
  return words[0].toUpperCase() + words.slice(1);
}

const MAX_TABLE = 12; // answers; costs of more are typed as lines
const cells = new WeakMap(); // by the row of the right answer, then by that of the label: so they outlast other names
let isTableRead = false; // whether the lines that were typed are in the cells
const answerRows = () => [...listOf("classes").children].filter(nameOf);
const setCost = (right, label, cost) => cells.set(right, (cells.get(right) ?? new Map()).set(label, cost));

function usualCost(right, label, rows) {
  const id = rows.length !== 2 ? "wrong" : label === rows[1] ? "mistake" : "missed";
  return right === label ? "0" : inForm(id).value.trim() || inForm("wrong").value.trim() || "20";
}

// A comma is a decimal mark if there is a number for each answer so, as on the server.
function numbersIn(line, n) {
  const typed = line.trim().split(/[\s;]+/).map((cell) => cell.replace(/,$/, "").replaceAll(",", "."));
  return typed.length === n ? typed : line.trim().split(/[\s;,]+/);
}

// Whether the lines have a number for each pair of answers; a table of another shape is left as it was typed.
function readTable(rows) {
  const lines = inForm("table").value.split("\n").filter((line) => line.trim()).map((line) => numbersIn(line, rows.length));
  if (lines.length && (lines.length !== rows.length || lines.some((line) => line.length !== rows.length))) return false;
  lines.forEach((line, k) => line.forEach((cost, d) => setCost(rows[k], rows[d], cost)));
  return true;
}

function writeTable(rows) {
  const plain = (cost) => cost.replace(/\s/g, "").replace(",", ".") || "0";
  const costOf = (right, label) => plain(cells.get(right)?.get(label) ?? usualCost(right, label, rows));
  inForm("table").value = rows.map((right) => rows.map((label) => costOf(right, label)).join(" ")).join("\n");
}

function tableOfCosts() {
  const field = setup.querySelector("[data-table]");
  const rows = answerRows();
  const area = inForm("table");
  field.hidden = !inForm("each").checked;
  field.querySelector("table")?.closest(".table-wrap").remove();
  area.hidden = false;
  if (field.hidden || rows.length < 2) return;
  isTableRead ||= readTable(rows);
  if (!isTableRead) return;
  writeTable(rows);
  area.hidden = rows.length <= MAX_TABLE;
  if (area.hidden) area.before(makeTable(rows));
}

function makeTable(rows) {
  const wrap = document.createElement("div");
  wrap.className = "table-wrap";
  const table = document.createElement("table");
  table.className = "table table--tight setup-table";
  const cell = (tag, text, scope) => { const one = document.createElement(tag); one.textContent = text; if (scope) one.scope = scope; return one; };
  const head = table.createTHead().insertRow();
  head.append(cell("th", "Right answer", "col"), ...rows.map((row) => cell("th", `labelled ${nameOf(row)}`, "col")));
  const body = table.createTBody();
  for (const right of rows) {
    const line = body.insertRow();
    line.append(cell("th", nameOf(right), "row"));
    for (const label of rows) {
      const input = document.createElement("input");
      input.className = "input setup-number";
      input.inputMode = "decimal";
      input.setAttribute("aria-label", `${nameOf(right)}, labelled ${nameOf(label)}, in answers`);
      input.value = cells.get(right)?.get(label) ?? usualCost(right, label, rows);
      input.addEventListener("input", () => { setCost(right, label, input.value); writeTable(rows); });
      line.insertCell().append(input);
    }
  }
  wrap.append(table);
  return wrap;
}

function answersChanged() {
  const names = valuesOf("classes");
  fillSelects("label", names, "Choose…");
  fillSelects("criterion", valuesOf("criteria"), "The first");
  if (!setup.querySelector("[data-costs]")) return;
  setup.querySelector("[data-two-classes]").hidden = names.length !== 2 || inForm("each").checked;
  setup.querySelector("[data-more-classes]").hidden = names.length === 2 || inForm("each").checked;
  for (const [id, words] of [["missed", (name) => `A missed “${name}” costs me as much as`], ["mistake", (name) => `“${name}” by mistake costs me as much as`]]) {
    if (names.length === 2) setup.querySelector(`label[for="${id}"]`).textContent = words(names[1]);
  }
  const meaning = inForm("costs-meaning");
  const words = costsInWords();
  meaning.hidden = !words;
  if (meaning.textContent !== words) meaning.textContent = words;
}

if (setup) {
  setup.querySelectorAll("[data-add]").forEach((button) => { button.hidden = false; });
  setup.querySelectorAll("[data-rows]").forEach(showRowButtons);
  setup.addEventListener("click", (event) => {
    const add = event.target.closest("[data-add]");
    if (add) addRow(add.dataset.add).querySelector("input, textarea").focus();
    const remove = event.target.closest("[data-remove]");
    if (remove) removeRow(remove.closest("[data-row]"));
  });
  setup.addEventListener("paste", pasteLines);
  setup.addEventListener("input", (event) => {
    if (event.target.closest(".setup-table")) return;
    if (event.target.id === "table") isTableRead = readTable(answerRows());
    if (event.target.id === "each" || /^classes-\d+-name$/.test(event.target.name ?? "")) tableOfCosts();
    answersChanged();
  });
  tableOfCosts();
  answersChanged();
}
