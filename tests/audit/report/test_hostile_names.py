"""Names of others in every output: no control character reaches a terminal, XML stays XML, nothing becomes markup.

What is fed holds an escape sequence, the end of a CDATA section, tags, a forged annotation, a table bar, quotes, a lone
surrogate, a character that XML does not know, and a line end. HTML has `test_html.py::test_names_of_others_stay_text`,
the table `test_assay.py::test_a_forged_report_commands_no_terminal`.
"""

import json
from dataclasses import replace
from xml.etree import ElementTree as Xml

import pytest

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


def test_a_cell_of_a_page_is_neither_a_link_nor_markup():
    """A line of code in a row's reason was read as a reference to a footnote, and stopped the site's build."""
    assert cell("x = y[-1][1] | <b>") == r"x = y\[-1]\[1] \| &lt;b>"
