"""The HTML report in a real browser without a window: no errors, filters, a phone, dark, print.

Needs Chromium and its driver from the distribution's packages (``apt-get install chromium chromium-driver``) and the
package selenium; skipped, with the reason, where one is missing. With DPASSAY_SCREENSHOTS=FOLDER the pictures are kept.
"""

import base64
import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from dpassay.audit.report.html.page import StatementView
from dpassay.audit.report.html.page import page as page_of

from .test_html import CURVES, RELEASE

pytestmark = pytest.mark.slow
RELEASES = [{**RELEASE, "label": f"{name}/{'long' * 20}"} for name in ("gradient", "line search")]


@pytest.fixture(scope="module")
def browser():
    """Chromium without a window, its console kept."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="the package selenium is not installed")
    program = shutil.which("chromium") or shutil.which("google-chrome")
    driver = shutil.which("chromedriver")
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
    path = Path(os.environ.get("DPASSAY_REPORT") or tmp_path / "report.html")
    if not path.is_file():
        path.write_text(page_of(rows, "audit.json", statements, "2 statements"), encoding="utf-8")
    media(browser, "light")
    resize(browser, 1280, 900)
    browser.get(path.as_uri())
    return browser


def resize(browser, width, height):
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)


def media(browser, scheme, kind="screen"):
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": kind, "features": features})


def keep(browser, name):
    folder = os.environ.get("DPASSAY_SCREENSHOTS")
    if folder:
        Path(folder).mkdir(parents=True, exist_ok=True)
        browser.save_screenshot(str(Path(folder) / f"{name}.png"))


def shown(browser, selector):
    script = "return [...document.querySelectorAll(arguments[0])].filter(one => one.offsetParent !== null).length"
    return browser.execute_script(script, selector)


def choose(browser, form, name, value):
    script = """const field = document.querySelector(`form[data-filter="${arguments[0]}"]`).elements[arguments[1]];
    field.value = arguments[2]; field.dispatchEvent(new Event("input", {bubbles: true}));"""
    browser.execute_script(script, form, name, value)


def open_all(browser):
    browser.execute_script("for (const one of document.querySelectorAll('details')) one.open = true")


def overflow(browser):
    """What sticks out to the right of the window, and by how much."""
    script = """const width = document.documentElement.clientWidth;
    const scrolled = (one) => one.closest("pre, .wide");
    return [document.documentElement.scrollWidth - width,
      [...document.querySelectorAll("body *")].filter((one) => one.getBoundingClientRect().right > width + 1
        && !scrolled(one) && !one.closest("svg") && one.offsetParent).map((one) => one.outerHTML.slice(0, 200))]"""
    return browser.execute_script(script)


def test_the_console_is_silent_and_nothing_is_asked_of_the_network(page):
    assert [entry for entry in page.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")] == []
    assert page.execute_script("return performance.getEntriesByType('resource').map(one => one.name)") in (
        [],
        ["data:,"],
    )
    keep(page, "desktop")


def test_a_console_error_would_be_seen(page):
    """What must show: the policy of the page stops a script that is not its own, and says so."""
    page.execute_script(
        "const one = document.createElement('script'); one.textContent = '1'; document.body.append(one)"
    )
    assert any("Content Security Policy" in entry["message"] for entry in page.get_log("browser"))


@pytest.mark.parametrize(
    ("name", "value", "count"),
    [("verdict", "tight", 1), ("paper", "dro", 2), ("paper", "own", 2), ("reading", "printed", 1),
     ("text", "EARLY end", 2), ("text", "nothing has this", 0)],
)  # fmt: skip
def test_filters_leave_what_was_asked_for(page, name, value, count):
    if os.environ.get("DPASSAY_REPORT"):
        pytest.skip("counts are those of the test's own rows")
    assert shown(page, "tr[data-row=rows]") == 5
    choose(page, "rows", name, value)
    assert shown(page, "tr[data-row=rows]") == shown(page, "article[data-row=rows]") == count
    output = page.execute_script("return document.querySelector('form[data-filter=rows] output').textContent")
    assert output == f"{count} of 5 shown"
    page.execute_script("document.querySelector('form[data-filter=rows] button').click()")
    page.execute_async_script("setTimeout(arguments[0], 50)")
    assert shown(page, "tr[data-row=rows]") == 5


def test_the_ledger_is_searched(page):
    if os.environ.get("DPASSAY_REPORT"):
        pytest.skip("counts are those of the test's own rows")
    choose(page, "ledger", "text", "theorem 2 rate")
    assert shown(page, "tr[data-row=ledger]") == 1
    choose(page, "ledger", "text", "")
    choose(page, "ledger", "verdict", "broken, open")
    assert shown(page, "tr[data-row=ledger]") == 1


def test_a_link_of_the_table_opens_its_row(page):
    page.execute_script("document.querySelector('tr[data-row=rows] a').click()")
    page.execute_async_script("setTimeout(arguments[0], 50)")
    assert page.execute_script("return document.querySelector('#row-1 > details').open")
    assert shown(page, "#row-1 svg") == 2
    keep(page, "row")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_a_phone(page, scheme):
    media(page, scheme)
    resize(page, 390, 844)
    wide, out = overflow(page)
    assert (wide, out) == (0, [])
    keep(page, f"phone-{scheme}")
    open_all(page)
    assert overflow(page) == [0, []]
    page.execute_script("document.querySelector('#row-1').scrollIntoView()")
    keep(page, f"phone-row-{scheme}")


def test_what_sticks_out_would_be_seen(page):
    resize(page, 390, 844)
    page.execute_script("document.querySelector('h1').style.width = '900px'")
    assert overflow(page)[0] > 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_its_ground(page, scheme):
    """WCAG 2.1, 1.4.3: contrast of at least 4.5 to 1, of text and of the lines of figures alike."""
    media(page, scheme)
    names = ["ink", "soft", "claim", "upper", "shown", "bad", "good", "open"]
    script = """const style = getComputedStyle(document.documentElement);
    return Object.fromEntries(arguments[0].map((name) => [name, style.getPropertyValue("--" + name).trim()]))"""
    colours = page.execute_script(script, [*names, "paper", "panel", "mark"])
    for ground in ("paper", "panel"):
        assert {name: contrast(colours[name], colours[ground]) for name in names if
                contrast(colours[name], colours[ground]) < 4.5} == {}  # fmt: skip
    assert contrast(colours["ink"], colours["mark"]) >= 4.5 and contrast(colours["bad"], colours["mark"]) >= 4.5
    ground = page.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert (ground == "rgb(255, 255, 255)") == (scheme == "light")
    open_all(page)
    page.execute_script("document.querySelector('#row-1').scrollIntoView()")
    keep(page, f"row-{scheme}")


def contrast(one, other):
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(colour):
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_a_keyboard_comes_everywhere(page):
    """Tab reaches links, fields and summaries in the order of the page, and Enter opens a row."""
    from selenium.webdriver.common.keys import Keys

    body = page.find_element("tag name", "body")
    seen = []
    for _ in range(60):
        page.switch_to.active_element.send_keys(Keys.TAB) if seen else body.send_keys(Keys.TAB)
        seen.append(page.execute_script("return document.activeElement.tagName"))
        if seen[-1] == "SUMMARY":
            break
    assert seen[0] == "A" and "INPUT" in seen and "SELECT" in seen and seen[-1] == "SUMMARY"
    page.switch_to.active_element.send_keys(Keys.ENTER)
    assert page.execute_script("return document.activeElement.parentElement.open")


def test_print_shows_everything(page):
    """Rows that are closed on the screen are printed too: the pages are more than those of the tables alone."""
    media(page, "light", "print")
    assert shown(page, "nav") == 0 and shown(page, "form") == 0
    media(page, "light")
    found = base64.b64decode(page.execute_cdp_cmd("Page.printToPDF", {"printBackground": False})["data"])
    assert found.startswith(b"%PDF-")
    folder = os.environ.get("DPASSAY_SCREENSHOTS")
    if folder:
        (Path(folder) / "print.pdf").write_bytes(found)
    page.execute_script("for (const one of document.querySelectorAll('article')) one.remove()")
    less = base64.b64decode(page.execute_cdp_cmd("Page.printToPDF", {"printBackground": False})["data"])
    assert found.count(b"/Type /Page\n") > less.count(b"/Type /Page\n") > 0
