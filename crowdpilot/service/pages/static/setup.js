// The form of a project: rows that are added and removed, costs in words, a table of costs; and, in the wizard, one
// step at a time. Without this script everything is one long form.
"use strict";

const setup = document.getElementById("setup") ?? document.querySelector("[data-setup]");
const inForm = (id) => document.getElementById(id);

// Rows ------------------------------------------------------------------------------------------

function renumbered(text, number) {
  return text.replace(/^(classes|criteria|pictures|examples|quiz)-\d+-/, `$1-${number}-`);
}

function addRow(group) {
  const list = setup.querySelector(`[data-rows="${group}"]`);
  const last = list.lastElementChild;
  const number = 1 + Math.max(...[...list.querySelectorAll("[name]")].map((one) => Number(one.name.split("-")[1])));
  const row = last.cloneNode(true);
  row.querySelectorAll(".error").forEach((one) => one.remove());
  row.querySelectorAll(".field--bad").forEach((one) => one.classList.remove("field--bad"));
  for (const one of row.querySelectorAll("*")) {
    for (const name of ["id", "name", "for", "aria-describedby"]) {
      if (one.hasAttribute(name)) one.setAttribute(name, renumbered(one.getAttribute(name), number));
    }
    if ("value" in one && one.matches("input, textarea, select")) one.value = "";
    one.removeAttribute("aria-invalid");
  }
  row.querySelectorAll('[name$="-key"]').forEach((one) => { one.placeholder = list.children.length < 9 ? list.children.length + 1 : ""; });
  list.append(row);
  showRowButtons(list);
  return row;
}

function removeRow(row) {
  const list = row.parentElement;
  if (list.children.length === 1) row.querySelectorAll("input, textarea, select").forEach((one) => { one.value = ""; });
  else row.remove();
  showRowButtons(list);
  answersChanged();
  (list.querySelector("input:not([type=hidden])") ?? list).focus();
}

function showRowButtons(list) {
  const least = list.dataset.rows === "classes" ? 2 : 0;
  list.querySelectorAll("[data-remove]").forEach((button, place) => {
    button.hidden = list.children.length <= least;
    button.setAttribute("aria-label", `Remove row ${place + 1}`);
  });
}

const valuesOf = (group) => [...setup.querySelectorAll(`[name^="${group}-"][name$="-name"]`)].map((one) => one.value.trim()).filter(Boolean);

function fillRows(group, names) {
  const list = setup.querySelector(`[data-rows="${group}"]`);
  while (list.children.length > Math.max(names.length, 2)) list.lastElementChild.remove();
  while (list.children.length < names.length) addRow(group);
  [...list.querySelectorAll('[name$="-name"]')].forEach((one, n) => { one.value = names[n] ?? ""; });
  showRowButtons(list);
  answersChanged();
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
    ? [[`a missed “${names[1]}”`, number("missed")], [`a “${names[1]}” by mistake`, number("mistake")]]
    : [["a wrong label", number("wrong")]];
  if (inForm("each").checked || meant.some(([, answers]) => !(answers >= 0)) || !(price >= 0)) return "";
  const costs = meant.map(([what, answers]) => `${what} costs ${price ? money(answers * price) : `as much as ${answers} answers`}`);
  const most = Math.max(...meant.map(([, answers]) => answers));
  const care = most <= 2 ? "Items get about one answer." : most < 10 ? "Most items get one or two answers." : most <= 50 ? "Clear items get one or two answers, hard ones more." : "Most items get several answers, because mistakes are expensive.";
  const words = `${costs.join(", ")}. ${care}`;
  return words[0].toUpperCase() + words.slice(1);
}

function tableOfCosts() {
  const field = setup.querySelector("[data-table]");
  const names = valuesOf("classes");
  const on = inForm("each").checked;
  field.hidden = !on;
  field.querySelector("table")?.closest(".table-wrap").remove();
  const area = inForm("table");
  const fits = names.length >= 2 && names.length <= 12;
  area.hidden = on && fits;
  if (!on || !fits) return;
  const typed = area.value.trim().split("\n").map((line) => line.trim().split(/[\s,;]+/));
  const usual = (inForm("wrong").value || "20").trim();
  const wrap = document.createElement("div");
  wrap.className = "table-wrap";
  const table = document.createElement("table");
  table.className = "table table--tight setup-table";
  const cell = (tag, text, scope) => { const one = document.createElement(tag); one.textContent = text; if (scope) one.scope = scope; return one; };
  const head = table.createTHead().insertRow();
  head.append(cell("th", "Right answer", "col"), ...names.map((name) => cell("th", `labelled ${name}`, "col")));
  const body = table.createTBody();
  names.forEach((right, k) => {
    const row = body.insertRow();
    row.append(cell("th", right, "row"));
    names.forEach((label, d) => {
      const input = document.createElement("input");
      input.className = "input setup-number";
      input.inputMode = "decimal";
      input.setAttribute("aria-label", `${right}, labelled ${label}, in answers`);
      input.value = typed.length === names.length ? typed[k]?.[d] ?? "0" : k === d ? "0" : usual;
      row.insertCell().append(input);
    });
  });
  const write = () => { area.value = [...body.rows].map((row) => [...row.querySelectorAll("input")].map((one) => one.value.trim() || "0").join(" ")).join("\n"); };
  table.addEventListener("input", write);
  write();
  wrap.append(table);
  area.before(wrap);
}

