"""The keys of the sources clock, facts, rows and tools."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Annotated, ClassVar, Literal, Self, TypeVar

from pydantic import AfterValidator, Field, ValidationInfo, model_validator

from cuecard.config.documents.validation import FileModel
from cuecard.config.values import Names, NamesOrPatterns, Texts, ToolName
from cuecard.errors import InputError
from cuecard.model import Json
from cuecard.model.turn import Gates
from cuecard.template.date_patterns import CLOCK, fields
from cuecard.template.dates import Style, check_locale, check_time_style, writer_named, zone_named

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
        raise ValueError(f"{problem.message}; {problem.hint}") from None
    return value


class ClockSpec(FileModel):
    """The current time, as `datetime`, `date`, `time` and `timezone`.

    Without a locale it is ISO 8601. The default is the date alone, so that a prompt stays the same all day.
    """

    removed: ClassVar[Mapping[str, str]] = MappingProxyType(
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


class FactsSpec(FileModel):
    """Lines of facts, in the order of `labels`. An empty value has no line; false and 0 do."""

    labels: dict[str, str] = Field(
        default_factory=dict, description="a value of the turn to the label of its line; `a.b` reads a key of an object"
    )
    others: str = Field("", description="an input with further facts by name, which are sorted and come last")
    clock: ClockSpec | None = Field(
        None, description="adds `datetime`, `date`, `time` and `timezone` to the values that `labels` can name"
    )
    line: str = Field("- {{{label}}}: {{{value}}}", description="how one fact is printed; a Handlebars template")
    separator: str = Field("\n", description="the separator between two facts")


class RowsSpec(FileModel):
    """The entries of a list: texts, or mappings. Its texts are Handlebars templates; entries without any text or number
    are left out.
    """

    input: str = Field(description="the input that contains the list")
    item: str = Field(
        "- {{{item}}}", description="how one entry is printed, from `item` (`{{{item.key}}}` of a mapping) and the turn"
    )
    sort_by: str = Field("", description="the key to sort the entries by; by default they keep their order")
    descending: bool = Field(default=False, description="sort in descending order, such as the newest date first")
    limit: int | None = Field(None, ge=0, description="the maximum number of entries printed, from the first")
    lines: Literal["join", "keep"] = Field(
        "join", description="`join` puts each text on one line, so that it cannot look like another entry"
    )
    separator: str = Field("\n", description="the separator between two entries")
    before: str = Field("", description="the text before the entries, if there are any")
    after: str = Field("", description="the text after the entries, if there are any")


class VisibilitySpec(FileModel):
    """How the gates of a turn affect the tools; the gates themselves come with each turn.

    The rules apply in this order: meta tools are never listed; a harness tool exists if its category belongs to the
    run, any other tool if it is switched on; then flags, secrets, and the turn's `allowed` and `blocked` apply.
    """

    meta: Names = Field((), description="tools that are never listed")
    harness: dict[str, Names] = Field(
        default_factory=dict,
        description="category to the tools that exist only in runs with this category, whether switched on or not; an "
        "empty list means every tool of the category",
    )
    flags: dict[str, Texts] = Field(
        default_factory=dict,
        description="feature flag to the categories or tools that are off while it is false",
    )
    secrets: dict[ToolName, Texts] = Field(
        default_factory=dict, description="tool to the names of the secrets it requires"
    )
    optional_secrets: Texts = Field((), description="secrets that are optional")


class AccessSpec(FileModel):
    """What one kind of user may do: gates by name. A tool has to pass them and the gates of the turn."""

    hide: NamesOrPatterns = Field((), description="never these tools: names, and patterns such as `delete_*`")
    blocked: NamesOrPatterns = Field((), description="the same, by the name that it has in the gates of a turn")
    allowed: NamesOrPatterns | None = Field(None, description="only these tools, but those of `hide`; all by default")
    enabled: NamesOrPatterns = Field(
        (), description="only these tools and the harness tools of the run; all by default"
    )
    harness: Texts | None = Field(
        None, description="the categories of harness tools that it may have; by default those of the turn"
    )
    flags: dict[str, bool] = Field(default_factory=dict, description="feature flags; false switches tools off")
    secrets: Texts | None = Field(None, description="only these secrets are available; by default those of the turn")

    @property
    def gates(self) -> Gates:
        """The gates, whose names of tools may be patterns."""
        hidden, harness = (*self.hide, *self.blocked), self.harness or ()
        return Gates(self.enabled, harness, self.flags, self.secrets, self.allowed, hidden)


class ToolListSpec(FileModel):
    """A list of tools. `item` is a Handlebars template; the defaults print the list of the shipped agent `polyant`."""

    item: str = Field(
        "- **{{{name}}}**: {{{description}}}",
        description="how one tool is printed, from name, description, category and the values of the turn",
    )
    separator: str = Field("\n", description="the separator between two tools")
    sort: Literal["catalogue", "name"] = Field("catalogue", description="the order: as in the catalogue, or by name")
    lines: Literal["join", "keep"] = Field(
        "join", description="`join` puts a description on one line, so that it cannot look like another tool"
    )
    missing_description: str = Field("", description="the description for a tool without one")
    unknown: str = Field("No tools available.", description="the whole text if nobody says which tools exist")
    empty: str = Field("", description="the whole text if there are no tools")
    examples: dict[ToolName, dict[str, Json]] = Field(
        default_factory=dict, description="tool to examples of its input, by label; they follow its description"
    )
    examples_heading: str = Field(
        "\n\nInput examples:", description="the separator between a description and its examples"
    )
