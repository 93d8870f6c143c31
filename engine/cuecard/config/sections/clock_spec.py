"""The time as a source of sections: its zone, how exactly it is told, and in which language."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Literal, TypeAlias

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from cuecard.config.documents.validation import FileModel
from cuecard.config.values.zones import locale_named, zone_named
from cuecard.errors import InputError

Style: TypeAlias = Literal["full", "long", "medium", "short"]
"""How much of a date or time a locale writes out."""


def _exists(look_up: Callable[[str], object]) -> Callable[[str], str]:
    def checked(name: str) -> str:
        try:
            _ = name and look_up(name)
        except InputError as error:
            problem = error.problems[0]
            raise PydanticCustomError(
                "unknown_name", "{text}", {"text": f"{problem.message}; {problem.hint}"}
            ) from None
        return name

    return checked


class ClockSpec(FileModel):
    """What time it is, as `datetime`, `date`, `time` and `timezone`.

    Without a locale it is ISO 8601. By default the date alone, so that a prompt stays the same all day (seed 003).
    """

    zone: Annotated[str, AfterValidator(_exists(zone_named))] = Field(
        "", description="the time zone, such as `Europe/Vienna`; when left out, the zone of the turn's time"
    )
    zone_input: str = Field("", description="an input that names the time zone; it wins over `zone` unless it is empty")
    locale: Annotated[str, AfterValidator(_exists(locale_named))] = Field(
        "", description="the language and country that it is written for, such as `de-AT`; when left out, ISO 8601"
    )
    locale_input: str = Field(
        "", description="an input that names the locale; it wins over `locale` unless it is empty"
    )
    precision: Literal["date", "minute", "second"] = Field(
        "date", description="how exactly it is told: the finer, the more often the prompt changes"
    )
    date_style: Style = Field("full", description="how a locale writes the date")
    between: str = Field("", description="stands between a locale's date and time; when left out, as the locale has it")
    time_style: Style = Field("short", description="how a locale writes the time; `short` has no seconds")
