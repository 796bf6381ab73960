"""What a pool says of itself, and whether everybody may read it; no rating depends on any of it."""

import re
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any, Self, TypedDict, Unpack

from podium.errors import ParameterError
from podium.results.names import admit, is_page_address, normalise, shown

MAX_WORD_CHARACTERS = 40
MAX_CONTACT_CHARACTERS = 500
MAIL_ADDRESS = re.compile(  # HTML's "valid email address"
    r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]+@[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*"
)


class DescriptionChanges(TypedDict, total=False):
    """What a pool says otherwise from now on: None leaves something as it is, an empty text removes it."""

    title: str | None
    contact: str | None
    player_word: str | None
    public: bool | None


@dataclass(frozen=True, slots=True)
class PoolDescription:
    """What a pool says of itself; an empty text where it says nothing."""

    title: str = ""  # instead of its name, on pages
    contact: str = ""  # a mail address, or the address of a page, of whoever corrects results
    player_word: str = ""  # what one player is called: "rider"
    public: bool = False  # whether pages and reads need no key

    @classmethod
    def from_body(cls, body: dict[str, Any]) -> Self:
        """Read the description from the body of its log entry."""
        return cls(body["title"], body["contact"], body["player_word"], body["public"])

    @classmethod
    def from_row(cls, row: Any) -> Self:
        """Read the description from its pool's row."""
        return cls(row.title, row.contact, row.player_word, row.is_public)

    def body(self) -> dict[str, Any]:
        """The body of its log entry."""
        return asdict(self)

    def columns(self) -> dict[str, Any]:
        """What its pool's row has of it."""
        columns = asdict(self)
        return columns | {"is_public": columns.pop("public")}

    def changed(self, **changes: Unpack[DescriptionChanges]) -> Self:
        """The description with these changes.

        Raises:
            ParameterError: a text is not what it has to be.
        """
        admitted: dict[str, Any] = {
            name: ADMIT[name](text) if name in ADMIT else text for name, text in changes.items() if text is not None
        }
        return replace(self, **admitted)


SILENT = PoolDescription()  # of a pool that nobody has described


def admit_title(text: str) -> str:
    """The title of a pool, normalised.

    Raises:
        ParameterError: the rule for names refuses it.
    """
    return admit(text, "title") if normalise(text) else ""


def admit_player_word(text: str) -> str:
    """The word for one player, normalised.

    Raises:
        ParameterError: the rule for names refuses it, or it is too long.
    """
    if not normalise(text):
        return ""
    word = admit(text, "player word")
    if len(word) > MAX_WORD_CHARACTERS:
        raise ParameterError(f"player word: has {len(word)} characters; it has up to {MAX_WORD_CHARACTERS}")
    return word


def admit_contact(text: str) -> str:
    """A mail address, or the address of a page.

    Raises:
        ParameterError: it is neither.
    """
    contact = normalise(text)
    if len(contact) > MAX_CONTACT_CHARACTERS:
        raise ParameterError(f"contact: has {len(contact)} characters; it has up to {MAX_CONTACT_CHARACTERS}")
    if not contact or MAIL_ADDRESS.fullmatch(contact) or is_page_address(contact):
        return contact
    raise ParameterError(
        f"contact: {shown(contact)} is neither a mail address nor the address of a page; write it like "
        "stewards@example.org or https://example.org/stewards"
    )


ADMIT: dict[str, Callable[[Any], str]] = {
    "title": admit_title, "contact": admit_contact, "player_word": admit_player_word,
}  # fmt: skip
