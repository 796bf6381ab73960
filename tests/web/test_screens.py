"""Every page in a browser, on phones and desktops, light and dark: legible, accessible, and within the screen."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from served import PAGES, ways

LEAST_CONTRAST, LEAST_TARGET = 4.5, 24
SIDEWAYS = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
MEASURE = (
    """() => {
  const canvas = document.createElement("canvas"); canvas.width = canvas.height = 1;
  const pen = canvas.getContext("2d", {willReadFrequently: true});
  const seen = new Map();
  const rgba = colour => {
    if (!seen.has(colour)) {
      pen.clearRect(0, 0, 1, 1); pen.fillStyle = colour; pen.fillRect(0, 0, 1, 1);
      const [r, g, b, a] = pen.getImageData(0, 0, 1, 1).data; seen.set(colour, [r, g, b, a / 255]);
    }
    return seen.get(colour);
  };
  const linear = v => (v /= 255) <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4;
  const light = ([r, g, b]) => .2126 * linear(r) + .7152 * linear(g) + .0722 * linear(b);
  const over = (top, below) => [0, 1, 2].map(k => top[k] * top[3] + below[k] * (1 - top[3])).concat(1);
  const ground = element => {
    const layers = [];
    for (let each = element; each; each = each.parentElement) {
      const colour = rgba(getComputedStyle(each).backgroundColor);
      if (colour[3] > 0) layers.push(colour);
      if (colour[3] === 1) break;
    }
    return layers.reduceRight((below, top) => over(top, below), [255, 255, 255, 1]);
  };
  const pale = [], small = [];
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const node = texts.currentNode, element = node.parentElement;
    if (!node.data.trim() || element.closest(".vh, .skip")) continue;
    const range = document.createRange(); range.selectNode(node);
    const box = range.getBoundingClientRect();
    if (box.width < 2 || box.height < 2) continue;
    const style = getComputedStyle(element), svg = element.closest("svg");
    const below = ground(svg ? svg.parentElement : element);
    const [a, b] = [light(over(rgba(svg ? style.fill : style.color), below)), light(below)];
    const contrast = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
    if (contrast < LEAST_CONTRAST) pale.push([node.data.trim().slice(0, 40), contrast]);
  }
  for (const link of document.querySelectorAll("a:is(.gain, .loss, .even), summary, button, .brand, .tabs a")) {
    const box = link.getBoundingClientRect();
    if (box.width && Math.min(box.width, box.height) < LEAST_TARGET) small.push([link.textContent.trim(), box.height]);
  }
  for (const input of document.querySelectorAll(".grow input"))  // to type a name into
    if (input.offsetWidth && input.offsetWidth < 150) small.push([input.name, input.offsetWidth]);
  const broken = [...document.querySelectorAll("td, thead th")]
    .flatMap(cell => [...cell.childNodes, ...cell.querySelectorAll("small")])
    .filter(node => /^\\s*[+\\u2212]?[\\d.,:]+\\s*$/.test(node.textContent))
    .filter(node => {
      const range = document.createRange(); range.selectNodeContents(node);
      return new Set([...range.getClientRects()].map(box => Math.round(box.top))).size > 1;
    }).map(node => node.textContent);
  const tops = range => new Set([...range.getClientRects()].map(box => Math.round(box.top))).size;
  for (const text of [...document.querySelectorAll("thead th, button")].flatMap(each => [...each.childNodes]))
    for (const word of text.nodeType === Node.TEXT_NODE ? text.data.matchAll(/\\S+/g) : []) {
      const range = document.createRange();
      range.setStart(text, word.index); range.setEnd(text, word.index + word[0].length);
      if (tops(range) > 1) broken.push(word[0]);
    }
  for (const change of document.querySelectorAll(".why .n > *"))  // a name may be long, a number has its column
    if (change.getBoundingClientRect().right > change.closest(".why").getBoundingClientRect().right + 1)
      broken.push(change.textContent);
  const page = document.documentElement, sideways = SIDEWAYS;
  const beyond = each => each.getBoundingClientRect().right > page.clientWidth + 1;
  const wide = sideways > 0 ? [...document.querySelectorAll("body *")].filter(beyond) : [];
  return {pale, small, broken, sideways, wide: wide.slice(0, 5).map(each => each.outerHTML.slice(0, 80))};
}""".replace("LEAST_CONTRAST", str(LEAST_CONTRAST))
    .replace("LEAST_TARGET", str(LEAST_TARGET))
    .replace("SIDEWAYS", SIDEWAYS)
)
# Contrast takes axe most of its time. The script above measures it instead, in charts also.
AXE = {"resultTypes": ["violations"], "rules": {"color-contrast": {"enabled": False}}}
AXE_CODE = Axe().axe_script
RUN_AXE = """async options => (await axe.run(document, options)).violations
  .map(each => [each.id, each.nodes[0].html.slice(0, 200)])"""
UNFOLD = "document.querySelectorAll('details').forEach(each => { each.open = true })"


def violations(page, **options):
    """Return each violation that axe finds, with the first element. Its whole report would take time to transfer."""
    page.evaluate(AXE_CODE)
    return page.evaluate(RUN_AXE, AXE | options)


def assert_readable(page, name=None, axe=True):
    """Check that nothing is pale, small or wider than the screen, and that axe finds no violation."""
    page.wait_for_load_state()  # a click returns before the next page has its style sheets and scripts
    page.evaluate(UNFOLD)
    seen = page.evaluate(MEASURE)
    assert (seen["pale"], seen["small"], seen["wide"]) == ([], [], []), name
    if axe:
        assert violations(page) == [], name


def heard(faults):
    """Return handlers that collect a page's errors, including dialogs, which would block the page."""

    def dismiss(dialog):
        faults.append(dialog.message)
        dialog.dismiss()

    return {
        "console": lambda message: faults.append(message.text) if message.type == "error" else None,
        "pageerror": lambda error: faults.append(str(error)),
        "dialog": dismiss,
    }


