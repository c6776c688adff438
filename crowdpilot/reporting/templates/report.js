"use strict";
(() => {
  const PAGE = 20;
  const collator = new Intl.Collator("en", { numeric: true });
  const tables = {};

  const make = (tag, classes, text) => {
    const element = document.createElement(tag);
    if (classes) element.className = classes;
    if (text !== undefined) element.textContent = text;
    return element;
  };

  const whole = (value) => value.toLocaleString("en");

  const fixed = (value, digits) => {
    const text = value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
    const zero = !/[1-9]/.test(text);
    if (zero && value > 0) return `<${text.slice(0, -1)}1`;
    return zero ? text.replace("-", "") : text.replace("-", "−");
  };

  const digits = (values) => {
    const most = values.reduce((top, value) => Math.max(top, Math.abs(value ?? 0)), 0);
    return most < 10 ? 3 : most < 100 ? 2 : most < 1000 ? 1 : 0;
  };

  const show = {
    text: (cell, value) => {
      const text = String(value).trim();
      cell.append(make("span", text ? "name" : "name blank", text || "(blank)"));
      cell.title = text;
    },
    whole: (cell, value) => cell.append(whole(value)),
    more: (cell, value) => cell.append(value >= 999 ? "would not help" : whole(value)),
    number: (cell, value, at, most) => cell.append(fixed(value, most)),
    share: (cell, value) => cell.append(fixed(100 * value, 1)),
    points: (cell, value) => cell.append(fixed(100 * value, 1)),
    yes: (cell, value) => cell.append(value ? "yes" : ""),
    flags: (cell, value) => value && value.split(", ").forEach((flag) => cell.append(make("span", "flag", flag), " ")),
    interval: (cell, value, at) => {
      const track = make("span", "track");
      const low = at("skill_low"), high = at("skill_high");
      if (low != null && high != null) {
        const band = make("i", "band");
        band.style.left = `${100 * low}%`;
        band.style.width = `${100 * (high - low)}%`;
        track.append(band);
      }
      const dot = make("i", "dot");
      dot.style.left = `${100 * value}%`;
      track.append(dot);
      cell.append(fixed(100 * value, 1), track);
    },
  };
  const numeric = new Set(["whole", "more", "number", "share", "points", "interval"]);
  const unit = { share: " (%)", points: " (points)", interval: " (%)" };

  class Table {
    constructor(box) {
      this.box = box;
      this.name = box.dataset.name;
      Object.assign(this, JSON.parse(document.getElementById(`data-${this.name}`).textContent));
      this.place = Object.fromEntries(this.columns.map((column, n) => [column.name, n]));
      this.digits = this.columns.map((column, n) => column.kind === "number" ? digits(this.values[n]) : 0);
      this.flagged = new Set(this.marked);
      this.row = this.kept && new Map(this.kept.map((row, n) => [row, n]));
      this.sorted = this.order;
      this.sort = null;
      this.page = 0;
      const find = (selector) => box.querySelector(selector);
      this.parts = Object.fromEntries(
        ["thead", "tbody", ".shown", ".where", ".previous", ".next", ".marked", ".all", "[type=search]"].map((s) => [s, find(s)]));
      this.texts = this.columns.flatMap((column, n) => ["text", "flags"].includes(column.kind) ? [n] : []);
      this.parts["[type=search]"].addEventListener("input", () => this.filter());
      this.parts[".marked"].addEventListener("change", () => this.filter());
      this.parts[".marked"].parentElement.hidden = this.marked.length === 0;
      this.parts[".all"].addEventListener("change", () => { this.head(); this.draw(); });
      this.parts[".all"].parentElement.hidden = this.columns.every((column) => column.main);
      this.parts[".previous"].addEventListener("click", () => this.turn(-1));
      this.parts[".next"].addEventListener("click", () => this.turn(1));
      find(".csv").addEventListener("click", () => this.save(this.rows, `${this.name}.csv`));
      this.head();
      this.filter();
    }

    get visible() {
      const all = this.parts[".all"].checked;
      return this.columns.flatMap((column, n) => column.main || all ? [n] : []);
    }

    head() {
      const row = make("tr");
      for (const n of this.visible) {
        const column = this.columns[n];
        const cell = make("th", numeric.has(column.kind) ? "n" : "");
        cell.scope = "col";
        const mine = this.sort && this.sort.column === n;
        cell.setAttribute("aria-sort", !mine ? "none" : this.sort.down ? "descending" : "ascending");
        const button = make("button", "", column.title + (unit[column.kind] || ""));
        button.type = "button";
        button.title = column.about;
        button.addEventListener("click", () => this.by(n));
        cell.append(button);
        row.append(cell);
      }
      this.parts.thead.replaceChildren(row);
    }

    by(n) {
      const first = numeric.has(this.columns[n].kind) || this.columns[n].kind === "yes" || this.columns[n].kind === "flags";
      const mine = this.sort && this.sort.column === n;
      const down = this.columns[n].name === "review" ? (mine ? !this.sort.down : false) : mine ? !this.sort.down : first;
      this.sort = { column: n, down };
      const values = this.values[n], sign = down ? -1 : 1;
      const lost = (value) => value === null || value === "";
      this.sorted = [...this.order].sort((a, b) => {
        const x = values[a], y = values[b];
        if (lost(x) || lost(y)) return lost(x) - lost(y);
        return sign * (typeof x === "string" || typeof y === "string" ? collator.compare(x, y) : x - y);
      });
      this.head();
      this.parts.thead.querySelectorAll("button")[this.visible.indexOf(n)].focus();
      this.filter();
    }

    filter() {
      const wanted = this.parts["[type=search]"].value.trim().toLowerCase();
      const only = this.parts[".marked"].checked;
      this.hay ||= this.order.map((_, row) => this.texts.map((n) => this.values[n][row] ?? "").join("\n").toLowerCase());
      this.rows = this.sorted.filter((row) => (!only || this.flagged.has(row)) && (!wanted || this.hay[row].includes(wanted)));
      this.page = 0;
      this.draw();
    }

    turn(by) {
      this.page += by;
      this.draw();
      this.box.scrollIntoView({ block: "start" });
    }

    draw() {
      const visible = this.visible;
      const start = this.page * PAGE, rows = this.rows.slice(start, start + PAGE);
      this.parts.tbody.replaceChildren(...rows.map((row) => {
        const line = make("tr", this.flagged.has(row) ? "marked" : "");
        const at = (name) => name in this.place ? this.values[this.place[name]][row] : null;
        for (const n of visible) {
          const { kind } = this.columns[n], value = this.values[n][row];
          const cell = make("td", numeric.has(kind) ? "n" : kind);
          if (value === null) cell.append("–"); else show[kind](cell, value, at, this.digits[n]);
          line.append(cell);
        }
        return line;
      }));
      const all = this.order.length, found = this.rows.length;
      const first = this.kept ? `the first ${whole(all)} of ${whole(this.total)}` : whole(all);
      this.parts[".shown"].textContent = found === all
        ? `${first} ${all === 1 ? this.name.slice(0, -1) : this.name}` : `${whole(found)} of ${first} ${this.name}`;
      const last = Math.max(0, Math.ceil(found / PAGE) - 1);
      this.parts[".where"].textContent = found
        ? `${whole(start + 1)}–${whole(Math.min(start + PAGE, found))} of ${whole(found)}` : "nothing found";
      this.parts[".previous"].parentElement.hidden = found <= PAGE && found > 0;
      this.parts[".previous"].disabled = this.page === 0;
      this.parts[".next"].disabled = this.page >= last;
    }

    places(rows) {
      return this.row ? rows.filter((row) => this.row.has(row)).map((row) => this.row.get(row)) : rows;
    }

    save(rows, file, fillIn) {
      const quote = (value) => {
        const text = value === null ? "" : String(value);
        return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
      };
      const lines = fillIn
        ? [[quote(this.columns[0].name), fillIn], ...rows.map((row) => [quote(this.values[0][row]), ""])]
        : [this.columns.map((column) => quote(column.name)), ...rows.map((row) => this.values.map((values) => quote(values[row])))];
      const link = make("a");
      link.href = URL.createObjectURL(new Blob([lines.map((line) => line.join(",") + "\n").join("")], { type: "text/csv" }));
      link.download = file;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    }
  }

  document.querySelectorAll(".table").forEach((box) => { tables[box.dataset.name] = new Table(box); });
  document.querySelectorAll("button.download").forEach((button) => button.addEventListener("click", () => {
    const { table, rows, file, fillIn } = button.dataset;
    tables[table].save(tables[table].places(rows.split(" ").map(Number)), file, fillIn);
  }));
})();
