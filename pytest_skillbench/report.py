"""Pages of the view -> HTML and Markdown: one self-contained file each, no script, the same bytes for the same page.

Core: renders what it is handed; the templates and the style come from the package. Autoescaping is on outright and an
undefined name is an error, so a template can neither show raw text nor skip a value.
"""

from __future__ import annotations

import base64
import hashlib
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

    from .view import CardPage, IndexPage, SkillPage

#: What GitHub-flavoured Markdown, the HTML inside it or a forge's own additions could read as markup: emphasis, code,
#: links (bare ones too), tables, HTML, mentions, issue numbers, emoji.
_MARKDOWN = re.compile(r"[\\`*_\[\]#|~<>&@]|:(?=//|[\w+-]+:)|(?<=www)\.", re.IGNORECASE)


def skill_html(page: SkillPage) -> str:
    """Return a skill's report as one HTML file."""
    return _render("skill.html", page)


def card_html(page: CardPage) -> str:
    """Return the report of a skill that was only evaluated by the scorecard."""
    return _render("card.html", page)


def index_html(page: IndexPage) -> str:
    """Return the leaderboard as one HTML file."""
    return _render("index.html", page)


def summary_md(page: IndexPage) -> str:
    """Return the leaderboard as Markdown, for the summary page of a CI job."""
    return _environment().get_template("summary.md").render(page=page)


def _render(template: str, page: SkillPage | CardPage | IndexPage) -> str:
    from markupsafe import Markup

    css = _style()
    digest = base64.b64encode(hashlib.sha256(css.encode("utf-8")).digest()).decode("ascii")
    html = _environment().get_template(template)
    return html.render(
        page=page,
        css=Markup(css),  # noqa: S704 - our own file, and a quote in it must not be escaped
        css_hash=f"sha256-{digest}",
    )


@cache
def _style() -> str:
    """Return the style sheet without its comments; the policy names it by its hash."""
    from importlib.resources import files

    text = files(__package__).joinpath("templates", "style.css").read_text(encoding="utf-8")
    text = re.sub(r"/\*.*?\*/\s*", "", text, flags=re.S)
    return re.sub(r"\n\s*", "\n", text).strip()


@cache
def _environment() -> Environment:
    """Return the one environment of all templates, made when the first page is rendered."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    from .bytecode import BesideSource

    environment = Environment(
        loader=PackageLoader(__package__, "templates"),
        bytecode_cache=BesideSource(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        auto_reload=False,
    )
    environment.filters["md"] = escape_markdown
    return environment


def escape_markdown(text: object) -> Markup:
    """Return `text` so that Markdown shows it literally inside a table cell, on one line.

    Markup characters become character references: a backslash would not keep ``|`` or HTML literal everywhere.
    """
    from markupsafe import Markup

    folded = " ".join(str(text).split())
    escaped = _MARKDOWN.sub(lambda match: f"&#{ord(match.group())};", folded)
    return Markup(escaped)  # noqa: S704 - every character that could be markup was just replaced