@pytest.mark.parametrize(("name", "width", "scheme"), ways())
def test_every_page_is_readable_and_accessible(screens, name, width, scheme):
    refused = []
    page = screens(width, scheme, **heard(refused))
    answer = page.goto(PAGES[name])
    assert page.evaluate(SIDEWAYS) <= 0
    page.evaluate(UNFOLD)
    seen = page.evaluate(MEASURE)
    assert seen == {"pale": [], "small": [], "broken": [], "sideways": min(0, seen["sideways"]), "wide": []}
    if scheme == "light":  # axe's rules do not depend on the scheme
        assert violations(page) == []
    assert [each for each in refused if answer.ok or "404" not in each] == []


ROWS = 13


def test_a_phones_first_screen_has_the_main_facts(screens):
    """It shows 13 rows of a leaderboard, or a player's rating, rank and curve."""
    page = screens(390)
    page.goto(PAGES["leaderboard"])
    rows = page.locator("#board tbody tr").evaluate_all("rows => rows.map(each => each.getBoundingClientRect().bottom)")
    assert sum(bottom <= 844 for bottom in rows) >= ROWS
    assert page.evaluate("[...document.querySelectorAll('#board .name')].every(each => each.offsetHeight < 40)")
    assert page.evaluate("[...document.querySelectorAll('#board .name')].every(each => each.offsetWidth > 150)")
    page.goto("/bikes/players/Viktor")
    for part in (".key", "svg.chart"):
        assert page.locator(part).first.evaluate("part => part.getBoundingClientRect().bottom") <= 844, part
    assert page.locator(".tabs ul").evaluate("list => list.scrollWidth - list.clientWidth") == 0
    page.goto("/forty/players/Entrant%2002")  # this race is loaded separately because it is large
    page.locator("#first:not([data-fetch])").get_by_text("gain").first.wait_for()


def test_times_are_the_same_with_and_without_scripts(browser, site):
    """They are in the pool's time zone, not in the reader's."""
    for script in (True, False):
        context = browser.new_context(timezone_id="Asia/Tokyo", java_script_enabled=script, base_url=site.address)
        page = context.new_page()
        page.goto(PAGES["race"])
        times = " ".join(page.locator("main time").all_inner_texts()).replace("\xa0", " ")
        context.close()
        assert "1 Jun 2199, 18:00 UTC" in times


LARGE = ("home", "leaderboard", "player", "why", "changes", "predict", "rivals", "compare two")


def test_pages_with_double_text_size_fit_a_phone(large_text):
    for name in LARGE:
        large_text.goto(PAGES[name])
        large_text.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
        assert large_text.evaluate(SIDEWAYS) <= 0, name


def test_a_leaderboard_with_wide_headings_fits_a_tablet(screens):
    for width in (650, 700, 768):
        page = screens(width)
        page.goto(PAGES["leaderboard with deviations"])
        assert page.evaluate(SIDEWAYS) <= 0, width


LOST_COMMAS = """[...document.querySelectorAll("main a")].filter(link => {
  const next = link.nextSibling, mark = document.createRange();
  if (!link.offsetWidth || next?.nodeType !== Node.TEXT_NODE || !/^[,.;:]/.test(next.data)) return false;
  mark.setStart(next, 0); mark.setEnd(next, 1);
  return mark.getBoundingClientRect().top >= [...link.getClientRects()].at(-1).bottom - 1;
}).map(link => link.textContent)"""


def test_no_line_starts_with_the_comma_after_a_link(screens):
    screens(320).goto(PAGES["home"])
    for width in range(320, 400, 4):
        assert screens(width).evaluate(LOST_COMMAS) == [], width


def test_a_long_pool_name_leaves_room_for_search_results(screens):
    page = screens(390)
    page.goto(PAGES["found"])
    pools = page.locator("#listing td.soft bdi")
    pools.first.evaluate(
        "bdi => { bdi.textContent = 'Liga der sehr langen Überschriften und noch viel längeren Namen' }"
    )
    assert max(pools.evaluate_all("each => each.map(bdi => bdi.offsetHeight)")) < 60
    assert min(pools.evaluate_all("each => each.map(bdi => bdi.closest('td').offsetWidth)")) >= 80


def test_the_api_reference_fits_a_phone(screens):
    page = screens(390)
    page.goto("/api/docs")
    page.fill("[data-operations] input", "leaderboard")
    shown = page.locator("main section:visible h3 code").all_inner_texts()
    assert "/api/v1/pools/{pool}/leaderboard" in shown
    assert len(shown) < 6
    page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true })")
    assert page.evaluate(SIDEWAYS) <= 0


def test_the_api_reference_opens_at_a_part_that_is_not_folded(screens):
    errors = []
    page = screens(1000, pageerror=lambda error: errors.append(str(error)))
    page.goto("/api/docs#start")
    page.goto("/api/docs#leaderboard")
    assert page.locator("#leaderboard").is_visible()
    assert not errors
