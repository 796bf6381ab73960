// Lists only the players whose names hold what one types. The page is complete without it.
"use strict";
for (const filter of document.querySelectorAll("[data-filter]")) {
  const folded = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
  const rows = [...filter.closest(".page, main").querySelectorAll("tbody tr")].map((row) => [row, folded(row.cells[0].textContent)]);
  const box = filter.querySelector("input");
  filter.hidden = false;
  box.addEventListener("input", () => {
    const wanted = folded(box.value.trim());
    let found = 0;
    for (const [row, name] of rows) {
      row.hidden = !name.includes(wanted);
      found += !row.hidden;
    }
    filter.querySelector("[role=status]").textContent = wanted ? `${found.toLocaleString("en")} found` : "";
  });
}
