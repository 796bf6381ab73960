"""Write `docs/performance.md` and its pictures from the measurements of `run.py`."""

import math
import platform
from datetime import UTC, datetime
from pathlib import Path

import altair as alt
import targets
from contenders import LIMIT_THERE, SKILLRATINGS

from podium.reporting.histories import HEIGHT, WIDTH, colour, dashes, line_legend
from podium.reporting.plotting import as_svg

LOOP = "loop by hand, Elo"
CHARTS = "pictures"
LABEL = "format(datum.value, datum.value < 1 ? '~g' : '~s')"  # readers might take 500m seconds for minutes
FEW_DECADES = 3
TABLES = {  # shapes of `run.py` by the heading of their column
    "Duels": {
        "10,000 players": "duels",
        "a fifth drawn": "duels, a fifth drawn",
        "1,000,000 players": "duels, 1,000,000 players",
        "men's tennis": "duels, men's tennis",
    },
    "Races": {"8 entrants": "races of 8", "1,000 entrants": "races of 1,000"},
}
INKS = "<style>svg{color:#1d1b2e}@media(prefers-color-scheme:dark){svg{color:#eceaf4}}</style>"


def loop_of(rows, row):
    """Return the speed of the loop written by hand for a row's shape, if it has one."""
    return next((each.events_per_s for each in rows if (each.shape, each.contender) == (row.shape, LOOP)), None)


def of_skillratings(rows, row) -> str:
    """Return the ratio to skillratings, scaled by the speed of the loop on both machines, if it has a figure."""
    cited = SKILLRATINGS.get((row.shape, row.contender))
    loop = loop_of(rows, rows[0]) or LIMIT_THERE
    return "" if cited is None else f"{row.events_per_s / loop / (cited / LIMIT_THERE):.2f}x"


def processor() -> str:
    """Return the processor's name from the system."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    facts = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lines)}
    return (
        f"{facts.get('model name', platform.machine())} (family {facts.get('cpu family')}, model {facts.get('model')})"
    )


def speed(events_per_s: float) -> str:
    """Return events per second with three digits."""
    for size, unit in ((1e6, " M"), (1e3, " k")):
        if events_per_s >= 0.9995 * size:  # rounds to 1M with three digits
            return f"{events_per_s / size:.3g}{unit}"
    return f"{events_per_s:.3g}"


def page(figures) -> str:
    """Return the page."""
    rows = figures["rows"]
    lines = [
        "# Performance",
        "",
        "These tables show how many events per second the compiled rules rate, once the table has been read. The",
        "contenders of a column take turns, and the best round of each counts, measured in processor seconds. Compare",
        "figures only within a column.",
        "",
        f"`make bench` measured this on {datetime.now(UTC):%-d %B %Y}, on one core under a load of",
        f"{figures['load']:.1f}: {processor()}. In brackets: times the speed of the Rust library skillratings 0.28.2",
        "on another machine, compared through the same hand-written Elo loop, which reached",
        f'{speed(LIMIT_THERE)} there. "States touched only" reads and writes two states: the limit of the machine.',
    ]
    for title, shapes in TABLES.items():
        measured = {heading: shape for heading, shape in shapes.items() if any(row.shape == shape for row in rows)}
        lines += ["", f"## {title}", "", f"| | {' | '.join(measured)} |", "|---" * (1 + len(measured)) + "|"]
        lines += contenders_of(rows, measured.values())
    return (
        "\n".join([*lines, "", *service_section(figures), *growth_sections(figures), *single_figures(figures)]) + "\n"
    )


def contenders_of(rows, shapes) -> list[str]:
    """Return a line for each contender, with a cell for each shape."""
    speeds = {(row.contender, row.shape): speed(row.events_per_s) + in_brackets(rows, row) for row in rows}
    names = dict.fromkeys(row.contender for row in rows if row.shape in shapes)
    return [f"| {name} | {' | '.join(speeds.get((name, shape), '') for shape in shapes)} |" for name in names]


def in_brackets(rows, row) -> str:
    """Return the ratio to skillratings in brackets, if there is one."""
    ratio = of_skillratings(rows, row)
    return f" ({ratio})" if ratio else ""


def service_section(figures) -> list[str]:
    """Return the table of the service's targets, if it was measured."""
    service = figures.get("service")
    if service is None:
        return []
    return [
        "## Service and commands",
        "",
        f"The system is `elo`, and the large pool has {service['changes']:,} changes. REF is revision",
        f"{service['ref']}. Times are wall-clock on two cores, under a load of {service['load']:.1f}. Spread is half",
        "the range of the rounds.",
        "",
        *(f"    {line}".rstrip() for line in targets.table(service["groups"])),
        "",
    ]


