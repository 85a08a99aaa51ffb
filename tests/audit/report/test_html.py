"""The HTML report: whole, self-contained, escaped, the same for the same rows."""

import base64
import hashlib
import html.parser
import json
import math
import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from dpassay.audit.report.figures import curves_of
from dpassay.audit.report.html import MEANING, StatementView
from dpassay.audit.report.html import page as page_of
from dpassay.audit.running.report_file import save
from dpassay.audit.verdict import Verdict
from dpassay.audit.version import versions

WITNESSES = sorted((Path(__file__).parents[1] / "search" / "witnesses").glob("*.json"))
CURVES = {
    "epsilons": [0.0, 0.5, 1.0, 1.5],
    "accounted": [0.3, 1e-2, 1e-5, 1e-8],
    "realised": [0.2, 5e-3, 4e-6, 0.0],
    "pointwise": [0.22, 6e-3, 5e-6, 0.0],
    "true positives": [0.4, 0.02, 2e-5, 0.0],
    "estimate": [0.25, 8e-3, 8e-6, 1e-9],
}
RELEASE = {"label": "gradient", "law": "Gaussian", "count": 8, "scale": [0.5, 0.7], "sensitivity": [0.1, 0.1],
           "participation": "every record"}  # fmt: skip
VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}


class Reader(html.parser.HTMLParser):
    """Tags in order, ids, what is referred to, and whether every element is closed."""

    def __init__(self, text):
        super().__init__()
        self.open, self.ids, self.tags, self.urls, self.wrong = [], [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.tags.append((tag, found))
        self.ids += [found["id"]] if "id" in found else []
        self.urls += [found[name] for name in ("src", "href", "xlink:href", "action") if found.get(name)]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)


@pytest.fixture(scope="module")
def page(page_rows):
    return written(page_rows)


@pytest.fixture(scope="module")
def page_rows(rows):
    """Rows of every sort, with curves, releases and a whole witness."""
    witness = json.loads(WITNESSES[0].read_text())
    whole = [replace(row, witnesses=[witness] * bool(row.witnesses)) for row in rows]
    return [replace(row, curves=CURVES, releases=[RELEASE], missed=["a.py:3: if x:"], unreached=["a.py:4: y = 1"],
                    coverage={"lines": 9, "lines reached": 8, "branches": 2, "branches reached": 1})
            for row in whole]  # fmt: skip


def written(rows, *more, source="audit.json"):
    return page_of(rows, source, *more)


def test_a_page_is_whole_and_loads_nothing(page_rows, page):
    found = Reader(page)
    assert not found.wrong and not found.open and len(found.ids) == len(set(found.ids))
    assert all(url.startswith("data:") or (url[0] == "#" and url[1:] in found.ids) for url in found.urls), found.urls
    assert not re.search(r"@import|url\((?!#)|https?://(?!www\.w3\.org/)", page)
    assert sum(tag == "svg" for tag, _ in found.tags) == len(page_rows)
    policy = next(found["content"] for tag, found in found.tags if "http-equiv" in found)
    script = re.search(r"<script>(.*?)</script>", page, flags=re.DOTALL)[1]
    assert base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() in policy
    assert policy.startswith("default-src 'none'")


def test_it_can_be_read_without_seeing_it(page):
    found = Reader(page)
    names = [tag for tag, _ in found.tags]
    assert {"header", "nav", "main", "footer", "caption", "h1", "h2", "h3"} <= set(names)
    assert all("scope" in attrs for tag, attrs in found.tags if tag == "th")
    assert all({"role", "aria-labelledby"} <= set(attrs) for tag, attrs in found.tags if tag == "svg")
    levels = [int(name[1]) for name in names if re.fullmatch(r"h[1-6]", name)]
    assert levels[0] == 1 and all(b <= a + 1 for a, b in pairwise(levels))
    assert ("html", {"lang": "en"}) in found.tags


def test_names_of_others_stay_text(page_rows):
    """`rows` has one whose every text holds tags, control characters and a lone surrogate; here it is long as well."""
    long = replace(page_rows[4], algorithm="x" * 5000 + "</title><script>alert(2)</script>", curves={})
    steps = (("<b>", "</td>", "\x00&"), ("<img src=x onerror=alert(1)>", "<script>", "<i>"))
    statement = StatementView("dro", "</table><script>", "false", "-", "<i>", '" onclick="alert(1)', "", steps, "<b>")
    text = written([page_rows[4], long], [statement], "<u>", source='"><script>')
    found = Reader(text)
    assert not found.wrong and not found.open
    assert sum(tag == "script" for tag, _ in found.tags) == 1
    assert not {"b", "u", "i", "img"} & {tag for tag, _ in found.tags}
    assert not [name for _, attrs in found.tags for name in attrs if name.startswith("on")]
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff\u202e]", text)
    text.encode("utf-8")


