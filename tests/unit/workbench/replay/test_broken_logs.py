"""Logs with anything at all in any place are read as far as they can be, or refused; they never end in a traceback."""

from __future__ import annotations

import json
from contextlib import suppress
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuecard import CuecardError
from cuecard.workbench.replay.play import play
from cuecard.workbench.transcripts.formats import FORMS, read_conversation
from unit.workbench.replay.small import engine

pytestmark = pytest.mark.repeats

CASES = Path(__file__).parents[3] / "cases" / "transcripts"
LOGS = {path.name: path.read_text(encoding="utf-8") for path in (*CASES.glob("logs/*"), CASES / "pages.json")}
ODD: list[Any] = [None, 0, -1, 1e300, True, "", "x", "\ud800", [], [[]], ["a"], {}, {"type": 3}, {"role": "user"}]
STRANGE = st.sampled_from(ODD)


def values(text: str) -> Any:
    lines = text.splitlines()
    return [json.loads(line) for line in lines] if text.startswith('{"at"') else json.loads(text)


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every container with each of its keys."""
    inner = (
        list(value.items()) if isinstance(value, dict) else list(enumerate(value)) if isinstance(value, list) else []
    )
    return [found for key, item in inner for found in ((value, key), *places(item))]


@pytest.mark.parametrize("name", sorted(LOGS))
@given(data=st.data())
def test_a_log_with_strange_values_is_read_or_refused(name: str, data: st.DataObject) -> None:
    value = values(LOGS[name])
    for _ in range(data.draw(st.integers(1, 3))):
        container, key = data.draw(st.sampled_from(places(value)))
        container[key] = deepcopy(data.draw(STRANGE))
    with suppress(CuecardError):
        transcript = read_conversation(json.dumps(value), name, data.draw(st.sampled_from(FORMS))).transcript

        assert len(play(engine(), transcript, "append")) == len(list(transcript.requests()))


@given(text=st.text(alphabet='{}[]",:\\ \n01truefalsn', max_size=40))
def test_a_text_that_is_not_a_log_is_refused(text: str) -> None:
    with suppress(CuecardError):
        assert read_conversation(text, "log.json").transcript.turns
