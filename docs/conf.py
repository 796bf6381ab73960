"""The documentation as a site: `make site`. Warnings are errors, and no page loads anything from elsewhere."""

import sys
from pathlib import Path

from podium import __version__

sys.path.insert(0, str(Path(__file__).parent))

project = "Podium"
author = "Podium's developers"
release = __version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "mathml"]
exclude_patterns = ["*.in", "site", "decisions"]
html_theme = "furo"
html_title = f"Podium {release}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
html_math_renderer = "mathml"
highlight_language = "text"
default_role = "literal"  # of backticks in docstrings
myst_heading_anchors = 3
myst_enable_extensions = ["dollarmath"]
autodoc_typehints = "signature"
