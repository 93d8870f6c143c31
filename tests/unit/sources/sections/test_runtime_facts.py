"""The source `facts`: what is known of a call, a line each; what is empty has none."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from cuecard.config.documents.validation import validate
from cuecard.config.documents.yaml import read_yaml
from cuecard.config.sections.sources_spec import FactsSpec
from cuecard.sources.content import SourceInput
from cuecard.sources.facts import compile_facts
from cuecard.types import Json

NOW = datetime(2026, 11, 20, 9, tzinfo=UTC)
SPEC = validate(
    read_yaml(
        """
labels:
  agent_id: Agent ID
  user.name: User
  channel: Channel
  datetime: Time
  timezone: Time zone
  heartbeat: Heartbeat run
others: variables
clock: {zone: Europe/Vienna, precision: minute}
""",
        "agent.yaml",
    ),
    FactsSpec,
)


def text(values: dict[str, Json], spec: FactsSpec = SPEC) -> str:
    return compile_facts(spec, "facts")(SourceInput(values, NOW)).text


def test_facts_appear_in_the_order_of_their_labels_and_others_follow_by_name() -> None:
    values = {
        "variables": {"mood": "calm", "tags": ["a", "b"], "nothing": None, "nested": {"k": [1], "a": 2}},
        "heartbeat": False,
        "user": {"name": "Kim"},
        "agent_id": "cue-1",
        "channel": "",
    }

    assert text(values).splitlines() == [
        "- Agent ID: cue-1",
        "- User: Kim",
        "- Time: 2026-11-20T10:00+01:00",
        "- Time zone: Europe/Vienna",
        "- Heartbeat run: false",
        "- mood: calm",
        '- nested: {"a": 2, "k": [1]}',
        "- tags: a, b",
    ]
    assert compile_facts(SPEC, "facts").inputs == {"agent_id", "user", "channel", "heartbeat", "variables"}


def test_without_a_value_there_is_no_line() -> None:
    spec = FactsSpec(labels={"a": "A", "b.c": "C", "d": "D"}, others="more")

    assert text({"a": "  ", "b": "text", "more": ["no", "mapping"]}, spec) == ""
    assert text({"d": 0}, spec) == "- D: 0"


def test_the_form_of_a_line_is_a_template() -> None:
    spec = FactsSpec(labels={"a": "A", "b": "B"}, line="{{label}}={{{value}}} ({{unit}})", separator="; ")

    assert text({"a": 1, "b": True, "unit": "m"}, spec) == "A=1 (m); B=true (m)"
    assert compile_facts(spec, "facts").inputs == {"a", "b", "unit"}


@given(values=st.dictionaries(st.text(max_size=8), st.text(max_size=12) | st.lists(st.text(max_size=4)), max_size=4))
def test_a_value_cannot_make_a_line_of_its_own(values: dict[str, Json]) -> None:
    lines = text({"variables": values}, FactsSpec(others="variables")).splitlines()

    assert len(lines) <= len(values)
    assert all(line.startswith("- ") for line in lines)
