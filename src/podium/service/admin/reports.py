"""The page for the personal links of players, and for the results that they report."""

from podium.ledger.forecast import names_in
from podium.ledger.leaderboard import instant
from podium.service.admin.forms import Done, Field, FormsPage, Item, Section, acts, shows
from podium.service.admin.intents import POOL_ADDRESS, Admission
from podium.service.http.keys import refuse_backdating_limit
from podium.service.http.visitors import Form
from podium.service.web.rendering import PageRouter, origin_of

ACTS = (
    ("give", "Give links to those who have none"),
    ("renew", "Replace links that work"),
    ("revoke", "End links at once"),
)
BOTH = (
    "A reported result counts when enough others have confirmed it, or after a time without objection. "
    "You decide about the others. The rules are in the settings."
)
PRINT = "Send each player their own link only. When you print this page, the form and the buttons are left out."
router = PageRouter(prefix=POOL_ADDRESS, include_in_schema=False)


@shows(router, "/reports")
def reports_page(admission: Admission, _form: Form) -> FormsPage:
    store, pool, header = admission.store, admission.pool, admission.header
    base, origin = admission.address("reports"), origin_of(admission.request)
    waiting = [
        Item(
            f"{report.event_id}, reported by {report.player}",
            note=f"{report.result}. Confirmed by {', '.join(report.confirmed)}."
            f" Objections by {', '.join(report.objected) or 'nobody'}."
            f"{f' It cannot count: {report.problem}' if report.problem else ''}",
            tag=report.status,
            buttons=tuple(
                (admission.address("reports", report.report_id, answer), answer.capitalize())
                for answer in ("accept", "refuse")
            ),
        )
        for report in store.list_reports(pool)
    ]
    fields = (
        Field("act", "What to do", choices=ACTS),
        Field("players", "Names, separated by commas (empty: everybody)", most=50_000),
        Field("until", "Last day (empty: until the next season begins)", example="2026-12-31"),
    )
    known = tuple(Item(link.player, note=origin + link.path) for link in store.links(pool))
    sections = (
        Section("Waiting results", items=tuple(waiting), notes=(BOTH,)),
        Section("Give or revoke links", action=base, fields=fields, button="Change links"),
        Section("Links", items=known, notes=(PRINT,)),
    )
    return FormsPage("Reported results", pool=header, sections=sections)


@acts(router, "/reports", reports_page)
def change(admission: Admission, form: Form) -> Done:
    last = form.stripped("until")
    names = [name for row in names_in(form.text("players").splitlines()) for name in row]
    until = instant(last, whole_day=True, zone=admission.header.zone) if last else None
    found = admission.store.change_links(admission.pool, form.text("act"), names, until=until)
    return Done(admission.address("reports"), f"Saved. The number of links is {len(found)}.")


@acts(router, "/reports/{report_id}/{answer}", reports_page)
def decide(admission: Admission, form: Form) -> Done:
    refuse_backdating_limit(admission.request)
    store, pool, agrees = admission.store, admission.pool, form.text("answer") == "accept"
    found, receipts = store.answer_report(pool, form.text("report_id"), agrees=agrees, actor=admission.key.name)
    admission.request.app.state.metrics.count_receipts(pool, receipts)
    return Done(admission.address("reports"), f"Saved. {found.result}: {found.status}.")
