"""Build hook: make the links of the README absolute, because a package index shows it without the repository."""

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

RELATIVE = r"(?!https?://|#|mailto:)"
PICTURE = re.compile(rf"(!\[[^\]]*\]\(){RELATIVE}")
LINK = re.compile(rf"(\]\(){RELATIVE}")


class ReadmeHook(MetadataHookInterface):
    """Set the long description."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Add the README to the metadata of the package."""
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        links = absolute_links(text, metadata["urls"]["Source"], metadata["version"])
        metadata["readme"] = {"content-type": "text/markdown", "text": links}


def absolute_links(text: str, repository: str, version: str) -> str:
    """Return Markdown whose links lead to the files of this version's tag, and whose pictures load from there."""
    text = PICTURE.sub(rf"\1{repository}/raw/v{version}/", text)
    return LINK.sub(rf"\1{repository}/blob/v{version}/", text)
