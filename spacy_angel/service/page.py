"""The page of a service, to try it. It loads nothing else."""

import re
from base64 import b64encode
from functools import cache
from hashlib import sha256
from pathlib import Path

from ..linking.showing.page import page_style

_FILE = Path(__file__).with_name("page.html")
_SCRIPT = re.compile(r"<script>(.*?)</script>", re.DOTALL)
_TOKEN = (
    '<label for="token">Token of the service</label>\n'
    '<input id="token" type="password" autocomplete="off">'
)


@cache
def demo_page(*, needs_token: bool) -> str:
    """needs_token (bool): whether the page asks for a token. RETURNS (str): the page at `/`."""
    html = _FILE.read_text("utf8").replace("/* style */", page_style())
    return html.replace("<!-- token -->", _TOKEN if needs_token else "")


def page_headers(html: str) -> dict[str, str]:
    """html (str): a page. RETURNS (dict[str, str]): a policy by which a browser runs its script and
    no other, and connects to this service only."""
    hashes = [b64encode(sha256(text.encode()).digest()).decode() for text in _SCRIPT.findall(html)]
    scripts = " ".join(f"'sha256-{value}'" for value in hashes) or "'none'"
    policy = (
        f"default-src 'none'; script-src {scripts}; style-src 'unsafe-inline'; img-src data:; "
        "connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
    )
    return {"Content-Security-Policy": policy}
