"""The HTML report in a real browser without a window: no errors, filters, a phone.

Needs Chromium and its driver from the distribution's packages (``apt-get install chromium chromium-driver``) and the
package selenium; skipped, with the reason, where one is missing.
"""

import os
import shutil
from dataclasses import replace

import pytest

from dpassay.audit.report.html import StatementView
from dpassay.audit.report.html import page as page_of

from .test_html import CURVES, RELEASE

pytestmark = pytest.mark.slow
RELEASES = [{**RELEASE, "label": f"{name}/{'long' * 20}"} for name in ("gradient", "line search")]


@pytest.fixture(scope="module")
def browser():
    webdriver = pytest.importorskip("selenium.webdriver", reason="the package selenium is not installed")
    program, driver = shutil.which("chromium") or shutil.which("google-chrome"), shutil.which("chromedriver")
    if program is None or driver is None:
        assert not os.environ.get("DPASSAY_NEEDS_BROWSER"), "this job is to have a browser"
        pytest.skip("no chromium and chromedriver are installed (apt-get install chromium chromium-driver)")
    options = webdriver.ChromeOptions()
    options.binary_location = program
    for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"):
        options.add_argument(word)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    found = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    yield found
    found.quit()


@pytest.fixture
def page(browser, rows, tmp_path):
    """The report of rows of every sort, one of them hostile, loaded at a desktop's width."""
    rows = [replace(row, witnesses=[], curves=CURVES, releases=RELEASES) for row in rows]
    statements = (
        StatementView("dro", "Theorem 1", "broken, open", "broken at 9b: open", "noise", "Step 9b is a gap.", ""),
        StatementView("dro", "Theorem 2", "proved", "proved", "rate", "Every step follows.", "", (("a", "x", "y"),)),
    )
    path = tmp_path / "report.html"
    path.write_text(page_of(rows, "audit.json", statements, "2 statements"), encoding="utf-8")
    resize(browser, 1280, 900)
    browser.get(path.as_uri())
    return browser


def resize(browser, width, height):
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)


def shown(browser, selector):
    script = "return [...document.querySelectorAll(arguments[0])].filter(one => one.offsetParent !== null).length"
    return browser.execute_script(script, selector)


def overflow(browser):
    """What sticks out to the right of the window, and by how much."""
    script = """const width = document.documentElement.clientWidth;
    const scrolled = (one) => one.closest("pre, .wide");
    return [document.documentElement.scrollWidth - width,
      [...document.querySelectorAll("body *")].filter((one) => one.getBoundingClientRect().right > width + 1
        && !scrolled(one) && !one.closest("svg") && one.offsetParent).map((one) => one.outerHTML.slice(0, 200))]"""
    return browser.execute_script(script)


def test_the_console_is_silent_nothing_is_asked_of_the_network_and_an_error_would_be_seen(page):
    """What must show: the policy of the page stops a script that is not its own, and says so."""
    assert [entry for entry in page.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")] == []
    asked = page.execute_script("return performance.getEntriesByType('resource').map(one => one.name)")
    assert set(asked) <= {"data:,"}
    page.execute_script("document.body.append(Object.assign(document.createElement('script'), {textContent: '1'}))")
    assert any("Content Security Policy" in entry["message"] for entry in page.get_log("browser"))


@pytest.mark.parametrize(("name", "value", "count"), [
    ("verdict", "tight", 1), ("paper", "dro", 2), ("paper", "own", 2), ("reading", "printed", 1),
    ("text", "EARLY end", 2), ("text", "nothing has this", 0),
])  # fmt: skip
def test_filters_leave_what_was_asked_for(page, name, value, count):
    assert shown(page, "tr[data-row=rows]") == 5
    script = """const field = document.querySelector("form[data-filter=rows]").elements[arguments[0]];
    field.value = arguments[1]; field.dispatchEvent(new Event("input", {bubbles: true}));"""
    page.execute_script(script, name, value)
    assert shown(page, "tr[data-row=rows]") == shown(page, "article[data-row=rows]") == count
    output = page.execute_script("return document.querySelector('form[data-filter=rows] output').textContent")
    assert output == f"{count} of 5 shown"
    page.execute_script("document.querySelector('form[data-filter=rows] button').click()")
    page.execute_async_script("setTimeout(arguments[0], 50)")
    assert shown(page, "tr[data-row=rows]") == 5


def test_a_link_of_the_table_opens_its_row(page):
    page.execute_script("document.querySelector('tr[data-row=rows] a').click()")
    page.execute_async_script("setTimeout(arguments[0], 50)")
    assert page.execute_script("return document.querySelector('#row-1 > details').open")
    assert shown(page, "#row-1 svg") == 1


def test_it_fits_a_phone_and_what_sticks_out_would_be_seen(page):
    resize(page, 390, 844)
    assert overflow(page) == [0, []]
    page.execute_script("for (const one of document.querySelectorAll('details')) one.open = true")
    assert overflow(page) == [0, []]
    page.execute_script("document.querySelector('h1').style.width = '900px'")
    assert overflow(page)[0] > 0
