"""The keys of a section and of the layout: sources, choices and conditions."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, model_validator

from cuecard.config.documents.validation import FileModel
from cuecard.config.sections.files_spec import FilesSpec
from cuecard.config.sections.skills_spec import SkillsSpec
from cuecard.config.sections.sources_spec import ClockSpec, FactsSpec, RowsSpec, ToolListSpec
from cuecard.config.values import Names, Texts, as_tuple
from cuecard.model import Json, Lifetime, Tier

SOURCES = ("files", "tools", "skills", "clock", "facts", "rows")
"""The keys of the sources that can fill a section, besides its own text."""

TEXTS = ("text", "file", "choose")
"""The keys for a section's text; a section has at most one of them."""


def _named(value: Any) -> Any:
    return {"input": value} if isinstance(value, str) else value


Patterns = Annotated[Texts, Field(min_length=1)]


class ConditionSpec(FileModel):
    """One test on the values of a turn; exactly one key. A text alone is short for `input`."""

    input: str | None = Field(
        None, description="true if this value is not empty, 0 or false; `a.b` reads a key of an object"
    )
    set: str | None = Field(None, description="true if this input has a value, even an empty one, 0 or false")
    equals: dict[str, Json] | None = Field(
        None, description="true if each of these inputs has this value, or one of a list of values", min_length=1
    )
    at_least: dict[str, float] | None = Field(
        None, description="true if each of these numbers, or lengths of texts and lists, is at least this", min_length=1
    )
    at_most: dict[str, float] | None = Field(
        None, description="true if each of these numbers, or lengths of texts and lists, is at most this", min_length=1
    )
    tool: str | None = Field(None, description="true if this tool exists in the turn")
    model: Patterns | None = Field(
        None, description="true if the turn's model has this name, or one of a list; `*` matches any part"
    )
    empty: str | None = Field(None, description="true if this section is absent or empty")
    not_: Condition | None = Field(None, alias="not", description="true if the condition is false")
    all: Annotated[tuple[Condition, ...] | None, BeforeValidator(as_tuple)] = Field(
        None, description="true if every condition is true", min_length=1
    )
    any: Annotated[tuple[Condition, ...] | None, BeforeValidator(as_tuple)] = Field(
        None, description="true if at least one condition is true", min_length=1
    )

    @model_validator(mode="after")
    def _one_key(self) -> ConditionSpec:
        if [getattr(self, name) is None for name in self.model_fields_set] != [False]:
            keys = ", ".join(field.alias or name for name, field in type(self).model_fields.items())
            raise ValueError(f"should have one of the keys {keys}")
        return self


Condition = Annotated[
    ConditionSpec,
    BeforeValidator(_named, json_schema_input_type=str | ConditionSpec),
]
"""A condition, or the name of an input that must not be empty."""


class ChoiceSpec(FileModel):
    """A text, and the condition under which it is used."""

    when: Condition | None = Field(None, description="this text is used only if this condition holds")
    model: Patterns | None = Field(None, description="short for `when: {model: ...}`")
    text: str | None = Field(None, description="a Handlebars template, like the section's `text`")
    file: str | None = Field(None, description="the same in a file, relative to the agent file")

    @model_validator(mode="after")
    def _one_of_each(self) -> Self:
        if (self.text is None) == (self.file is None):
            raise ValueError("should have one of the keys text, file")
        if self.when is not None and self.model is not None:
            raise ValueError("may have only one of when, model")
        return self

    @property
    def condition(self) -> ConditionSpec | None:
        """The condition; None for always."""
        return ConditionSpec(model=self.model) if self.model is not None else self.when


def _reachable(choices: tuple[ChoiceSpec, ...]) -> tuple[ChoiceSpec, ...]:
    """A text after one without a condition would never be used."""
    always = next((at for at, choice in enumerate(choices, 1) if choice.condition is None), len(choices))
    if always < len(choices):
        raise ValueError(f"has entries after number {always}, which always applies")
    return choices


Choices = Annotated[tuple[ChoiceSpec, ...], BeforeValidator(as_tuple), AfterValidator(_reachable), Field(min_length=1)]
"""Texts, in the order in which they are tried."""


SectionId = Annotated[str, Field(pattern=r"^\w[\w.:·-]{0,127}$")]
"""A name of a section: letters, digits, `_`, `-`, `.` or `:`, such as `01-identity`, or the name of an element."""

Ids = Annotated[tuple[SectionId, ...], BeforeValidator(as_tuple)]


