"""The page: templates filled with what :mod:`.view` made, style and script inside, nothing loaded from anywhere."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.resources import files

from jinja2 import BaseLoader, Environment, StrictUndefined, TemplateNotFound
from markupsafe import Markup

from dpassay.reference.errors import printable

from .records import View, visible
from .view import slug


class _Package(BaseLoader):
    """Templates beside this module; read as data of the package, so that a zipped one works too."""

    def get_source(self, environment: Environment, template: str) -> tuple[str, str | None, None]:
        return read(template), template, None


def read(name: str) -> str:
    """A file of ``templates/``."""
    found = files(__package__).joinpath("templates", name)
    if not found.is_file():
        raise TemplateNotFound(name)
    return found.read_text(encoding="utf-8")


def render(view: View) -> str:
    """One HTML document; the same view gives the same text.

    Every text is escaped. A policy in the head of the page allows no request at all, and no script but the page's own,
    by its hash.
    """
    script = read("report.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (
        _environment()
        .get_template("report.html")
        .render(view=view, style=Markup(read("report.css")), script=Markup(script), digest=digest)
    )


@cache
def _environment() -> Environment:
    """Compiles each template once."""
    environment = Environment(
        loader=_Package(),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=visible,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"printable": printable, "slug": slug}
    return environment
