"""The pytest plugin: ``@pytest.mark.privacy_claim`` holds what a test returns to a claim; the fixture ``assay`` audits.

It is loaded by every run of pytest where the package is installed, so it imports nothing but pytest until it is used.
"""

from collections.abc import Callable
from typing import Any

import pytest

MARK = "privacy_claim"
PROPERTY = "dpassay"  # of a report: one line for each claim, also in pytest's JUnit file
_HELP = (
    f"{MARK}(epsilon, delta=1e-5, relation='replace-one', space=None, runs=, pilot=, examples=, confidence=, seed=): "
    "the test returns a mechanism, on a tape or plain NumPy, or (mechanism, space); dpassay audits it."
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """How hard to look, and what an audit that decides nothing means."""
    group = parser.getgroup("dpassay", "claims of differential privacy")
    group.addoption(
        "--privacy-budget",
        choices=("quick", "full"),
        default="quick",
        help="effort of each audit: quick (200 runs, 60 examples, the default) or full (1,000 runs, 150 examples)",
    )
    parser.addini(
        "privacy_inconclusive", "what an audit that decides nothing is: skip or fail", default="skip", type="string"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Make the mark known, for ``--strict-markers``."""
    config.addinivalue_line("markers", _HELP)
    if config.getini("privacy_inconclusive") not in ("skip", "fail"):
        raise pytest.UsageError("privacy_inconclusive must be skip or fail")


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> object | None:
    """Call a marked test and audit what it returns; other tests are pytest's."""
    marks = list(pyfuncitem.iter_markers(MARK))
    if not marks:
        return None
    names = pyfuncitem._fixtureinfo.argnames
    made = pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names})
    _auditing().judge_returned(pyfuncitem, marks, made)
    return True


@pytest.fixture
def assay(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """``assay(mechanism, space=None, *, epsilon, delta=1e-5, relation="replace-one", ...)`` returns an ``Assay``.

    The effort is that of ``--privacy-budget``, the seed that of ``--hypothesis-seed``; what was found stands in the
    summary. It fails no test by itself: assert what you expect of ``found.verdict``.
    """
    made: Callable[..., Any] = _auditing().auditor(request.node)
    return made


def _auditing() -> Any:
    """The part that needs the libraries; a missing one fails the test in one line that says what to install."""
    try:
        from . import pytest_audit
    except ModuleNotFoundError as error:
        from dpassay.reference.extras import missing

        known = missing(error)
        if known is None:
            raise
        pytest.fail(str(known), pytrace=False)
    return pytest_audit


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """One line for each claim that was audited, by whatever worker."""
    shown = [
        (report, str(text))
        for reports in terminalreporter.stats.values()
        for report in reports
        if isinstance(report, pytest.TestReport) and report.when == "call"
        for name, text in report.user_properties
        if name == PROPERTY
    ]
    if not shown:
        return
    terminalreporter.write_sep("=", "privacy claims")
    for report, text in sorted(shown, key=lambda one: one[0].nodeid):
        colour = {"passed": "green", "failed": "red"}.get(report.outcome, "yellow")
        terminalreporter.write(f"{report.outcome.upper():8}", **{colour: True})
        terminalreporter.write_line(f"{report.nodeid}: {text}")