def test_what_is_known_of_a_row_is_there(page_rows, page):
    text = written(page_rows[:2])
    assert list(MEANING) == list(Verdict) and text == written(page_rows[:2])
    parts = (
        "1 of 2 branches", "a.py:3: if x:", "a.py:4: y = 1", "0.5 to 0.7", "100%", "sensitivity exceeded",
        "dpassay neighbours replay", "<strong>violated</strong>", "tight", "seed", "Timeline of releases",
        "Smallest example 1", "how often",
    )  # fmt: skip
    assert [part for part in parts if part not in text] == [] and "Filter the verdicts" in page
    # of so few rows, none of them a printed reading or one that declares anything
    assert not [part for part in ("Filter the verdicts", "Repair", "not declared") if part in text]


def test_a_derivation_stands_beside_its_source(page_rows):
    lines = ["taken for granted: <finite>", "a.py:12: sum: moves by 2", "a.py:3: divide: <i>1</i>", "a.py:12: add: 2"]
    source = {"a.py:12": "return rows.sum() < 1", "a.py:3": "rows = rows / 2"}
    text = written([replace(page_rows[0], certified=1.0, certificate=lines, source=source)])
    parts = ("&lt;finite&gt;", "rows = rows / 2", "divide: &lt;i&gt;", "rows.sum() &lt; 1", "add: 2")
    places = [text.index(part) for part in parts]
    assert places == sorted(places) and "What is known at each line" in text
    tried = written([replace(page_rows[0], certificate=lines[:1], source={})])
    assert "What is known at each line" not in tried
    assert ['class="num">open<' in one for one in (tried, text)] == [True, False]


def test_curves_that_make_no_sense_are_left_out(rows):
    wrong = [("epsilons", [0.0]), ("epsilons", [1.0, 0.5, 0.2, 0.1]), ("accounted", [0.1]), ("accounted", [2, 1, 1, 1])]
    wrong += [("realised", [math.nan] * 4), ("realised", [0.1])]
    for curves in ({}, *({**CURVES, name: values} for name, values in wrong)):
        assert curves_of(replace(rows[0], curves=curves)) is None
    assert curves_of(replace(rows[0], curves=CURVES)) and not curves_of(replace(rows[0], curves=CURVES, claimed=5e-324))
    assert "holds no curves" in written([replace(rows[0], curves={})])


def test_a_row_without_a_band_says_so_and_one_with_it_tells_the_runs_that_were_made(rows):
    row = replace(rows[0], curves={name: CURVES[name] for name in ("epsilons", "accounted")})
    assert "also sees secrets" in written([replace(row, realised=math.inf, realised_by="exact")])
    assert "No curve of what is realised: not made." in written([replace(row, realised=None, realised_by="not made")])
    text = written([replace(rows[0], curves=CURVES, runs=1000, stopped=62)])
    assert "lower bounds from 62 runs" in text and "1000 runs (62 were made)" in text


def test_versions_of_rows_and_of_the_page_are_told_apart(rows):
    other = {**versions(), "numpy": "0.0.1"}
    text = written([replace(rows[0], versions=found) for found in (versions(), versions(), other)])
    assert "Versions of 2 rows" in text and "Versions of 1 row<" in text and "0.0.1" in text
    here = "Versions of this page"
    assert here not in text and here in written([replace(rows[0], versions=other)])


def test_the_command_writes_the_page(rows, dpassay):
    save(Path("reports/audit.json"), [replace(row, witnesses=[]) for row in rows[:4]])
    code, out, _ = dpassay("report", "--no-ledger")
    assert code == 0 and out.startswith("reports/audit.html: 4 rows, 1 not as they should be")
    assert "mine:run" in Path("reports/audit.html").read_text()


def test_bad_input_is_one_line(rows, dpassay, refused):
    witness = {"format": 2, "finding": {"kind": "sensitivity", "label": "g", "detail": ""}}
    save(Path("report.json"), [replace(rows[0], witnesses=[witness])])
    save(Path("empty.json"), [])
    Path("link").symlink_to("page.html")
    for words, said in (
        ("nowhere.json", "nowhere.json"),
        ("report.json --output report.json", "is the report itself"),
        ("report.json --output link", "is a symbolic link"),
        ("empty.json", "there is nothing to show"),
        ("report.json --no-ledger", "baselines/dp_sgd:poisson@baseline: witness: finding.kind"),
    ):
        refused(dpassay("report", *words.split()), said)
    assert not list(Path().glob("*.html"))
