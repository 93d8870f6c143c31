"""The table of wrong arguments: the code and the place of each mistake stay, whatever finds it.

`told.txt` has what is said of all that a rule finds, and not an annotation; `make golden` adds what is missing.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from copy import copy
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from cuecard import InputError
from cuecard.model import json_values
from unit.model.boundary.scene import scene

HERE = Path(__file__).parent
TABLES = {
    name: YAML(typ="safe").load((HERE / f"{name}.yaml").read_text(encoding="utf-8"))
    for name in ("wrong_arguments", "hostile_arguments")
}
TOLD = HERE / "told.txt"
ELSEWHERE = {"wrong-argument", "bad-conversation"}
"""What an annotation says, and what Python says of JSON: all but what is said of bodies."""
BODIES = ("anthropic.", "bedrock.", "gemini.", "openai.")

ROWS = {row: told for table in TABLES.values() for row, told in table.items()}


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Any]:
    return scene(tmp_path_factory.mktemp("scene"))


@pytest.mark.parametrize("row", ROWS)
def test_what_is_wrong_keeps_its_code_and_place(
    row: str, names: Mapping[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_values, "MAX_VALUES", 5_000)  # endless values are refused as late as these
    here = {**names, "chat": copy(names["chat"])}

    with pytest.raises(InputError) as error:
        eval(row, here)  # noqa: S307 - an expression of our own table

    assert sorted({f"{each.code} {each.name}" for each in error.value.problems}) == sorted(set(ROWS[row]))
    assert "a secret of the host" not in str(error.value)
    assert len(str(error.value)) < 10_000
    hold(
        {f"{each.picture()}\n" for each in error.value.problems if each.code not in ELSEWHERE or row.startswith(BODIES)}
    )


def hold(said: set[str]) -> None:
    kept = {*re.findall(r"^\S.*\n(?: .*\n)*", TOLD.read_text(encoding="utf-8"), re.MULTILINE)}
    if os.environ.get("CUECARD_GOLDEN"):
        TOLD.write_text("".join(sorted(kept | said)), encoding="utf-8")
        kept |= said

    assert said <= kept, "run `make golden` and read the difference"


def test_the_table_is_long() -> None:
    assert len(TABLES["wrong_arguments"]) >= 150
