// The wizard of a new project: the form of setup.js, one step at a time. Files are looked into when they are chosen,
// and again when the answers are; what is wrong is shown where it can be changed.
"use strict";

const SIGNED_OUT = "You are signed out. Sign in in another tab, then come back and press the button again. What you typed is still here.";
const UNREACHABLE = "The server cannot be reached. What you typed is still here; please try again.";
const FAILED = "That did not work. Please try again.";
const UNREADABLE = "The files could not be read.";
const TOO_LARGE = "The files are too large for one upload.";
const FILE_INPUTS = ["files", "folder"];

// Requests --------------------------------------------------------------------------------------

// The CSRF token of the session of now: somebody may have signed in again in another tab.
async function renewToken() {
  const page = await fetch(setup.action, { headers: { Accept: "text/html" }, credentials: "same-origin" });
  if (page.redirected) throw new Error(SIGNED_OUT);
  const token = new DOMParser().parseFromString(await page.text(), "text/html").querySelector('meta[name="csrf"]')?.content;
  if (!token || token === setup.elements.csrf.value) return false;
  setup.elements.csrf.value = token;
  return true;
}

async function send(address, data, accept) {
  const post = () => fetch(address, { method: "POST", body: data, headers: { "X-CSRF-Token": setup.elements.csrf.value, Accept: accept }, credentials: "same-origin" });
  try {
    const answer = await post();
    if (answer.redirected) throw new Error(SIGNED_OUT);
    return answer.status === 403 && await renewToken() ? await post() : answer;
  } catch (error) {
    throw error instanceof TypeError ? new Error(UNREACHABLE) : error; // what `fetch` throws
  }
}

function typed({ withPictures = false } = {}) {
  const data = new FormData(setup);
  for (const [name, value] of [...data]) if (value instanceof File && (name === "files" || !withPictures)) data.delete(name);
  return data;
}

// Browsers differ in whether a form sends the folders of files; so they are said.
function withFiles(data) {
  for (const id of FILE_INPUTS) for (const file of inForm(id).files) data.append("files", file, file.webkitRelativePath || file.name);
  return data;
}

const sentence = (words) => (words ? `${words[0].toUpperCase()}${words.slice(1)}${/[.!?]$/.test(words) ? "" : "."}` : FAILED);

// Steps -----------------------------------------------------------------------------------------

