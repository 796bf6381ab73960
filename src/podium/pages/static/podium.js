/* What saves a page load: search as one types, the next rows, the Why of another player, parts that take long, and news.
   Every page is complete without it; what it shows is always taken from a page of the service. */
"use strict";
(() => {
  const SEARCH_DELAY_MS = 200;
  const RETRY_MS = [2000, 60000]; // the first pause after a broken stream, and the longest
  const RESULT = "submit"; // the kind of a log entry that is a new result
  const CORRECTIONS = new Set(["amend", "void", "unvoid", "merge", "unmerge", "season", "configure", "rerate"]);
  const find = (selector, within = document) => within.querySelector(selector);

  const isPlain = (click) => click.button === 0 && !(click.metaKey || click.ctrlKey || click.shiftKey || click.altKey);

  /** Fetch a page of the service as a document; a problem is a page, too. */
  async function fetchPage(address, signal) {
    const answer = await fetch(address, { headers: { Accept: "text/html" }, credentials: "same-origin", signal });
    if (!(answer.headers.get("Content-Type") || "").startsWith("text/html")) throw new TypeError("not a page");
    return new DOMParser().parseFromString(await answer.text(), "text/html");
  }

  /** Keep what is shown, marked as busy, until the promise is fulfilled. */
  async function whileBusy(element, promise) {
    element.setAttribute("aria-busy", "true");
    try {
      return await promise;
    } finally {
      element.removeAttribute("aria-busy");
    }
  }

  /* Search as one types: the list of the page of hits stands where the board stood; an empty field brings that back. */
  let searching = new AbortController();
  let searchTimer = 0;
  let listed = null; // what stood in the list before the search

  const announced = document.createElement("p"); // to those who do not see the list
  announced.className = "vh";
  announced.setAttribute("role", "status");
  document.body.append(announced);

  async function search(form) {
    const list = find("#listing");
    const text = find("input[name=q]", form).value.trim();
    searching.abort();
    searching = new AbortController();
    listed ??= [...list.childNodes];
    if (!text) {
      list.replaceChildren(...listed);
      listed = null;
      announced.textContent = "";
      return;
    }
    const address = new URL(form.action);
    address.search = new URLSearchParams({ q: text, list: "1" });
    const page = await whileBusy(list, fetchPage(address, searching.signal));
    const found = find("#listing", page);
    if (!found) return;
    list.replaceChildren(...found.childNodes);
    announced.textContent = find("h2", list)?.textContent ?? "";
  }

  document.addEventListener("input", (event) => {
    const form = event.target.closest("form[data-find]");
    if (!form || !find("#listing")) return;
    clearTimeout(searchTimer);
    searchTimer = setTimeout(() => search(form).catch(() => {}), SEARCH_DELAY_MS); // Enter still finds
  });

  /* The next rows, below those that are there. A player who moved meanwhile is not listed twice. */
  async function showMore(link) {
    const rows = find("#board tbody");
    const page = await whileBusy(rows.closest("table"), fetchPage(link.href));
    const known = new Set([...rows.querySelectorAll("th a")].map((each) => each.pathname));
    const fresh = [...page.querySelectorAll("#board tbody tr")].filter((row) => {
      const name = find("th a", row);
      return !name || !known.has(new URL(name.getAttribute("href"), link.href).pathname);
    });
    const next = find("a[data-more]", page);
    rows.append(...fresh);
    if (next) link.href = new URL(next.getAttribute("href"), link.href);
    else link.remove();
    if (fresh.length) find("a", fresh[0])?.focus({ preventScroll: true });
  }

  /* The Why of another player: the page of its address in place of this one, at the same height. */
  let choosing = new AbortController();

  async function showWhy(address) {
    choosing.abort();
    choosing = new AbortController();
    const main = find("main");
    const page = await whileBusy(main, fetchPage(address, choosing.signal));
    const chosen = find("#why", page);
    if (!chosen) throw new TypeError("no Why on the page");
    main.replaceChildren(...find("main", page).childNodes);
    document.title = page.title;
    const why = find("#why");
    const top = why.getBoundingClientRect().top;
    if (top < 0 || top > innerHeight / 2) why.scrollIntoView();
    why.tabIndex = -1;
    why.focus({ preventScroll: true });
  }

  let shown = location.pathname; // the page that main shows

  addEventListener("popstate", () => {
    if (location.pathname === shown) return; // only the part after # is another
    shown = location.pathname;
    showWhy(location.href).catch(() => location.reload());
  });

  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-more], [data-why] a:is(.gain, .loss, .even)");
    if (!link || !isPlain(event)) return;
    event.preventDefault();
    const address = link.href;
    const follow = (error) => error.name === "AbortError" || location.assign(address); // another was chosen meanwhile
    if (link.matches("[data-more]")) {
      showMore(link).catch(follow);
    } else {
      showWhy(address).then(() => {
        history.pushState(null, "", address);
        shown = location.pathname;
      }, follow);
    }
  });

  /* What takes long to work out: a part of another page, fetched as soon as its summary is opened. */
  async function load(details) {
    const page = await whileBusy(details, fetchPage(details.dataset.load));
    const part = find(details.dataset.part, page);
    if (!part) throw new TypeError("no such part on the page");
    details.replaceChildren(find("summary", details), part);
    delete details.dataset.load;
  }

  document.addEventListener("toggle", (event) => {
    const details = event.target;
    if (details.open && details.dataset.load && !details.ariaBusy) load(details).catch(() => {}); // its link stays
  }, true);

  /* Parts that come after a page that may be kept: each is the part of the same name on another page. */
  for (const part of document.querySelectorAll("[data-fetch]")) {
    fetchPage(part.dataset.fetch)
      .then((page) => part.replaceWith(find(`#${part.id}`, page) ?? ""))
      .catch(() => {}); // the page is whole without
  }

  /* News of the pool, from where the page ends: a bar says so, and no row moves. Nothing is read in a hidden tab. */
  const { stream, version } = document.body.dataset;
  let after = Number(version);
  let results = 0;
  let corrections = 0;
  let pause = RETRY_MS[0];
  let reading = null;

  function showNews() {
    const bar = find("#news");
    const link = document.createElement("a");
    link.href = location.pathname + location.search;
    link.textContent = "Show";
    const count = results === 1 ? "1 new result. " : `${results} new results. `;
    bar.replaceChildren(results ? count : "Ratings were corrected. ", link);
    bar.hidden = false;
  }

  function take(block) {
    const fields = new Map(block.split("\n").map((line) => line.split(/: ?(.*)/s)));
    const number = Number(fields.get("id"));
    const kind = fields.get("event");
    if (!(number > after)) return;
    after = number;
    if (kind === RESULT) results += 1;
    else if (CORRECTIONS.has(kind)) corrections += 1;
    if (results || corrections) showNews();
  }

  async function readStream(signal) {
    const answer = await fetch(stream, { headers: { "Last-Event-ID": String(after) }, cache: "no-store", signal });
    if (answer.status >= 400 && answer.status < 500 && answer.status !== 429) return false;
    if (!answer.ok) return true;
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let text = ""; ; ) {
      const { value, done } = await reader.read();
      if (done) return true;
      pause = RETRY_MS[0];
      const blocks = (text + value).split("\n\n");
      text = blocks.pop();
      blocks.forEach(take);
    }
  }

  async function listen() {
    if (!stream || !find("#news") || reading || document.hidden) return;
    const mine = (reading = new AbortController());
    let isOpen = true;
    while (isOpen && !mine.signal.aborted) {
      isOpen = await readStream(mine.signal).catch(() => true);
      if (isOpen) await new Promise((resolve) => setTimeout(resolve, pause));
      pause = Math.min(2 * pause, RETRY_MS[1]);
    }
  }

  function stopListening() {
    reading?.abort();
    reading = null;
  }

  document.addEventListener("visibilitychange", () => (document.hidden ? stopListening() : listen()));
  addEventListener("pagehide", stopListening);
  addEventListener("pageshow", listen);

  /* A result is shared with its picture, or else its address is copied. */
  for (const share of document.querySelectorAll("[data-share]")) {
    share.parentElement.hidden = false;
    share.onclick = async () => {
      const url = location.origin + location.pathname;
      if (!navigator.share) {
        await navigator.clipboard?.writeText(url);
        share.textContent = "The address is copied";
        return;
      }
      const file = share.dataset.share;
      const picture = file && await fetch(file).then((answer) => answer.ok && answer.blob()).catch(() => null);
      const files = picture ? [new File([picture], "result.png", { type: "image/png" })] : [];
      const sent = { title: document.title, url, ...(navigator.canShare?.({ files }) ? { files } : {}) };
      await navigator.share(sent).catch(() => {});
    };
  }

  /* A race that runs. */
  if (find("[data-live]"))
    setInterval(async () => {
      if (document.hidden) return;
      const page = await fetchPage(location.href).catch(() => null);
      const next = page && find("[data-live]", page);
      if (!next) return page && find("#result", page) && location.reload();
      const live = find("[data-live]");
      if (next.isEqualNode(live)) return;  // what is being read or chosen stays as it is
      live.replaceWith(next);
      for (const line of page.querySelectorAll("tr[data-place]")) {
        const mine = find(`tr[data-place="${line.dataset.place}"]`);
        if (mine) mine.innerHTML = line.innerHTML;
      }
    }, 2000);

  /* What the chosen place would bring. */
  for (const stakes of document.querySelectorAll("[data-stakes]")) {
    const slider = find("input", stakes);
    slider.closest("p").hidden = false;
    slider.oninput = () => {
      for (const line of document.querySelectorAll("tr[data-place]")) {
        line.classList.toggle("me", line.dataset.place === slider.value);
        if (line.dataset.place !== slider.value) continue;
        const [change, then] = [...line.querySelectorAll("td")].slice(-4);
        find(".big", stakes).innerHTML = change.innerHTML;
        find("strong", stakes).textContent = find("span", then).textContent;
        find("[role=status]", stakes).textContent = line.dataset.words;
        slider.setAttribute("aria-valuetext", line.dataset.words);
      }
    };
  }
})();
