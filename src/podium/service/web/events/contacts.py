"""Where a wrong result is reported: an address of mail or of a page, with what it is about filled in."""

from urllib.parse import quote, urlencode, urlsplit, urlunsplit


def contact_address(contact: str, pool: str, event_id: str, player: str) -> str:
    """The address, to be linked to; empty where there is no contact."""
    about = {"pool": pool, "event": event_id} | ({"player": player} if player else {})
    if not contact:
        return ""
    if "://" not in contact:
        subject = ", ".join([f"{pool}: {event_id}", *([player] if player else [])])
        return f"mailto:{quote(contact, safe='@')}?subject={quote(subject, safe='')}"
    parts = urlsplit(contact)
    return urlunsplit(parts._replace(query="&".join(filter(None, (parts.query, urlencode(about))))))
