from __future__ import annotations

from typing import Annotated, Any, Literal

import pytest

from cms.arguments import camel_case, check, input_schema
from cms.database import Database, Json
from cms.errors import ValidationError


def paint(
    db: Database,
    wall_id: Annotated[str, "which wall", ("minLength", 1)],
    colours: list[str],
    type_: Literal["oil", "chalk"] | None = None,
    coats: Annotated[int, "how often", ("minimum", 1), ("maximum", 9)] = 1,
    options: dict[str, Any] | None = None,
    *,
    dry_run: bool = False,
) -> Json:
    """Paint a wall."""
    return {}


WALL = {"wallId": "w", "colours": ["red"]}


def problems(**arguments: object) -> str:
    with pytest.raises(ValidationError) as caught:
        check(paint, arguments)

    assert caught.value.options == ("wallId", "colours", "type", "coats", "options", "dryRun")
    return caught.value.message


def test_the_schema_is_read_from_the_signature() -> None:
    assert input_schema(paint) == {
        "type": "object",
        "properties": {
            "wallId": {"type": "string", "description": "which wall", "minLength": 1},
            "colours": {"type": "array", "items": {"type": "string"}},
            "type": {"type": "string", "enum": ["oil", "chalk"]},
            "coats": {"type": "integer", "description": "how often", "minimum": 1, "maximum": 9},
            "options": {"type": "object"},
            "dryRun": {"type": "boolean"},
        },
        "required": ["wallId", "colours"],
        "additionalProperties": False,
    }


def test_names_are_camel_case_outside_and_snake_case_inside() -> None:
    assert check(paint, {**WALL, "type": "oil", "dryRun": True}) == {
        "wall_id": "w",
        "colours": ["red"],
        "type_": "oil",
        "dry_run": True,
    }
    assert camel_case("page_section_id") == "pageSectionId"


def test_a_null_counts_as_left_out() -> None:
    assert check(paint, {**WALL, "type": None}) == {"wall_id": "w", "colours": ["red"]}
    assert problems(wallId=None, colours=[]) == "`wallId` is missing."


def test_every_problem_is_reported_at_once() -> None:
    assert problems(wallid=3, coats="2") == (
        "`wallId` is missing; `colours` is missing; `wallid` is unknown (did you mean `wallId`?); "
        "`coats` must be a whole number."
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"wallId": " "}, "`wallId` must not be empty."),
        ({"colours": "red"}, "`colours` must be a list."),
        ({"colours": ["red", 3]}, "`colours[1]` must be a string."),
        ({"type": "water"}, "`type` must be one of `oil`, `chalk`."),
        ({"coats": True}, "`coats` must be a whole number."),
        ({"coats": 10}, "`coats` must lie between 1 and 9."),
        ({"options": []}, "`options` must be an object."),
        ({"dryRun": "yes"}, "`dryRun` must be true or false."),
        ({"options": {"a": ["\ud800"]}}, "`options` holds a broken character."),
    ],
)
def test_each_form_is_checked(arguments: dict[str, object], message: str) -> None:
    assert problems(**{**WALL, **arguments}) == message
