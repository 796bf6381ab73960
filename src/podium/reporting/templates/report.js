// Finds players by name as one types, and opens the section that a link leads to. The page is complete without it.
(() => {
  const folded = text => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
  const box = document.getElementById("q"), count = document.getElementById("found");
  const rows = [...document.querySelectorAll("[data-player]")].map(row => [row, folded(row.querySelector("bdi").textContent)]);
  box.closest(".search").hidden = false;
  box.addEventListener("input", () => {
    const wanted = folded(box.value.trim());
    let found = 0;
    for (const [row, name] of rows) {
      row.hidden = !name.includes(wanted);
      found += !row.hidden && row.matches("tr");
    }
    count.textContent = wanted ? `${found} found` : "";
  });
  const reveal = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let each = target; each; each = each.parentElement) {
      each.hidden = false;
      if (each.tagName === "DETAILS") each.open = true;
    }
    if (target) target.scrollIntoView();
  };
  addEventListener("hashchange", reveal);
  reveal();
})();