function answersChanged() {
  const names = valuesOf("classes");
  fillSelects("label", names, "Choose…");
  fillSelects("criterion", valuesOf("criteria"), "The first");
  if (!setup.querySelector("[data-costs]")) return;
  setup.querySelector("[data-two-classes]").hidden = names.length !== 2 || inForm("each").checked;
  setup.querySelector("[data-more-classes]").hidden = names.length === 2 || inForm("each").checked;
  for (const [id, words] of [["missed", (name) => `A missed “${name}” costs me as much as`], ["mistake", (name) => `A “${name}” by mistake costs me as much as`]]) {
    if (names.length === 2) setup.querySelector(`label[for="${id}"]`).textContent = words(names[1]);
  }
  const meaning = inForm("costs-meaning");
  const words = costsInWords();
  meaning.hidden = !words;
  if (meaning.textContent !== words) meaning.textContent = words;
}

// Steps -----------------------------------------------------------------------------------------

function wizard() {
  const sections = [...setup.querySelectorAll("[data-step]")];
  const last = sections.length;
  let now = 1;
  let reached = 1;
  let found = null; // the preview of the chosen files
  let asked = 0;

  const headers = { "X-CSRF-Token": setup.elements.csrf.value, Accept: "application/json" };
  const withoutFiles = () => { const data = new FormData(setup); for (const [name, value] of [...data]) if (value instanceof File) data.delete(name); return data; };
  const hasItems = () => inForm("files").files.length || inForm("folder").files.length || inForm("copy_items")?.checked;

  function showProblem(words) {
    const box = inForm("step-problem");
    box.hidden = !words;
    box.firstElementChild.textContent = words;
  }

  function clearErrors() {
    showProblem("");
    setup.querySelectorAll(".error[data-by-script], #problems").forEach((one) => one.remove());
    document.getElementById("problems")?.remove();
    setup.querySelectorAll(".field--bad").forEach((one) => { one.classList.remove("field--bad"); one.querySelectorAll(".error").forEach((error) => error.remove()); });
    setup.querySelectorAll("[aria-invalid]").forEach((one) => one.removeAttribute("aria-invalid"));
  }

  function showErrors(wrong) {
    let first = null;
    for (const [name, words] of Object.entries(wrong)) {
      const control = inForm(name) ?? setup.querySelector(`[name="${CSS.escape(name)}"]`) ?? setup.querySelector(`[data-rows="${name}"] input`);
      const error = document.createElement("p");
      error.className = "error";
      error.dataset.byScript = "";
      error.id = `${name}-error`;
      error.textContent = words;
      if (!control) { showProblem(words); first ??= inForm("step-problem"); continue; }
      control.setAttribute("aria-invalid", "true");
      control.setAttribute("aria-describedby", `${control.getAttribute("aria-describedby") ?? ""} ${error.id}`.trim());
      const field = setup.querySelector(`[data-rows="${name}"]`) ? null : control.closest(".field, .fieldset");
      field?.classList.add("field--bad");
      if (field) field.append(error); else control.closest(".fieldset, .form").querySelector("[data-rows]").before(error);
      for (let box = control.closest("details"); box; box = box.parentElement.closest("details")) box.open = true;
      first ??= control;
    }
    if (!first) return;
    const step = Number(first.closest("[data-step]")?.dataset.step ?? now);
    if (step !== now) show(step, false);
    first.focus();
  }

  function show(step, focus = true) {
    now = step;
    reached = Math.max(reached, step);
    sections.forEach((section) => { section.hidden = Number(section.dataset.step) !== step; });
    const start = inForm("start");
    if (start) start.hidden = step > 1;
    inForm("back").hidden = step === 1;
    inForm("next").hidden = step === last;
    inForm("create").hidden = step !== last;
    inForm("steps").querySelectorAll(".step").forEach((one, n) => {
      one.classList.toggle("step--done", n + 1 < step);
      one.toggleAttribute("aria-current", false);
      if (n + 1 === step) one.setAttribute("aria-current", "step");
      one.firstElementChild.disabled = n + 1 > reached;
    });
    tableOfCosts();
    answersChanged();
    if (focus) { inForm(`part-${step}`).focus({ preventScroll: true }); inForm("setup").scrollIntoView({ block: "start" }); }
  }

  async function checked(step) {
    const data = withoutFiles();
    data.set("step", String(step));
    data.set("items", String(found?.items ?? 0));
    const answer = await fetch(setup.dataset.check, { method: "POST", body: data, headers, credentials: "same-origin" });
    if (!answer.ok) throw new Error((await answer.json().catch(() => ({}))).detail ?? "That did not work. Please try again.");
    return answer.json();
  }

  async function go(step) {
    clearErrors();
    if (step <= now) return show(step);
    if (now === 1 && !hasItems()) return showErrors({ files: "Choose a file with items first." });
    if (found && !found.usable && now === 1) return inForm("preview").scrollIntoView({ block: "nearest" });
    busy(true);
    try {
      const { wrong, summary } = await checked(step - 1);
      if (Object.keys(wrong).length) return showErrors(wrong);
      inForm("summary").replaceChildren(...summary.map((words) => { const one = document.createElement("li"); one.textContent = words; return one; }));
      show(step);
    } catch (error) {
      showProblem(error.message);
    } finally {
      busy(false);
    }
  }

  function busy(on) {
    for (const id of ["next", "create"]) inForm(id).setAttribute("aria-disabled", String(on));
    setup.setAttribute("aria-busy", String(on));
  }

  async function preview() {
    const box = inForm("preview");
    const mine = ++asked;
    found = null;
    if (!inForm("files").files.length && !inForm("folder").files.length) { box.replaceChildren(); return; }
    box.innerHTML = '<p class="row muted"><span class="spinner" aria-hidden="true"></span>Reading the files…</p>';
    const data = withoutFiles();
    for (const id of ["files", "folder"]) for (const file of inForm(id).files) data.append("files", file, file.webkitRelativePath || file.name);
    try {
      const answer = await fetch(setup.dataset.preview, { method: "POST", body: data, headers: { ...headers, Accept: "text/html" }, credentials: "same-origin" });
      const text = await answer.text();
      if (mine !== asked) return;
      if (!answer.ok) throw new Error(answer.status === 413 ? "The files are too large for one upload." : "The files could not be read.");
      box.innerHTML = text;
      box.querySelectorAll("article[hidden]").forEach((one) => { one.hidden = false; });
      const { items, gold, probabilities } = box.querySelector("[data-items]").dataset;
      found = { items: Number(items), usable: Number(items) > 0 && !box.querySelector(".notice--bad") };
      if (Number(gold) && ["", "0"].includes(inForm("gold").value.trim())) inForm("gold").value = "10";
      if (!Number(gold) && inForm("gold").value.trim() === "10" && !inForm("gold").dataset.typed) inForm("gold").value = "0";
      if (Number(probabilities)) setup.querySelector('[name="machine"][value="given"]').checked = true;
    } catch (error) {
      if (mine === asked) { box.replaceChildren(); showProblem(error.message); }
    }
  }

  async function create(event) {
    event.preventDefault();
    if (now !== last) return go(now + 1);
    if (setup.getAttribute("aria-busy") === "true") return;
    clearErrors();
    busy(true);
    try {
      const answer = await fetch(setup.action, { method: "POST", body: new FormData(setup), headers, credentials: "same-origin" });
      const said = await answer.json().catch(() => ({}));
      if (answer.status === 201) { location.assign(said.address); return; }
      if (said.wrong) showErrors(said.wrong);
      else showProblem(said.detail ? `${said.detail[0].toUpperCase()}${said.detail.slice(1)}.` : "That did not work. Please try again.");
    } catch {
      showProblem("The server cannot be reached. What you typed is still here; please try again.");
    }
    busy(false);
  }

  setup.noValidate = true;
  inForm("steps").hidden = false;
  inForm("next").addEventListener("click", () => go(now + 1));
  inForm("back").addEventListener("click", () => go(now - 1));
  inForm("steps").addEventListener("click", (event) => { const button = event.target.closest("[data-go]"); if (button) go(Number(button.dataset.go)); });
  for (const id of ["files", "folder"]) inForm(id).addEventListener("change", preview);
  inForm("gold").addEventListener("input", () => { inForm("gold").dataset.typed = "yes"; });
  inForm("preview").addEventListener("click", (event) => {
    if (!event.target.closest("[data-use-classes]")) return;
    fillRows("classes", JSON.parse(inForm("preview").firstElementChild.dataset.classes));
    event.target.closest(".notice").textContent = "These are the answers now. You can change them in the next step.";
  });
  setup.addEventListener("submit", create);
  const wrongField = document.querySelector("#problems a");
  const wrongStep = wrongField && document.querySelector(wrongField.hash)?.closest("[data-step]")?.dataset.step;
  if (wrongStep) reached = last;
  show(Number(wrongStep ?? 1), false);
  preview();
}

if (setup) {
  setup.querySelectorAll("[data-rows]").forEach(showRowButtons);
  setup.querySelectorAll("[data-add]").forEach((button) => { button.hidden = false; });
  setup.addEventListener("click", (event) => {
    const add = event.target.closest("[data-add]");
    if (add) addRow(add.dataset.add).querySelector("input, textarea").focus();
    const remove = event.target.closest("[data-remove]");
    if (remove) removeRow(remove.closest("[data-row]"));
  });
  setup.addEventListener("paste", pasteLines);
  setup.addEventListener("input", (event) => {
    if (event.target.closest(".setup-table")) return;
    if (event.target.id === "each" || /^classes-\d+-name$/.test(event.target.name ?? "")) if (inForm("each")) tableOfCosts();
    answersChanged();
  });
  if (inForm("each")) tableOfCosts();
  answersChanged();
  if (setup.id === "setup") wizard();
}
