"""Names as the service takes them: what people can read, and no machine understands as anything else."""

import re
from typing import Annotated

from pydantic import AfterValidator, Field

LONGEST = 200
UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")
MARKUP = re.compile(r"<[a-zA-Z/!?]|&#|javascript:", re.IGNORECASE)
STATEMENT = re.compile(
    r"""['"`]\s*\)*\s*(?:;|--|\#|/\*|\|\||(?:or|and|union|having|order|group|limit)\b)"""
    r"|;\s*(?:--|(?:drop|delete|insert|update|select|alter|create|truncate|exec|shutdown|pragma|attach)\b)"
    r"|\bunion\s+(?:all\s+)?select\b|\bdrop\s+table\b",
    re.IGNORECASE,
)


def readable(name: str) -> str:
    """The name, if it is one: not blank, without control and direction characters, no markup and no statement.

    Raises:
        ValueError: it is not.
    """
    if name.isalnum():
        return name
    if not name.strip():
        raise ValueError("is blank")
    if UNSEEN.search(name):
        raise ValueError("has a control or direction character")
    if MARKUP.search(name):
        raise ValueError("looks like markup, which no name is")
    if STATEMENT.search(name):
        raise ValueError("looks like a database statement, which no name is")
    return name


Name = Annotated[str, Field(min_length=1, max_length=LONGEST), AfterValidator(readable)]
