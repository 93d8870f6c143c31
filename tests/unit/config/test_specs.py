"""What the parts of an agent file say to one another: patches of sections, and what a kind of user may do."""

from __future__ import annotations

from typing import Any

import pytest

from cuecard.config.sections.section_spec import SectionPatch, SectionSpec, patched
from cuecard.config.sections.sources_spec import AccessSpec
from cuecard.model.turn import Gates
from cuecard.types import Json

SECTION = {"id": "a", "title": "A", "text": "x", "rows": {"input": "list"}, "priority": 3}


@pytest.mark.parametrize(
    ("patch", "changes"),
    [
        ({}, {}),
        ({"title": "B", "priority": None}, {"title": "B", "priority": None}),
        ({"file": "f.md"}, {"text": None, "file": "f.md"}),
        ({"choose": [{"text": "y"}]}, {"text": None, "choose": [{"text": "y"}]}),
        ({"tools": {"sort": "name"}}, {"rows": None, "tools": {"sort": "name"}}),
        ({"rows": {"input": "other"}, "text": "y"}, {"rows": {"input": "other"}, "text": "y"}),
        ({"text": None}, {"text": None}),
    ],
)
def test_a_patch_replaces_what_it_says_and_what_cannot_stand_beside_that(
    patch: dict[str, Json], changes: dict[str, Any]
) -> None:
    made = patched(SectionSpec.model_validate(SECTION), SectionPatch.model_validate({"id": "a", **patch}))

    expected = {key: value for key, value in {**SECTION, **changes}.items() if value is not None}
    assert made == SectionSpec.model_validate(expected)


def test_what_a_kind_of_user_may_do_are_gates() -> None:
    assert AccessSpec().gates == Gates((), (), {}, None, None, ())
    access = AccessSpec(
        hide=("a", "b_*"),
        blocked=("c",),
        allowed=("d",),
        enabled=("e",),
        harness=("f",),
        flags={"g": False},
        secrets=("h",),
    )
    assert access.gates == Gates(("e",), ("f",), {"g": False}, ("h",), ("d",), ("a", "b_*", "c"))
