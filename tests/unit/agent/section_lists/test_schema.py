"""What editors know of a list of sections: the schema accepts what opens, and refuses what cannot be meant."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from cuecard.config.documents.yaml import read_yaml
from cuecard.config.json_schema import schemas
from shipped import content_root

CASES = Path(__file__).parents[3] / "cases" / "agents"
GOOD = sorted(
    [
        *content_root().glob("prompts/*/agent.yaml"),
        *(
            CASES / name / "agent.yaml"
            for name in ("extends_three_layers", "sections_from_sources", "profile_and_variant")
        ),
        *(
            CASES / name / "agent.yaml"
            for name in ("roles_and_messages", "sections_with_a_boundary", "sections_laid_out")
        ),
        *(CASES / "extends_three_layers").rglob("*.yaml"),
    ]
)


@cache
def validator() -> Draft202012Validator:
    schema = json.loads(schemas()["agent.schema.json"])
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def mistakes(text: str) -> list[str]:
    return [error.json_path for error in validator().iter_errors(read_yaml(text, "agent.yaml").value)]


@pytest.mark.parametrize("path", [p for p in GOOD if p.name != "turn.yaml"], ids=lambda p: "/".join(p.parts[-2:]))
def test_an_agent_file_that_opens_is_valid_for_editors(path: Path) -> None:
    assert mistakes(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("agent: a\nsections: [{id: a, txt: a}]", "$.sections[0]"),
        ("agent: a\nsections: [{text: a}]", "$.sections[0]"),
        ("agent: a\nsections: [{id: a, text: a, role: tool}]", "$.sections[0].role"),
        ("agent: a\nsections: [{id: a, text: a, budget: 0}]", "$.sections[0].budget"),
        ("agent: a\nsections: [{id: a, text: a, when: {equls: {a: 1}}}]", "$.sections[0].when"),
        ("agent: a\nsections: [{id: a, text: a, when: {all: []}}]", "$.sections[0].when"),
        (
            "agent: a\nsections: [{id: a, text: a}]\nprofiles: {p: {sections: [{id: a, before: b}]}}",
            "$.profiles.p.sections[0]",
        ),
        ("agent: a\nlayout: {boundary: {marker: x}}", "$.layout.boundary"),
        ("sections: [{id: a, text: a}]", "$"),
    ],
)
def test_a_mistake_is_marked_while_people_type(text: str, place: str) -> None:
    assert any(found.startswith(place) for found in mistakes(text))


def test_a_file_that_extends_others_may_say_little() -> None:
    assert mistakes("extends: base.yaml\nsections: [{id: a, before: b, title: T}, {id: c, remove: true}]") == []
