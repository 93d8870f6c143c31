"""Calls, steps and manifests travel as JSON: equal when they come back, and clear about what they are not."""

from __future__ import annotations

import enum
import http
import json
import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from cuecard import Call, Engine, InputError, Manifest, Step, Turn
from cuecard.model.storage import as_plain
from cuecard.types import Json
from unit.agent.section_lists.agents import PROTOCOLS, TOOLS, opened, search

AGENT = f"""\
agent: a
tools: {{instructions: tools.yaml, core: [tool_search]}}
sections: [{{id: p, text: '{PROTOCOLS}'}}]
"""
Kind: TypeAlias = type[Call] | type[Step] | type[Manifest]


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    return opened(tmp_path, AGENT, tools_yaml=TOOLS)


def step(engine: Engine) -> Step:
    first = engine.prepare_call(Turn())
    second = engine.prepare_call(Turn(tools=("tool_search", "get_page")), [search("put_page")], previous=first)
    return engine.prepare_step(second, [search("put_page"), search("get_page", call_id="call-2")])


def journey(value: Call | Step | Manifest) -> Mapping[str, Json]:
    data: Mapping[str, Json] = json.loads(json.dumps(value.to_json()))
    return data


def test_a_step_comes_back_with_its_manifest(engine: Engine) -> None:
    made = step(engine)
    back = Step.from_json(journey(made))

    assert back == made
    assert back.manifest == made.manifest
    assert Manifest.from_json(journey(made.manifest)) == made.manifest
    assert back.to_json() == made.to_json()


def data_of(kind: Kind, engine: Engine) -> Any:
    made = step(engine)
    return dict(journey(engine.prepare_call() if kind is Call else made if kind is Step else made.manifest))


KINDS = [(Call, "call"), (Step, "step"), (Manifest, "manifest")]


@pytest.mark.parametrize(("kind", "noun"), KINDS)
def test_a_newer_format_is_refused_with_what_to_do(kind: Kind, noun: str, engine: Engine) -> None:
    with pytest.raises(InputError) as caught:
        kind.from_json(data_of(kind, engine) | {"format": 2, "colour": "red"}, "store.json")

    assert str(caught.value) == (
        f"store.json: error[newer-format]: the {noun} has format 2; this version of cuecard reads up to 1\n"
        "  = update cuecard, or create it again with this version"
    )


@pytest.mark.parametrize(("kind", "noun"), KINDS)
def test_a_format_that_is_none_is_reported(kind: Kind, noun: str, engine: Engine) -> None:
    told = (f"bad-{noun}", "`format` should be 1, the number that `to_json` writes")
    for number in (None, 0, -1, "1", True, 1.5):
        with pytest.raises(InputError) as caught:
            kind.from_json(data_of(kind, engine) | {"format": number})

        assert [(problem.code, problem.message) for problem in caught.value.problems] == [told], number


@pytest.mark.parametrize(("kind", "noun"), KINDS)
def test_every_wrong_field_is_reported_at_once(kind: Kind, noun: str, engine: Engine) -> None:
    data = data_of(kind, engine)
    gone = next(name for name in data if name != "format")
    del data[gone]
    with pytest.raises(InputError) as caught:
        kind.from_json(data | {"colour": "red"})

    found = {problem.message.partition(":")[0] for problem in caught.value.problems}
    assert found == {f"`{gone}`", "`colour`"}
    assert {problem.code for problem in caught.value.problems} == {f"bad-{noun}"}


@pytest.mark.parametrize("data", [None, [], "call", 7])
def test_anything_but_a_mapping_is_reported(data: Json) -> None:
    with pytest.raises(InputError, match="the call should be a mapping"):
        Call.from_json(data)


def test_a_manifest_is_made_when_somebody_looks_at_it_and_then_kept(engine: Engine) -> None:
    made = step(engine)

    assert "manifest" not in vars(made)
    assert made.manifest is made.manifest
    assert made.active_tools == made.manifest.active_tools
    assert made.discovered == made.manifest.discovered
    assert made.initial_tools == ("tool_search",)


@pytest.mark.parametrize(
    ("kind", "path", "value"),
    [
        (Call, ("turn",), "0"),
        (Call, ("prompt", "segments", 0, "tokens"), 12.0),
        (Call, ("prompt", "segments", 0, "stable"), "yes"),
        (Call, ("prompt", "segments", 0, "stable"), 1),
        (Manifest, ("total_tokens",), True),
        (Step, ("manifest", "total_tokens"), "7"),
    ],
)
def test_nothing_is_taken_for_something_else(kind: Kind, path: tuple[Any, ...], value: Any, engine: Engine) -> None:
    data = inner = data_of(kind, engine)
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value

    with pytest.raises(InputError, match=re.escape(f"`{'.'.join(map(str, path))}`")):
        kind.from_json(data)


def nested(levels: int) -> Json:
    made: Json = 0
    for _ in range(levels):
        made = [made]
    return made


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (object(), "Object of type object is not JSON serializable"),
        (math.nan, "Out of range float values are not JSON compliant"),
        (10**5000, "Exceeds the limit"),
        (nested(150_000), "recursion"),
        (nested(250), "recursion limit exceeded"),
    ],
    ids=["an object", "no number", "a number without end", "nested without end", "nested too deeply"],
)
def test_what_is_no_plain_json_is_refused(value: Any, told: str, engine: Engine) -> None:
    data = data_of(Call, engine)
    data["values"]["x"] = value
    with pytest.raises(InputError, match=told) as caught:
        Call.from_json(data, "store.json")

    assert [(problem.code, problem.name) for problem in caught.value.problems] == [("bad-call", "store.json")]


class Id(enum.StrEnum):
    FIRST = "call-1"


def test_members_of_enums_are_stored_as_what_they_are(engine: Engine) -> None:
    made = engine.prepare_step(engine.prepare_call(), [search("put_page", call_id=Id.FIRST)])

    assert made.appended[0].after_call_id == "call-1"
    assert Step.from_json(made.to_json()).manifest == made.manifest
    assert type(as_plain(Id.FIRST)) is str
    assert [type(as_plain(value)) for value in (http.HTTPStatus.OK, True, 0.5)] == [int, bool, float]
