// Filters the operations of the API, copies examples, opens the group of an address, and marks the operation that one
// reads.
// The page is complete without it.
"use strict";
const filter = document.querySelector("[data-operations]");
const box = filter.querySelector("input");
const groups = [...document.querySelectorAll(".group")];
const linkTo = (section) => document.querySelector(`nav a[href="#${section.firstElementChild.id}"]`);
filter.hidden = false;
box.addEventListener("input", () => {
  const wanted = box.value.trim().toLowerCase();
  document.getElementById("intro").hidden = wanted !== "";
  for (const group of groups) {
    let found = 0;
    for (const section of group.querySelectorAll("section")) {
      section.hidden = !section.dataset.words.includes(wanted);
      found += !section.hidden;
      const link = linkTo(section);
      if (link) link.parentElement.hidden = section.hidden;
    }
    group.hidden = !found;
    group.open = wanted !== "" && found > 0;
    const contents = linkTo(group.querySelector("section"))?.closest("details");
    if (contents) [contents.hidden, contents.open] = [group.hidden, group.open];
  }
});
if (matchMedia("(width<=40rem)").matches) document.querySelector("[data-calls]").open = false;
for (const text of navigator.clipboard ? document.querySelectorAll("pre") : []) {
  const copy = Object.assign(document.createElement("button"), { className: "copy", type: "button", textContent: "Copy" });
  const content = text.textContent;
  copy.addEventListener("click", () => navigator.clipboard.writeText(content).then(() => (copy.textContent = "Copied")));
  text.prepend(copy);
}
const open = () => {
  const target = document.getElementById(location.hash.slice(1));
  const group = target?.closest("details");
  if (group) group.open = true;
  target?.scrollIntoView();
};
addEventListener("hashchange", open);
open();
const watcher = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) {
    const link = linkTo(target);
    if (!link) continue;
    if (isIntersecting) {
      link.setAttribute("aria-current", "true");
      link.closest("details").open = true;
    } else link.removeAttribute("aria-current");
  }
}, { rootMargin: "-10% 0px -85%" });
for (const section of document.querySelectorAll(".group section")) watcher.observe(section);
