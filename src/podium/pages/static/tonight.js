/* Names are tapped in finishing order. The form's selects hold the result; this only fills them in. */
"use strict";
(() => {
  const form = document.querySelector("[data-tonight]");
  const find = (selector, within = form) => within.querySelector(selector);
  const [list, taps, status] = ["ol", ".taps", "[role=status]"].map((each) => find(`[data-tap] ${each}`));
  const lines = [...form.querySelectorAll("[data-line]")].map((item) => ({
    item,
    field: find("[name^=name-]", item),
    select: find("select", item),
    value: find("[name^=value-]", item),
    change: find("[data-change]", item),
  }));
  const amends = Boolean(form.elements.amends.value);
  for (const line of lines) line.saved = amends ? line.select.value : "";
  const OUT = [...find("fieldset").querySelectorAll("input")].map((each) => each.value).filter(Boolean);
  const teams = form.elements.teams;
  const named = () => lines.filter((line) => line.field.value.trim());
  const name = (line) => line.field.value.trim();

  /* The order: finishers with `tied` if they share the place of the one before, then those who are out. */
  let order = named()
    .filter((line) => Number(line.select.value))
    .sort((a, b) => a.select.value - b.select.value);
  order.forEach((line, k) => (line.tied = k > 0 && line.select.value === order[k - 1].select.value));
  let chosen = null; // the line that was tapped last
  let out = named().filter((line) => OUT.includes(line.select.value));

  function button(text, label, act) {
    const made = document.createElement("button");
    made.type = "button";
    made.textContent = text;
    if (label) made.setAttribute("aria-label", label);
    made.addEventListener("click", act);
    return made;
  }

  function text(tag, content, css = "") {
    const made = document.createElement(tag);
    made.textContent = content;
    if (css) made.className = css;
    return made;
  }

  function take(line) {
    chosen = line;
    const how = form.elements.how.value;
    if (!order.length && !out.length && form.elements.date?.value === form.elements.today.value)
      form.elements.at.value = new Date().toISOString();
    line.tied = false;
    if (how) {
      line.select.value = how;
      out.push(line);
    } else {
      line.tied = Boolean(teams.value && order.length) && sizeOfLast() < teamSize();
      order.push(line);
    }
    show(`${name(line)}: ${how ? line.select.selectedOptions[0].textContent : place(line)}`);
  }

  const place = (line) => line.select.selectedOptions[0].textContent;
  const groups = () => order.reduce((all, line) => (line.tied ? all.at(-1).push(line) : all.push([line]), all), []);
  const sizeOfLast = () => groups().at(-1)?.length ?? 0;
  const teamSize = () => (groups().length > 1 ? groups()[0].length : Math.max(2, sizeOfLast()));

  /* Whoever shared the place of the first in a tie keeps it. */
  function leave(line) {
    const next = order[order.indexOf(line) + 1];
    if (next && !line.tied) next.tied = false;
    order = order.filter((each) => each !== line);
  }

  function drop(line) {
    if (order.includes(line)) leave(line);
    out = out.filter((each) => each !== line);
    line.select.value = "";
    line.change.textContent = "";
    show(`${name(line)} removed`);
  }

  /* Put a finisher among those who did not finish. */
  function fail(line) {
    leave(line);
    line.tied = false;
    line.select.value = OUT[0];
    out.push(line);
    show(`${name(line)}: ${place(line)}`);
  }

  function move(line, to) {
    const from = order.indexOf(line);
    chosen = line;
    if (from < 0 || to < 0 || to >= order.length || from === to) return;
    leave(line);
    order.splice(to, 0, line);
    line.tied = Boolean(order[to + 1]?.tied); // between two who share a place, it is shared by three
    show(`${name(line)} moved`);
  }

  /* A player's row, with the place in the saved result if it is another. A phone shows the tools of the chosen row. */
  function row(line, k) {
    const made = document.createElement("li");
    const isOut = k < 0;
    const handle = text("b", isOut ? "–" : place(line));
    const who = button("", "", () => ((chosen = line), show()));
    who.className = "who";
    who.setAttribute("aria-expanded", line === chosen);
    made.classList.toggle("open", line === chosen);
    who.append(text("bdi", name(line)));
    if (amends && line.select.value !== line.saved) who.append(text("small", line.saved ? `was ${savedPlace(line)}` : "added"));
    made.append(handle, who, line.change);
    if (isOut) made.append(text("small", place(line), "soft"));
    else if (line.value) made.append(line.value);
    const tools = document.createElement("span");
    if (!isOut) {
      const shared = teams.value ? "Same team as the one above" : "Tie with the one above";
      const tie = button("tie", `${shared}: ${name(line)}`, () => ((line.tied = !line.tied), show()));
      const up = button("↑", `Move ${name(line)} up`, () => move(line, k - 1));
      const down = button("↓", `Move ${name(line)} down`, () => move(line, k + 1));
      tie.setAttribute("aria-pressed", line.tied);
      tie.disabled = up.disabled = k === 0;
      down.disabled = k === order.length - 1;
      tools.append(tie, up, down);
      if (OUT.length) tools.append(button("quit", `${name(line)} quit`, () => fail(line)));
      drag(made, handle, line);
    }
    tools.append(button("✕", `Remove ${name(line)}`, () => drop(line)));
    made.append(tools);
    return made;
  }

  const savedPlace = (line) => [...line.select.options].find((each) => each.value === line.saved).textContent;

  /* A row follows the pointer that holds its number. */
  function drag(item, handle, line) {
    handle.className = "grip";
    handle.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      item.classList.add("held");
      const follow = ({ clientY }) => {
        const middle = (each) => each.getBoundingClientRect().top + each.offsetHeight / 2;
        const rows = [...list.querySelectorAll("li:has(.grip)")].filter((each) => each !== item);
        const next = rows.find((each) => clientY < middle(each));
        if (next) next.before(item);
        else rows.at(-1)?.after(item);
      };
      const end = () => {
        document.removeEventListener("pointermove", follow); // on the document: a row that moves loses its pointer
        for (const kind of ["pointerup", "pointercancel"]) document.removeEventListener(kind, end);
        item.classList.remove("held");
        move(line, [...list.children].indexOf(item));
      };
      document.addEventListener("pointermove", follow);
      for (const kind of ["pointerup", "pointercancel"]) document.addEventListener(kind, end);
    });
  }

  /* Draw the order, and ask what the result would change. */
  function show(said = "") {
    if (order[0]) order[0].tied = false;
    let number = 0;
    order.forEach((line, k) => {
      if (!line.tied) number = teams.value ? number + 1 : k + 1;
      line.select.value = String(number);
    });
    list.replaceChildren(...order.map(row), ...out.map((line) => row(line, -1)));
    const removed = lines.filter((line) => line.saved && !line.select.value);
    if (removed.length) list.append(text("li", "Removed:", "soft"));
    for (const line of removed) list.lastChild.append(button(name(line), `Put ${name(line)} back`, () => take(line)));
    const asked = order.length ? "Who was next?" : "Who won?";
    find("h2").textContent = isComplete() ? "Everyone has a place." : amends ? "Finishing order" : asked;
    free();
    if (said) status.textContent = said;
    offer();
    look();
  }

  const isComplete = () => named().length > 0 && named().length === order.length + out.length;

  /* A result has at least two names. */
  function free() {
    find(".go").disabled = order.length + out.length < 2 && !("race" in form.dataset);
  }

  /* Show the names that contain what is written. A name keeps its position, with its place once it has one. */
  function offer() {
    const focused = [...taps.children].indexOf(document.activeElement);
    taps.replaceChildren(
      ...named().map((line) => {
        if (!order.includes(line) && !out.includes(line)) return button(name(line), "", () => take(line));
        const made = button(name(line), `Take ${name(line)} out`, () => drop(line));
        made.dataset.place = Number(line.select.value) || "–";
        return made;
      }),
    );
    taps.children[focused]?.focus({ preventScroll: true });
    const sought = field.value.trim().toLowerCase();
    for (const each of taps.children) each.hidden = !each.textContent.toLowerCase().includes(sought);
    find("fieldset").hidden = taps.hidden = (amends || isComplete()) && !sought;
  }

  let looking = new AbortController();

  async function look() {
    looking.abort();
    looking = new AbortController();
    if (order.length + out.length < 2 && !("race" in form.dataset)) return lines.forEach((line) => (line.change.textContent = ""));
    const body = new URLSearchParams(new FormData(form));
    body.set("act", "look");
    const html = await fetch(form.action, { method: "POST", body, signal: looking.signal })
      .then((answer) => (answer.ok ? answer.text() : ""))
      .catch(() => ""); // a newer order was sent meanwhile
    if (!html) return;
    const page = new DOMParser().parseFromString(html, "text/html");
    const known = new Map();
    for (const each of page.querySelectorAll("[data-line]"))
      known.set(find("[name^=name-]", each).value, find("[data-change]", each).textContent);
    for (const line of lines) {
      const change = known.get(name(line)) ?? "";
      line.change.textContent = change;
      line.change.className = `n ${{ "+": "gain", "−": "loss" }[change.trim()[0]] ?? "soft"}`;
    }
  }

  /* A name that is written narrows the buttons; names of the pool are fetched, and a new one can be added. */
  const field = find("[data-name]");
  let timer = 0;
  const same = (a, b) => a.localeCompare(b, undefined, { sensitivity: "accent" }) === 0;

  function add(words) {
    const found = named().find((line) => same(name(line), words));
    const line = found ?? lines.find((each) => !each.field.value.trim()) ?? addLine();
    line.field.value ||= words;
    field.value = "";
    if (order.includes(line) || out.includes(line)) show();
    else take(line);
    field.focus();
  }

  function addLine() {
    const last = lines.at(-1);
    const item = last.item.cloneNode(true);
    const k = lines.length;
    for (const each of item.querySelectorAll("[name]")) {
      each.name = each.name.replace(/\d+$/, k);
      each.value = "";
    }
    const line = {
      item,
      field: find("[name^=name-]", item),
      select: find("select", item),
      value: last.value ? Object.assign(last.value.cloneNode(), { name: `value-${k}`, value: "" }) : null,
      change: last.change.cloneNode(),
    };
    last.item.after(item);
    lines.push(line);
    form.elements.lines.value = lines.length;
    const top = String(lines.length);
    for (const each of lines) each.select.add(new Option(top), each.select.options[each.select.length - OUT.length]);
    return line;
  }

  async function search(words) {
    const address = new URL(form.dataset.findAddress, location.href);
    address.search = new URLSearchParams({ q: words, list: "1" });
    const answer = await fetch(address, { headers: { Accept: "text/html" } }).catch(() => null);
    if (!answer || field.value.trim() !== words) return; // a search without hits answers 404
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const offered = new Set(named().map(name));
    const found = [...page.querySelectorAll("#listing th bdi:first-child")].map((each) => each.textContent);
    for (const each of found.filter((player) => !offered.has(player)).slice(0, 8))
      taps.append(button(each, "", () => add(each)));
    if (![...offered, ...found].some((each) => same(each, words)))
      taps.append(Object.assign(button(`+ ${words}`, `Add the new name ${words}`, () => add(words)), { className: "new" }));
  }

  field.addEventListener("input", () => {
    clearTimeout(timer);
    offer();
    const words = field.value.trim();
    if (words) timer = setTimeout(() => search(words), 200);
  });
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    if (field.value.trim()) add(field.value.trim());
  });
  teams.addEventListener("change", () => show());
  form.addEventListener("change", (event) => event.target.name?.startsWith("value-") && look());
  form.addEventListener("submit", () => setTimeout(() => (find(".go").disabled = true)));
  addEventListener("pageshow", free);
  find("[data-look]").hidden = true;
  for (const each of form.querySelectorAll("[data-lines]")) each.hidden = true;
  find("[data-tap]").hidden = false;
  show();
})();
