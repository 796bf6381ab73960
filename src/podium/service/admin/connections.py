"""The pages for keys and webhooks."""

from datetime import datetime, timedelta

from fastapi import Request, Response
from fastapi.concurrency import run_in_threadpool

from podium.errors import ParameterError
from podium.service.admin.forms import Done, Field, FormsPage, Item, Section, acts, shows
from podium.service.admin.intents import POOL_ADDRESS, Admin, Admission
from podium.service.admin.records import DEEDS
from podium.service.http.keys import find_visible_key, refuse_new_key, visible_keys
from podium.service.http.visitors import Form
from podium.service.web.rendering import PageRouter, go_on
from podium.service.webhooks import DeliveryError, send_test
from podium.store import keys as store_keys
from podium.views.models import LogRecord

MAX_DAYS = 36_525.0
MAX_DELIVERIES = 10  # maximum number of deliveries to list per webhook
ALL = "all"
router = PageRouter(prefix=POOL_ADDRESS, include_in_schema=False)


@shows(router, "/keys")
def keys_page(admission: Admission, _form: Form) -> FormsPage:
    store, pool = admission.store, admission.header
    base = admission.address("keys")
    opens = [("this", "only this pool"), *([(ALL, "every pool")] if admission.key.pool is None else [])]
    create = Section(
        "Create a key",
        action=base,
        fields=(
            Field("name", "Owner", required=True, example="race server 1"),
            Field(
                "role",
                "Rights",
                value="write",
                choices=(("read", "read"), ("write", "send results"), ("admin", "administer")),
            ),
            Field("opens", "Where", value="this", choices=tuple(opens)),
            Field("days", "Days until it expires (empty: never)"),
            Field(
                "backdating_limit",
                "Backdating limit: maximum age of events that it can change (empty: no limit)",
                example="30d",
            ),
            Field("rate", "Requests allowed per second (empty: no limit)"),
        ),
        button="Create key",
    )
    if admission.key.is_limited:
        create = Section("Create a key", notes=("A key that expires or has a limit cannot create others.",))
    seen = reversed(visible_keys(store, admission.key, admission.pool))
    items = tuple(key_item(key, admission.key, base) for key in seen)
    known = Section("Keys", items=items, notes=() if items else ("No keys yet.",))
    heading = f"Keys of {pool.title}"
    return FormsPage("Keys", pool=pool, heading=heading, current="Keys", sections=(create, known))


def key_item(key: store_keys.ApiKey, own: store_keys.ApiKey, base: str) -> Item:
    moments = (("created", key.created_at), ("expires", key.expires_at), ("last used", key.last_used_at))
    parts = [key.role, "every pool" if key.pool is None else "only this pool", f"number {key.id}"]
    parts += [f"{what} {moment[:10]}" for what, moment in moments if moment]
    replace_it = ((f"{base}/{key.id}/replace", "Replace"),) if key.id != own.id and not own.is_limited else ()
    return Item(
        key.name + (" (yours)" if key.id == own.id else ""),
        note=", ".join(parts),
        tag="revoked" if key.revoked else "",
        buttons=() if key.revoked else ((f"{base}/{key.id}/revoke", "Revoke"), *replace_it),
    )


@acts(router, "/keys", keys_page)
def create(admission: Admission, form: Form) -> FormsPage:
    pool = None if form.text("opens") == ALL else admission.pool
    refuse_new_key(admission.key, pool)
    name, backdating = form.stripped("name"), form.stripped("backdating_limit")
    if not name:
        raise ParameterError("the key needs an owner. Enter a name")
    days, rate = number_in(form, "days", "the days until it expires"), number_in(form, "rate", "requests per second")
    if days is not None and not days <= MAX_DAYS:
        raise ParameterError(f"a key can last up to {MAX_DAYS:,.0f} days. Enter fewer days")
    lifetime = None if days is None else timedelta(days=days)
    backdating_limit_s = store_keys.parse_backdating_limit(backdating) if backdating else None
    role = form.text("role")
    key = store_keys.create_key(
        admission.store.engine, name, role, pool, rate, lifetime=lifetime, backdating_limit_s=backdating_limit_s
    )
    return keys_page(admission, form).with_secret(key)


def number_in(form: Form, name: str, what: str) -> float | None:
    text = form.stripped(name)
    try:
        return float(text) if text else None
    except ValueError:
        raise ParameterError(f"{what} must be a number, not {text!r}") from None


def key_in(admission: Admission, form: Form) -> store_keys.ApiKey:
    """Return the key in the request's address."""
    return find_visible_key(admission.store, admission.key, admission.pool, form.number("number"))


@acts(router, "/keys/{number}/revoke", keys_page)
def revoke(admission: Admission, form: Form) -> Done:
    key = key_in(admission, form)
    store_keys.revoke_key(admission.store.engine, key.id)
    return Done(admission.address("keys"), f"The key of {key.name} is revoked.")


@acts(router, "/keys/{number}/replace", keys_page)
def replace_key(admission: Admission, form: Form) -> FormsPage:
    """Replace a key with a new key that has the same rights, and show the new key once."""
    refuse_new_key(admission.key, admission.pool)
    key = key_in(admission, form)
    secret = store_keys.rotate_key(admission.store.engine, key.id)
    return keys_page(admission, form).with_secret(secret)