def growth_sections(figures) -> list[str]:
    """Return the curves, and the time of the largest whole run."""
    largest = figures["events"][-1]
    lines = [
        "## More players",
        "",
        "A million duels between random players. Where the line is level, arithmetic is the limit; where it falls,",
        "memory is.",
        "",
        f"![Duels a second by players]({CHARTS}/duels-by-players.svg)",
        "",
        "## Larger races",
        "",
        "A level line means that the time grows in proportion to the number of entrants.",
        "",
        f"![Nanoseconds an entry by entrants of a race]({CHARTS}/time-by-entrants.svg)",
        "",
        "## Larger tables",
        "",
        f"`elo` rates a Parquet file of {largest['events']:,} duels ({largest['table_mb']:,.0f} MB as a table) in",
        f"{largest['seconds']:.2f} s and {largest['peak_mb']:,.0f} MB, from the start of the process to history.",
    ]
    return [*lines, "", f"![Seconds by duels]({CHARTS}/seconds-by-duels.svg)", ""]


def single_figures(figures) -> list[str]:
    """Return the results that are a single number."""
    together = ", ".join(f"{name} {ratio:.1f}x" for name, ratio in figures["candidates"].items())
    return [
        "## Large races",
        "",
        f"- One race of 10,000 entrants with `folyami`, from table to ratings: {figures['huge_race_s']:.2f} s.",
        *(
            f"- One race of{size} with `{system}`, kernel only: {1e3 * seconds:.1f} ms."
            for (system, _, size), seconds in ((race.partition(","), s) for race, s in figures["large_races_s"].items())
        ),
        f"- One race of 100,000 entrants with `openskill-pl`, kernel only: {1e3 * figures['crowd_s']:.0f} ms.",
        f"- Tuning tries sixteen sets of parameters in one pass, which is faster than one by one: {together}.",
    ]


def decades(values) -> dict[str, object]:
    """Return a logarithmic scale and its axis, which also marks twos and fives if there are few decades."""
    logarithms = [math.log10(value) for value in values]
    first = math.floor(min(logarithms))
    last = max(first + 1, math.ceil(max(logarithms)))
    steps = (1, 2, 5) if last - first <= FEW_DECADES else (1,)
    marks = [step * 10.0**decade for decade in range(first, last) for step in steps] + [10.0**last]
    scale = alt.Scale(type="log", domain=[marks[0], marks[-1]])
    return {"scale": scale, "axis": alt.Axis(values=marks, labelExpr=LABEL)}


def curve(points, x: str, y: str):
    """Return a chart with one line per series and two logarithmic axes."""
    names = list(dict.fromkeys(point["series"] for point in points))
    legend = line_legend() if len(names) > 1 else None
    return (
        alt.Chart(alt.Data(values=points), width=WIDTH, height=HEIGHT)
        .mark_line(point=True)
        .encode(
            x=alt.X("x:Q", title=x, **decades(point["x"] for point in points)),
            y=alt.Y("y:Q", title=y, **decades(point["y"] for point in points)),
            color=colour("series", names, legend=legend),
            strokeDash=alt.StrokeDash("series:N", title="", scale=dashes(names), legend=legend),
        )
    )


def write_page(folder: Path, figures) -> None:
    """Write the page and its pictures, which follow the reader's light or dark mode."""
    seconds = [{"series": "seconds", "x": point["events"], "y": point["seconds"]} for point in figures["events"]]
    charts = {
        "duels-by-players": curve(figures["players"], "players", "duels a second"),
        "time-by-entrants": curve(figures["entrants"], "entrants of a race", "nanoseconds an entry"),
        "seconds-by-duels": curve(seconds, "duels in the file", "seconds"),
    }
    for name, chart in charts.items():
        start, end, rest = as_svg(chart, inline=True).partition(">")
        (folder / CHARTS / f"{name}.svg").write_text(start + end + INKS + rest, encoding="utf-8")
    (folder / "performance.md").write_text(page(figures), encoding="utf-8")