class SectionPatch(FileModel):
    """A change to a section by another file, a profile or a variant; keys that it leaves out stay as they are."""

    id: SectionId = Field(description="the section's name, in manifests and in files that extend this one")
    title: str = Field("", description="the title for the layout's heading; without one, there is no heading")
    text: str | None = Field(
        None, description="a Handlebars template; it prints the section's source with `{{{content}}}`"
    )
    file: str | None = Field(None, description="the same in a file, relative to the agent file")
    choose: Choices | None = Field(None, description="several texts; the first one whose condition holds is used")
    files: FilesSpec | None = Field(None, description="filled from files that may be missing, within limits")
    tools: ToolListSpec | None = Field(None, description="filled with a list of the tools that exist in the turn")
    skills: SkillsSpec | None = Field(None, description="filled with the skills that fit the turn")
    clock: ClockSpec | None = Field(
        None, description="supplies the time to its text: `datetime`, `date`, `time`, `timezone`"
    )
    facts: FactsSpec | None = Field(None, description="filled with lines of facts about the turn")
    rows: RowsSpec | None = Field(None, description="filled with the entries of a list that your program supplies")
    when: Condition | None = Field(None, description="the section is left out unless this condition holds")
    group: str = Field("", description="a group of the layout: adjacent sections under one heading")
    tier: Tier | None = Field(None, description="how often it may change; checked if given, otherwise inferred")
    lifetime: Lifetime | None = Field(
        None,
        description="how long its text stays in the conversation: until the turn ends (`turn`), for one request "
        "(`step`), or for good; otherwise inferred from the inputs that it reads",
    )
    trust: Literal["data", "author"] = Field(
        "data",
        description="`author` prints markup in this section's values as it is; inputs still cannot imitate layout "
        "marks, unless the input itself is `author`",
    )
    priority: int | None = Field(
        None,
        description="if the total budget is exceeded, sections with the lowest priority are dropped first; a section "
        "without one is kept",
    )
    budget: int | None = Field(None, ge=1, description="the section's maximum tokens; longer text is cut at a line end")
    role: Literal["system", "user", "assistant"] = Field(
        "system", description="`system` is part of the system prompt; other roles become separate messages after it"
    )

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        filled = [name for name in SOURCES if getattr(self, name) is not None]
        written = [name for name in TEXTS if getattr(self, name) is not None]
        if len(filled) > 1 or len(written) > 1:
            raise ValueError(f"may have only one of {', '.join(filled if len(filled) > 1 else written)}")
        return self


def _with_places(schema: dict[str, Any]) -> None:
    """The keys of a section that merging removes, listed for editors."""
    where = "with a template or `extends`: places the section {} the one with this name"
    schema["properties"] |= {
        "before": {"type": "string", "description": where.format("before")},
        "after": {"type": "string", "description": where.format("after")},
        "remove": {"type": "boolean", "description": "with a template or `extends`: removes the section"},
    }


class SectionSpec(SectionPatch):
    """A named part of the prompt: an element of the template, a text, a source, or a text around a source."""

    model_config: ClassVar[ConfigDict] = ConfigDict(json_schema_extra=_with_places)


class BoundarySpec(FileModel):
    """A marker between the part of the prompt that seldom changes and the part that changes often."""

    marker: str = Field(description="its text, with the line breaks around it")
    before: SectionId = Field(description="the first section after it")


class GroupSpec(FileModel):
    """Neighbouring sections under one heading, which precedes the first of them that is not empty."""

    title: str = Field("", description="the title for the heading before the group; without one, there is no heading")
    heading: str | None = Field(
        None,
        description="the heading of titled sections inside the group; by default the same as outside",
    )
    group: str = Field("", description="the enclosing group, whose heading comes first")


class LayoutSpec(FileModel):
    """How sections are joined. An empty section leaves no heading or separator behind."""

    heading: str = Field("", description='the heading of a section that has a title, such as "## {{title}}\\n"')
    separator: str = Field("\n\n", description="the separator between two sections")
    boundary: BoundarySpec | None = Field(None, description="a marker for cache boundaries")
    groups: dict[SectionId, GroupSpec] = Field(
        default_factory=dict, description="groups of sections, by the name that sections use as `group`"
    )
    trim: bool = Field(default=True, description="strip white space around each section")
    escaping: Literal["text", "names"] = Field("text", description="how `{{{x}}}` prints data, as in `template`")
    partials: str = Field("", description="a folder of partials, relative to the agent file")


class SelectionSpec(FileModel):
    """A profile or a variant: which sections a prompt has, and how they differ."""

    include: Ids | None = Field(None, description="only these sections; all by default")
    exclude: Ids = Field((), description="all but these sections")
    exclude_tools: Names = Field((), description="tools that are not there under it, whatever the gates say")
    sections: Annotated[tuple[SectionPatch, ...], BeforeValidator(as_tuple)] = Field(
        (), description="changes to a section, by its `id`"
    )


def patched(section: SectionSpec, patch: SectionPatch) -> SectionSpec:
    """The section with the patch applied. A new text replaces a file and vice versa; the same goes for sources."""
    changes = {name: getattr(patch, name) for name in patch.model_fields_set}
    for names in (SOURCES, TEXTS):
        if any(changes.get(name) is not None for name in names):
            changes = {**dict.fromkeys(names), **changes}
    return section.model_copy(update=changes)
