"""Every report that is a page, in a browser: its own style applies, and nothing that somebody has put into it does."""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path

import pytest

from unit.workbench.pages.test_narrow import REPORTS
from unit.workbench.replay.test_page import NEEDS_BROWSER, look, probed

ATTACK = """\
<script>document.body.dataset.ran = "a script"</script>
<p id="attacked" onclick="document.body.dataset.ran = 'a click'" style="color: rgb(1, 2, 3)">x</p>
<style>#attacked { color: rgb(4, 5, 6) }</style>
<img src="x" onerror="document.body.dataset.ran = 'an image'">
<iframe srcdoc="<script>parent.document.body.dataset.ran = 'a frame'</script>"></iframe>
<base href="https://example.org/"><a id="link" href="x">x</a>
"""
PROBE = """<script>
const attacked = document.getElementById("attacked");
attacked.click();
Object.assign(document.body.dataset, {
  colour: getComputedStyle(attacked).color,
  width: getComputedStyle(document.querySelector("main")).maxWidth,
  link: new URL(document.getElementById("link").href).protocol,
});
</script>"""


@pytest.mark.parametrize("kind", REPORTS)
def test_the_policy_allows_the_style_of_the_page_by_hash_and_no_script(kind: str) -> None:
    page = REPORTS[kind]()
    (policy,) = re.findall(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', page)
    (style,) = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()

    assert policy == f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    assert page.index("Content-Security-Policy") < page.index("<title>")
    assert not re.search(r"<script|\sstyle=|\son[a-z]+=", page)


@NEEDS_BROWSER
@pytest.mark.parametrize("kind", REPORTS)
def test_what_gets_into_a_page_neither_runs_nor_changes_how_it_looks(kind: str, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text(probed(REPORTS[kind]().replace("</main>", f"{ATTACK}</main>"), PROBE), encoding="utf-8")
    (body,) = re.findall(r"<body[^>]*>", look("--dump-dom", page))
    seen = dict(re.findall(r'data-([a-z]+)="([^"]*)"', body))

    assert seen.keys() == {"colour", "width", "link"}
    assert seen["width"] == "1020px"
    assert seen["link"] == "file:"
    assert seen["colour"] not in {"rgb(1, 2, 3)", "rgb(4, 5, 6)"}
