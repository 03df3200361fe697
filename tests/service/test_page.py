"""The page in Chromium, by key and by mouse, light and dark, narrow and wide."""

import shutil

import pytest

from spacy_angel.service.app import make_app
from spacy_angel.service.guards import access_for
from spacy_angel.vocabulary.names.concepts import Concept

pytestmark = pytest.mark.slow
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
MARKED = "<script>alert(1)</script> \u202e the patient had heart attack . Then aspirin ."
OWN = Concept("OWN:1", "<script>alert(2)</script> \u202eheart thing")
TIMEOUT = 120_000


@pytest.fixture
def address(service, start):
    app = make_app(service, access_for("127.0.0.1", None, []))
    address = start(app)
    service.kb.add(OWN)
    yield address
    service.kb.remove(OWN.concept_id)


@pytest.fixture
def browser():
    if CHROMIUM is None:
        pytest.skip("needs Chromium on the path")
    playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright")
    with playwright.sync_playwright() as driver:
        # A container's root has no sandbox of its own.
        browser = driver.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox"], timeout=TIMEOUT
        )
        yield browser
        browser.close()


@pytest.mark.parametrize(("scheme", "width"), [("light", 1400), ("dark", 390)])
def test_every_action_by_key_and_by_mouse(address, browser, scheme, width):
    viewport = {"width": width, "height": 800}
    page = browser.new_context(color_scheme=scheme, viewport=viewport).new_page()
    page.set_default_timeout(TIMEOUT)
    faults, asked = [], []
    page.on("console", lambda message: faults.append(message.text))
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(address)

    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "text"
    page.keyboard.press("Control+A")
    page.keyboard.insert_text(MARKED)
    page.keyboard.press("Control+Enter")
    page.wait_for_selector("#links h2")
    assert page.inner_text("#links h2") == "2 of 2 mentions linked"
    # A screen reader continues there.
    assert page.evaluate("document.activeElement.tagName") == "H2"
    assert page.locator("#links mark").count() == 2
    page.locator("#links summary").first.press("Enter")
    assert page.locator("#links details[open]").count() == 1
    page.click("#name")
    page.keyboard.type("heart f")
    page.wait_for_selector("#hits li")
    assert "MESH:D006333" in page.inner_text("#hits li >> nth=0")
    page.fill("#name", "OWN:1")
    page.wait_for_selector("#hits li:has-text('alert(2)')")
    page.fill("#text", "aspirin .")
    page.click("#link")
    page.wait_for_selector("#links h2:has-text('1 of 1')")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("main script").count() == 0
    assert faults == []
    assert [url for url in asked if not url.startswith((address, "data:"))] == []
