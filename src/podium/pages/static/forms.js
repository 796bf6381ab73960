// Offers time zones, fills the examples of results in, and takes files that are dropped. Forms work without it.
"use strict";
const zones = document.getElementById("zones");
if (zones) zones.append(...Intl.supportedValuesOf("timeZone").map((zone) => new Option(zone, zone)));
const examples = document.querySelector("[data-examples]");
if (examples) {
  const form = examples.closest("form");
  const { pasted, file } = form.elements;
  for (const sample of document.querySelectorAll("[data-samples] pre")) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = sample.previousElementSibling.textContent;
    button.addEventListener("click", () => {
      pasted.value = sample.textContent;
      pasted.focus();
    });
    examples.append(button);
  }
  examples.hidden = false;
  document.querySelector("[data-samples]").open = matchMedia("(width>=60rem)").matches;
  for (const kind of ["dragover", "dragleave", "drop"])
    form.addEventListener(kind, (event) => {
      if (!event.dataTransfer.types.includes("Files")) return;
      event.preventDefault();
      form.classList.toggle("held", kind === "dragover");
      if (kind === "drop" && event.dataTransfer.files.length) file.files = event.dataTransfer.files;
    });
}
