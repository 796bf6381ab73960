// Shows the current tab, offers time zones, fills in examples and known names, and takes files that are dropped.
// Forms work without it.
"use strict";
document.querySelector("nav.pick [aria-current]")?.scrollIntoView({ inline: "center", block: "nearest" });
const zones = document.getElementById("zones");
if (zones) zones.append(...Intl.supportedValuesOf("timeZone").map((zone) => new Option(zone, zone)));
const names = document.querySelector("[data-names]");
if (names) {
  const { entrants } = names.closest("form").elements;
  const entered = () => entrants.value.split("\n").map((line) => line.trim()).filter(Boolean);
  const show = () => {
    const all = entered();
    for (const button of names.children) button.ariaPressed = all.includes(button.textContent);
  };
  names.addEventListener("click", ({ target }) => {
    const button = target.closest("button");
    if (!button) return;
    const name = button.textContent;
    const others = entered().filter((line) => line !== name);
    entrants.value = (button.ariaPressed === "true" ? others : [...others, name]).join("\n");
    show();
  });
  entrants.addEventListener("input", show);
  names.hidden = false;
  show();
}
const samples = document.querySelector("[data-samples]");
if (samples) {
  const form = document.querySelector("[type=file]").form;
  const { pasted, file } = form.elements;
  for (const sample of samples.querySelectorAll("pre")) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "Try it";
    button.setAttribute("aria-label", `Try it: ${sample.previousElementSibling.textContent}`);
    button.addEventListener("click", () => {
      pasted.value = sample.textContent;
      pasted.focus();
    });
    sample.after(button);
  }
  samples.open = matchMedia("(width>=60rem)").matches;
  for (const kind of ["dragover", "dragleave", "drop"])
    form.addEventListener(kind, (event) => {
      if (!event.dataTransfer.types.includes("Files")) return;
      event.preventDefault();
      form.classList.toggle("held", kind === "dragover");
      if (kind === "drop" && event.dataTransfer.files.length) file.files = event.dataTransfer.files;
    });
}