function wizard() {
  const sections = [...setup.querySelectorAll("[data-step]")];
  const last = sections.length;
  let now = 1;
  let reached = 1;
  let found = null; // in the chosen files
  let reading = Promise.resolve(); // of these files
  let asked = 0;
  let machineBefore = null; // what was chosen before guesses of a classifier were found

  const hasFiles = () => FILE_INPUTS.some((id) => inForm(id).files.length);
  const hasItems = () => hasFiles() || inForm("copy_items")?.checked;
  const answers = () => JSON.stringify([valuesOf("classes"), valuesOf("criteria")]);

  function showProblem(words, focus = false) {
    const box = inForm("step-problem");
    box.hidden = !words;
    box.firstElementChild.textContent = words;
    if (focus) box.focus();
  }

  function clearErrors() {
    showProblem("");
    setup.querySelectorAll(".error[data-by-script], #problems").forEach((one) => one.remove());
    document.getElementById("problems")?.remove();
    setup.querySelectorAll(".field--bad").forEach((one) => { one.classList.remove("field--bad"); one.querySelectorAll(".error").forEach((error) => error.remove()); });
    setup.querySelectorAll("[aria-invalid]").forEach((one) => {
      one.removeAttribute("aria-invalid");
      one.setAttribute("aria-describedby", (one.getAttribute("aria-describedby") ?? "").replace(/\S+-error/g, "").trim());
    });
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
    const data = typed();
    data.set("step", String(step));
    data.set("items", String(found?.items ?? 0));
    const answer = await send(setup.dataset.check, data, "application/json");
    const said = await answer.json().catch(() => ({}));
    if (!answer.ok) throw new Error(sentence(said.detail));
    return said;
  }

  async function go(step) {
    if (setup.getAttribute("aria-busy") === "true") return;
    clearErrors();
    if (step <= now) { show(step); return; }
    if (now === 1 && !hasItems()) { showErrors({ files: "Choose a file with items first." }); return; }
    busy(true);
    try {
      if (await canGo(step)) show(step);
    } catch (error) {
      showProblem(error.message, true);
    }
    busy(false);
  }

  // Whether nothing is wrong with the steps before this one; what is wrong is shown.
  async function canGo(step) {
    await reading;
    if (hasFiles() && !found) await preview();
    if (hasFiles() && !found) return false;
    if (now === 1 && found && !found.isUsable) { showUnusable(); return false; }
    const { wrong, summary } = await checked(step - 1);
    if (Object.keys(wrong).length) { showErrors(wrong); return false; }
    if (step > 2 && hasFiles() && (!found.isFinal || found.answers !== answers())) await preview(true);
    if (step > 2 && found && !found.isUsable) {
      showProblem(`The files do not fit these answers. ${found.problems.join(" ")} Change the answers, or choose other files.`, true);
      return false;
    }
    if (hasFiles() && !found) return false;
    inForm("summary").replaceChildren(...summary.map((words) => { const one = document.createElement("li"); one.textContent = words; return one; }));
    return true;
  }

  function showUnusable() {
    const problem = inForm("preview").querySelector(".notice--bad");
    problem.tabIndex = -1;
    problem.focus();
  }

  function busy(on) {
    for (const id of ["next", "create"]) inForm(id).setAttribute("aria-disabled", String(on));
    setup.setAttribute("aria-busy", String(on));
  }

  // Files: before the answers are final, any that the files name are taken.
  function preview(isFinal = false) {
    reading = lookIntoFiles(isFinal);
    return reading;
  }

  async function lookIntoFiles(isFinal) {
    const box = inForm("preview");
    const mine = ++asked;
    found = null;
    if (!hasFiles()) { box.replaceChildren(); takeOver(0, 0); return; }
    box.innerHTML = '<p class="row muted"><span class="spinner" aria-hidden="true"></span>Reading the files…</p>';
    const data = withFiles(typed());
    if (isFinal) data.set("final", "yes");
    const chosen = answers();
    try {
      const answer = await send(setup.dataset.preview, data, "text/html");
      const text = await answer.text();
      if (mine !== asked) return;
      if (!answer.ok) throw new Error(answer.status === 413 ? TOO_LARGE : UNREADABLE);
      box.innerHTML = text;
      box.querySelectorAll("article[hidden]").forEach((one) => { one.hidden = false; });
      const { items, gold, probabilities } = box.querySelector("[data-items]").dataset;
      const problems = [...box.querySelectorAll(".notice--bad li")].map((one) => one.textContent);
      found = { items: Number(items), isUsable: Number(items) > 0 && !problems.length, problems, isFinal, answers: chosen };
      takeOver(Number(gold), Number(probabilities));
    } catch (error) {
      if (mine === asked) { box.replaceChildren(); showProblem(error.message, setup.getAttribute("aria-busy") === "true"); }
    }
  }

  // Settings that follow from the files, unless somebody has set them.
  function takeOver(gold, probabilities) {
    const share = inForm("gold");
    if (!share.dataset.typed && gold && ["", "0"].includes(share.value.trim())) share.value = "10";
    if (!share.dataset.typed && !gold && share.value.trim() === "10") share.value = "0";
    const machine = setup.elements.machine;
    if (probabilities && machine.value !== "given" && machineBefore === null) [machineBefore, machine.value] = [machine.value, "given"];
    if (!probabilities && machineBefore) [machine.value, machineBefore] = [machineBefore, null];
  }

  async function useNames() {
    fillRows("classes", JSON.parse(inForm("preview").firstElementChild.dataset.classes));
    await preview();
    if (!found) return;
    const said = document.createElement("p");
    said.className = "notice notice--info";
    said.tabIndex = -1;
    said.textContent = "These are the answers now. You can change them in the next step.";
    inForm("preview").firstElementChild.append(said);
    said.focus();
  }

  async function create(event) {
    event.preventDefault();
    if (now !== last) { go(now + 1); return; }
    if (setup.getAttribute("aria-busy") === "true") return;
    clearErrors();
    busy(true);
    try {
      const answer = await send(setup.action, withFiles(typed({ withPictures: true })), "application/json");
      const said = await answer.json().catch(() => ({}));
      if (answer.status === 201) { location.assign(said.address); return; }
      if (said.wrong) showErrors(said.wrong);
      else showProblem(answer.status === 413 ? TOO_LARGE : sentence(said.detail), true);
    } catch (error) {
      showProblem(error.message, true);
    }
    busy(false);
  }

  setup.noValidate = true;
  inForm("steps").hidden = false;
  inForm("next").addEventListener("click", () => go(now + 1));
  inForm("back").addEventListener("click", () => go(now - 1));
  inForm("steps").addEventListener("click", (event) => { const button = event.target.closest("[data-go]"); if (button) go(Number(button.dataset.go)); });
  for (const id of FILE_INPUTS) inForm(id).addEventListener("change", () => { clearErrors(); preview(); });
  inForm("gold").addEventListener("input", () => { inForm("gold").dataset.typed = "yes"; });
  setup.querySelectorAll('[name="machine"]').forEach((one) => one.addEventListener("change", () => { machineBefore = ""; }));
  inForm("preview").addEventListener("click", (event) => { if (event.target.closest("[data-use-classes]")) useNames(); });
  setup.addEventListener("submit", create);
  const wrongField = document.querySelector("#problems a");
  const wrongStep = wrongField && document.querySelector(wrongField.hash)?.closest("[data-step]")?.dataset.step;
  if (wrongStep) reached = last;
  show(Number(wrongStep ?? 1), false);
  preview();
}

wizard();
