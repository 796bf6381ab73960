"""Names in bodies: the rule is `podium.results.names`, and the store applies it to results."""

from typing import Annotated

from pydantic import AfterValidator, Field

from podium.results.names import SPACES, normalise, refusal

MAX_SENT_CHARACTERS = 1000  # before a name is normalised
NAME_RULE = "Text of 1 to 200 characters that people can see; in Unicode's form NFC, without spaces around it."


def normalised_name(name: str) -> str:
    """Return the name, normalised.

    Raises:
        ValueError: the rule refuses it.
    """
    normal = normalise(name)
    reason = refusal(normal)
    if reason:
        raise ValueError(reason)
    return normal


def verbatim_id(identifier: str) -> str:
    """Return the id as it was sent, to the letter.

    Raises:
        ValueError: the rule for names refuses it.
    """
    normalised_name(identifier)
    return identifier


def not_blank(name: str) -> str:
    """Return the name as it was sent; the store looks it up, or applies the rule.

    Raises:
        ValueError: it consists of spaces.
    """
    if not name.strip(SPACES):
        raise ValueError("is blank")
    return name


SentName = Annotated[
    str, Field(min_length=1, max_length=MAX_SENT_CHARACTERS, description=NAME_RULE), AfterValidator(not_blank)
]
Name = Annotated[SentName, AfterValidator(normalised_name)]
Identifier = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(verbatim_id)]
