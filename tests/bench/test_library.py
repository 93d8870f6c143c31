"""An engine of a library beside one from a folder, in one run: asked for anew for each call, as hosts do."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from statistics import median

import pytest

from bench.test_step import microseconds
from cuecard import Engine, Library, ToolResult, Turn

pytestmark = pytest.mark.bench

CMS = Path(__file__).parents[2] / "prompts" / "cms"
TURN = Turn(now=datetime(2026, 11, 22, tzinfo=UTC))
FOUND = [ToolResult("tool_search", {"tools": ["cms_createPage"]}, "call-1")]


def test_a_cached_engine_against_one_from_a_folder(tmp_path: Path) -> None:
    library = Library(f"sqlite:///{tmp_path}/prompts.db")
    library.create()
    library.publish(CMS, "as shipped", author="bench", label="production")
    folder = Engine.open(CMS)

    def call(engine: Engine) -> None:
        engine.prepare_step(engine.prepare_call(TURN), FOUND)

    pairs = [
        (microseconds(lambda: call(folder)), microseconds(lambda: call(library.engine("cms@production"))))
        for _ in range(7)
    ]
    base, cached = (median(each) for each in zip(*pairs, strict=True))
    ratio = median(two / one for one, two in pairs)
    asked = microseconds(lambda: library.engine("cms@production"))
    library.close()
    print(
        f"\n  from a folder {base:.0f} us, from a library {cached:.0f} us ({ratio:.2f}x), asking for it {asked:.1f} us"
    )

    assert ratio <= 1.05