@shows(router, "/webhooks")
def webhooks_page(admission: Admission, _form: Form) -> FormsPage:
    store, pool = admission.store, admission.header
    base, newest = admission.address("webhooks"), store.newest_log(pool.name, most=MAX_DELIVERIES)
    create = Section(
        "Send changes to an address",
        action=base,
        fields=(
            Field("url", "Address", required=True, most=2_000, example="https://example.org/podium"),
            Field(
                "format",
                "Format",
                choices=(
                    ("", "automatic, based on the address"),
                    ("discord", "messages to Discord"),
                    ("slack", "messages to Slack"),
                    ("matrix", "messages to Matrix (hookshot)"),
                    ("text", "messages as plain text"),
                    ("json", "every log entry as JSON, for a program"),
                ),
            ),
        ),
        button="Create webhook",
        notes=(
            "Chats get a short message for each new result, correction, new leader, season and upcoming race.",
            "A program gets every entry of the log, signed with a secret that is shown only once.",
        ),
    )
    items = tuple(webhook_item(webhook, newest, base) for webhook in store_keys.list_webhooks(store.engine, pool.name))
    known = Section("Webhooks", items=items, notes=() if items else ("No webhooks yet.",))
    return FormsPage("Webhooks", pool=pool, current="Webhooks", sections=(create, known))


def webhook_item(webhook: store_keys.Webhook, newest: tuple[LogRecord, ...], base: str) -> Item:
    form = "" if webhook.format == store_keys.JSON else f" ({webhook.format})"
    note = f"number {webhook.id}{form}, received everything up to entry {webhook.delivered_seq}"
    if webhook.failing_since:
        note += f"; failing since {webhook.failing_since[:16].replace('T', ' ')}: {webhook.last_error}"
    created_at = datetime.fromisoformat(webhook.created_at)
    sent = [entry for entry in newest if entry.received_at >= created_at]
    following = min((entry.seq for entry in sent if entry.seq > webhook.delivered_seq), default=0)
    resume = ((f"{base}/{webhook.id}/resume", "Start again"),) if webhook.stopped else ()
    words = [f"Entry {entry.seq}: {DEEDS[entry.kind]} {entry.player or entry.subject}".rstrip() for entry in sent]
    return Item(
        webhook.shown_url,
        note=note,
        tag="stopped" if webhook.stopped else "failing" if webhook.failing_since else "",
        buttons=((f"{base}/{webhook.id}/test", "Send a test"), *resume, (f"{base}/{webhook.id}/delete", "Delete")),
        lines=tuple(zip(words, (delivery_words(webhook, entry.seq, following) for entry in sent), strict=True)),
    )


def delivery_words(webhook: store_keys.Webhook, seq: int, following: int) -> str:
    """Return the outcome of a log entry's delivery as text. The next entry to deliver is being tried."""
    if seq <= webhook.delivered_seq:
        return "taken"
    if seq == following and webhook.failing_since:
        return f"failed: {webhook.last_error}"
    return "waits"


@acts(router, "/webhooks", webhooks_page)
def add(admission: Admission, form: Form) -> FormsPage | Done:
    url = form.stripped("url")
    created = store_keys.create_webhook(admission.store.engine, admission.pool, url, form=form.text("format"))
    if created.format == store_keys.JSON:
        return webhooks_page(admission, form).with_secret(created.secret, "signing secret")
    return webhooks_done(
        admission, f"Messages will now be sent to {created.shown_url}. Send a test to see them arrive."
    )


def webhooks_done(admission: Admission, sentence: str) -> Done:
    return Done(admission.address("webhooks"), sentence)


def webhook_in(admission: Admission, form: Form) -> store_keys.Webhook:
    """Return the webhook in the request's address."""
    return store_keys.find_webhook(admission.store.engine, admission.pool, form.number("number"))


@acts(router, "/webhooks/{number}/resume", webhooks_page)
def resume(admission: Admission, form: Form) -> Done:
    webhook = webhook_in(admission, form)
    store_keys.resume_webhook(admission.store.engine, webhook.id)
    return webhooks_done(admission, f"{webhook.shown_url} is resumed where it stopped.")


@acts(router, "/webhooks/{number}/delete", webhooks_page)
def delete(admission: Admission, form: Form) -> Done:
    webhook = webhook_in(admission, form)
    store_keys.delete_webhook(admission.store.engine, webhook.id)
    return webhooks_done(admission, f"The webhook to {webhook.shown_url} is deleted.")


@router.post("/webhooks/{number}/test")
async def test(request: Request, admission: Admin) -> Response:
    webhook = await run_in_threadpool(webhook_in, admission, await admission.form())
    try:
        title = (await run_in_threadpool(lambda: admission.header)).title
        await send_test(webhook, title, allow_private=request.app.state.private_webhooks or webhook.private)
        sentence = f"{webhook.shown_url} received the test."
    except DeliveryError as error:
        sentence = f"{webhook.shown_url} did not receive the test: {error}."
    return go_on(request, *webhooks_done(admission, sentence))
