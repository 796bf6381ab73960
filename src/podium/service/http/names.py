"""Names as bodies have them: the rule is `podium.results.names`, and the store applies it to results."""

from typing import Annotated

from pydantic import AfterValidator, Field

from podium.results.names import SPACES, normalise, refusal

LONGEST_SENT = 1000  # characters, before a name is normalised
RULE = "Text of 1 to 200 characters that people can see; in Unicode's form NFC, without spaces around it."


def readable(name: str) -> str:
    """The name, normalised.

    Raises:
        ValueError: the rule refuses it.
    """
    normal = normalise(name)
    reason = refusal(normal)
    if reason:
        raise ValueError(reason)
    return normal


def readable_key(key: str) -> str:
    """The key, to the letter.

    Raises:
        ValueError: the rule for names refuses it.
    """
    readable(key)
    return key


def not_blank(name: str) -> str:
    """The name as it was sent; the store looks it up, or applies the rule.

    Raises:
        ValueError: it is of spaces.
    """
    if not name.strip(SPACES):
        raise ValueError("is blank")
    return name


Sent = Annotated[str, Field(min_length=1, max_length=LONGEST_SENT, description=RULE), AfterValidator(not_blank)]
Name = Annotated[Sent, AfterValidator(readable)]
Key = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(readable_key)]
