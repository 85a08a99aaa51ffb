"""Names of others in every output: no control character reaches a terminal, XML stays XML, nothing becomes markup.

What is fed holds an escape sequence, the end of a CDATA section, tags, a forged annotation, a table bar, quotes, a lone
surrogate, a character that XML does not know, and a line end. HTML has `test_html.py::test_names_of_others_stay_text`,
the table `test_assay.py::test_a_forged_report_commands_no_terminal`.
"""

import json
import warnings
from dataclasses import replace
from types import SimpleNamespace
from xml.etree import ElementTree as Xml

import numpy as np
import pytest

from dpassay.audit.blackbox import shown
from dpassay.audit.crosscheck.adapter import Result
from dpassay.audit.report import campaign
from dpassay.audit.report.explain import explain_lines
from dpassay.audit.report.junit import junit
from dpassay.audit.report.markdown import markdown, workflow_commands
from dpassay.audit.report.pages import cell
from dpassay.audit.report.problems import problems, summary_line
from dpassay.audit.report.sarif import sarif
from dpassay.audit.report.table import table_lines
from dpassay.reference.findings import Finding, Kind
from dpassay.reference.guarantee import approx_dp

EVIL = "\x1b[2J\x9b\x00</testcase>]]><b>&\n::error::x | `a` $\\frac{$ \ud800\ufffe\u202e\u2028%0A"


def plain(text: str) -> None:
    """One line or more of letters that can be shown, and be written as UTF-8."""
    bad = {letter for letter in text if not letter.isprintable() and letter != "\n"}
    assert not bad, sorted(map(ascii, bad))
    text.encode()


@pytest.mark.parametrize("form", [junit, sarif, markdown, workflow_commands])
def test_every_text_of_a_row_in_every_form(row_of, form):
    texts = ("algorithm", "variant", "reading", "data", "why", "realised_by", "relation", "owner", "cite", "accounting")
    text = form([replace(row_of["failed"], **{field: EVIL}) for field in texts])
    plain(text)
    if form is junit:
        Xml.fromstring(text)
    if form is sarif:
        json.loads(text)
    if form is workflow_commands:
        assert all(line.startswith(("::error ", "::warning ")) for line in text.splitlines()), text


@pytest.mark.parametrize("field", ["changes", "missed", "raised", "missing", "undeclared", "unreached"])
def test_every_list_of_a_row_in_every_form(row_of, field):
    (witness,) = row_of["hostile"].witnesses
    more = {"places": [{"finding": EVIL, "file": EVIL, "line": 3}], "facts": {EVIL: 1.0}, "shares": {EVIL: 0.5}}
    more |= {"witnesses": [witness], "findings": [Finding(Kind.EARLY_END, EVIL, 1, EVIL)]}
    row = replace(row_of["failed"], **more, **{field: [EVIL, f"early end at {EVIL!r}, step 1: {EVIL}"]})
    for text in (junit([row]), sarif([row]), markdown([row]), workflow_commands([row]), summary_line([row])):
        plain(text)
    for line in (*table_lines([row], 100), *explain_lines(row, [])):
        plain(str(line))
    for one in problems(row):
        plain(one.message)


def test_a_campaign_over_vectors_with_such_names():
    """The name of a suite came through as it was: XML that no reader takes."""
    results = [Result(EVIL, EVIL, outcome, EVIL) for outcome in ("fail", "error", "unsupported", "pass")]
    judged = campaign.judge(results, [campaign.Expected("*", "fail", EVIL)])
    text = campaign.junit(EVIL, judged, {EVIL: EVIL})
    plain(text)
    assert len(Xml.fromstring(text).findall("testsuite/testcase")) == 4
    plain(campaign.table(judged))
    json.loads(campaign.report(EVIL, judged, 4, {}))


@pytest.mark.some(1)
@pytest.mark.parametrize("ending", [".png", ".svg", ".pdf"])
def test_a_plot_with_such_names(tmp_path, ending):
    """Titles and legends: no formula is set, no warning about letters that a font lacks, no surrogate that ends it."""
    rng = np.random.default_rng(0)
    event = SimpleNamespace(cut=0.5, below=False, words=EVIL, epsilon=0.0)
    event.oriented = event, "D"
    candidate = SimpleNamespace(name=EVIL + "x" * 3000 + "\u6f22", event=event, value=None)
    sides = (rng.normal(size=50), rng.normal(size=50) + 2)
    detail = SimpleNamespace(candidate=candidate, plainest=None, scores=lambda one: sides)
    path = tmp_path / f"plot{ending}"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        shown.draw_detail(path, detail, replace(approx_dp(1.0, 1e-5), name=f"{EVIL}\u6f22"))  # type: ignore[arg-type]
    assert path.stat().st_size > 1000
    if ending == ".svg":
        Xml.fromstring(path.read_text())


def test_a_cell_of_a_page_is_neither_a_link_nor_markup():
    """A line of code in a row's reason was read as a reference to a footnote, and stopped the site's build."""
    assert cell("x = y[-1][1] | <b>") == r"x = y\[-1]\[1] \| &lt;b>"


def test_labels_of_plots_are_short():
    assert shown.drawn("a $b$") == "a b" and shown.drawn("\x1b") == "\\x1b"
    assert len(shown.drawn("x" * 3000)) == shown.WIDEST
