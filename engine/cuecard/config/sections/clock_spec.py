"""The time as a source of sections: its zone, precision and language."""

from collections.abc import Callable
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Annotated, Literal, Self, TypeVar

from pydantic import AfterValidator, Field, ValidationInfo, model_validator
from pydantic_core import PydanticCustomError

from cuecard.config.documents.validation import FileModel
from cuecard.dates.locales import check_locale, check_time_style
from cuecard.dates.patterns import CLOCK, fields
from cuecard.dates.writers import Style, writer_named
from cuecard.dates.zones import zone_named
from cuecard.errors import InputError

Text = TypeVar("Text", bound=str)

_SAMPLE = datetime(2026, 11, 20, 9, tzinfo=UTC)


def _exists(look_up: Callable[[str], object]) -> Callable[[str], str]:
    return lambda name: _checked(name, lambda: name and look_up(name))


def _can_be_written(style: Style, info: ValidationInfo) -> Style:
    if info.data.get("precision", "date") == "date":
        return style
    return _checked(style, lambda: check_time_style(style, info.data.get("locale", "")))


def _checked(value: Text, check: Callable[[], object]) -> Text:
    try:
        check()
    except InputError as error:
        problem = error.problems[0]
        raise PydanticCustomError("unknown_name", "{text}", {"text": f"{problem.message}; {problem.hint}"}) from None
    return value


class ClockSpec(FileModel):
    """The current time, as `datetime`, `date`, `time` and `timezone`.

    Without a locale it is ISO 8601. The default is the date alone, so that a prompt stays the same all day.
    """

    removed = MappingProxyType(
        {"between": "write date, time and what is between them as a `pattern`, such as `d MMMM yyyy 'at' HH:mm`"}
    )

    zone: Annotated[str, AfterValidator(_exists(zone_named))] = Field(
        "", description="the time zone, such as `Europe/Vienna`; by default that of the turn's time"
    )
    zone_input: str = Field("", description="an input that names the time zone; it wins over `zone` unless it is empty")
    locale: Annotated[str, AfterValidator(_exists(check_locale))] = Field(
        "",
        description="the locale, such as `en-GB`; all but `en`, `en-US` and `en-GB` need the extra `locale`; by "
        "default ISO 8601",
    )
    locale_input: str = Field(
        "", description="an input that names the locale; it wins over `locale` unless it is empty"
    )
    precision: Literal["date", "minute", "second"] = Field(
        "date", description="the precision: the finer it is, the more often the prompt changes"
    )
    date_style: Style = Field("full", description="how a locale writes the date")
    time_style: Annotated[Style, AfterValidator(_can_be_written)] = Field(
        "short",
        description="how a locale writes the time; `short` has no seconds, `long` and `full` name the time zone and "
        "need the extra `locale`",
    )
    pattern: str = Field(
        "",
        description="the date, and with another `precision` the time, as a pattern of the Unicode CLDR, such as "
        "`d MMMM yyyy, HH:mm`; it wins over both styles",
    )

    @model_validator(mode="after")
    def _pattern_can_be_written(self) -> Self:
        if self.pattern:
            told = _checked(self.pattern, lambda: writer_named(self.locale or "en").pattern(_SAMPLE, self.pattern))
            if self.precision == "date" and any(name[0] in CLOCK for name in fields(told)):
                raise ValueError("has a `pattern` with the time of day, but `precision: date`")
        return self
