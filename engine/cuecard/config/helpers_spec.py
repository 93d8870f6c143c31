"""Custom helpers: functions that templates call, from a module or an installed package."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from cuecard.config.documents.validation import FileModel


class HelpersSpec(FileModel):
    """Where helpers come from, and whether their output is trusted."""

    code: str = Field(
        description="a mapping of names to functions, as `my_package.my_module:NAME`; or the name of an entry point "
        "in the group `cuecard.helpers` that provides one",
        pattern=r"^[^\W\d][\w.-]*(:[^\W\d][\w.]*)?$",
    )
    trust: Literal["data", "author"] = Field(
        "data", description="`data` escapes their results like any value; `author` prints them as they are"
    )


def _as_entries(value: Any) -> Any:
    listed = value if isinstance(value, (list, tuple)) else [value]
    return tuple({"code": each} if isinstance(each, str) else each for each in listed)


Helpers = Annotated[
    tuple[HelpersSpec, ...],
    BeforeValidator(_as_entries, json_schema_input_type=str | HelpersSpec | list[str | HelpersSpec]),
]
"""Helpers from one or several places."""
