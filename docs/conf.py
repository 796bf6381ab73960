"""Sphinx settings for the documentation site: `make site`. Warnings are errors, and pages load only local files."""

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
html_logo = html_favicon = "../src/podium/pages/static/mark.svg"
html_theme_options = {  # the colours of the service's pages, podium.css
    "light_css_variables": {
        "color-brand-primary": "oklch(.47 .19 283)",
        "color-brand-content": "oklch(.47 .19 283)",
        "color-brand-visited": "oklch(.47 .19 283)",
        "color-background-primary": "oklch(.984 .003 285)",
        "color-background-secondary": "oklch(.958 .006 285)",
        "color-foreground-primary": "oklch(.23 .03 285)",
        "color-sidebar-link-text": "oklch(.23 .03 285)",
        "color-sidebar-link-text--top-level": "oklch(.23 .03 285)",
        "font-stack": "system-ui, 'Segoe UI', Roboto, sans-serif",
    },
    "dark_css_variables": {
        "color-brand-primary": "oklch(.775 .12 287)",
        "color-brand-content": "oklch(.775 .12 287)",
        "color-brand-visited": "oklch(.775 .12 287)",
        "color-background-primary": "oklch(.178 .014 285)",
        "color-background-secondary": "oklch(.218 .016 285)",
        "color-foreground-primary": "oklch(.945 .008 285)",
        "color-sidebar-link-text": "oklch(.945 .008 285)",
        "color-sidebar-link-text--top-level": "oklch(.945 .008 285)",
    },
}
html_title = f"Podium {release}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = html_show_copyright = False
html_math_renderer = "mathml"
highlight_language = "text"
default_role = "literal"  # of backticks in docstrings
myst_heading_anchors = 3
myst_enable_extensions = ["dollarmath"]
autodoc_typehints = "signature"
suppress_warnings = ["misc.highlighting_failure"]  # the highlighter does not know annotations of Godot 4
