"""Every mistake has one clear error: the place, the cause, the way out. The texts are golden."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from cuecard import CuecardError, compile_template
from cuecard.types import TemplateError

FOLDER = Path(__file__).parent
DEEP = "{{#if a}}" * 101 + "{{/if}}" * 101


def test_each_mistake_is_reported_with_its_place_and_the_way_out() -> None:
    cases = YAML(typ="safe", pure=True).load(FOLDER / "mistakes.yaml")
    golden = FOLDER / "mistakes.txt"
    shown = "\n".join(f"## {case['name']}\n\n{_outcome(case)}\n" for case in cases)
    if os.environ.get("CUECARD_GOLDEN"):
        golden.write_text(shown, encoding="utf-8")

    assert len(cases) >= 60
    assert len({case["name"] for case in cases}) == len(cases)
    assert shown == golden.read_text(encoding="utf-8")


def _outcome(case: dict[str, Any]) -> str:
    text = case["template"].replace("DEEP", DEEP)
    try:
        template = compile_template(text, name="t.xml", partials=case.get("partials"))
        if case.get("outline"):
            template.outline()
        template.render(case.get("values", {}))
    except TemplateError as error:
        return f"{type(error).__name__}\n{error}"
    except CuecardError as error:
        raise AssertionError(case["name"]) from error
    raise AssertionError(f"{case['name']}: no error")
