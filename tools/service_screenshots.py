"""Pictures of the service's page for its documentation: light and dark, wide and narrow.

    python tools/service_screenshots.py --chromium /usr/bin/chromium -o docs/img

Starts `spacy-angel serve` on a free port of this machine, has the page link a text and find names,
and ends it. Needs the extra `serve` and the package playwright, which drives the Chromium that is
named and fetches none.
"""

import argparse
import subprocess
import sys
from pathlib import Path
from typing import Any

TEXT = (
    "She had a heart attack and took aspirin. Her mother has type 2 diabetes mellitus (T2DM), "
    "her brother the Zorblax syndrome."
)
TYPED = "myocardial inf"
WIDTHS = {"wide": (1400, 800), "narrow": (390, 800)}
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    "--disable-lcd-text",
)
# Small enough for a page of documentation to load.
SCALE = 0.75
TIMEOUT = 120_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chromium", required=True)
    parser.add_argument("-o", "--output", type=Path, required=True)
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "spacy_angel", "serve", "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as service:
        try:
            assert service.stderr is not None
            address = next((x.strip() for x in service.stderr if x.startswith("http")), None)
            if address is None:
                sys.exit("The service did not start.")
            take_pictures(address, options.chromium, options.output)
        finally:
            service.terminate()


def take_pictures(address: str, chromium: str, folder: Path) -> None:
    """address (str): of the service. chromium (str): the browser. folder (Path): gets
    `service_SCHEME_WIDTH.png`."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser: Any = driver.chromium.launch(executable_path=chromium, args=list(FLAGS))
        for scheme in ("light", "dark"):
            for name, (width, height) in WIDTHS.items():
                context = browser.new_context(
                    color_scheme=scheme,
                    viewport={"width": width, "height": height},
                    device_scale_factor=SCALE,
                )
                page = context.new_page()
                page.set_default_timeout(TIMEOUT)
                page.goto(address)
                page.fill("#text", TEXT)
                page.click("#link")
                page.wait_for_selector("#links h2")
                page.fill("#name", TYPED)
                page.wait_for_selector("#hits li")
                page.evaluate("document.activeElement.blur(); window.scrollTo(0, 0)")
                page.screenshot(path=folder / f"service_{scheme}_{name}.png", full_page=True)
                context.close()
        browser.close()


if __name__ == "__main__":
    main()
