"""A section with its source: what fills it, what its text may read, and how the two are printed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from cuecard.agent.memo import Memo
from cuecard.agent.nouns import CONTENT
from cuecard.errors import CuecardError, Problem
from cuecard.model import Json
from cuecard.sections.conditions import asks_for_tools, inputs_read
from cuecard.sections.content import Fill
from cuecard.sections.files import compile_files
from cuecard.spec.section_file import SOURCES, SectionSpec
from cuecard.spec.sources import AgentSources
from cuecard.template import Template, trusted

_LOCAL = {"clock": ("datetime", "date", "time", "timezone")}
"""What a source supplies to its section's text, besides `content`."""

_DEFAULT = {"clock": "{{{datetime}}}"}
"""The text of a section with a source and no text of its own; `{{{content}}}` for all others."""


@dataclass(frozen=True, slots=True)
class Filled:
    """The text of a section as a function of the values of a call."""

    template: Template
    id: str
    trusted: bool

    def __call__(self, values: Mapping[str, Json]) -> str:
        """The section's body.

        Raises:
            TemplateRenderError: when the text cannot be rendered with these values.
        """
        everything = {**values, **values.get(CONTENT + self.id, {})}
        return self.template.render(_trusted(everything) if self.trusted else everything)


def source_of(spec: SectionSpec) -> str:
    """The key of what fills a section; empty when it is a text alone."""
    return next((name for name in SOURCES if getattr(spec, name) is not None), "")


def default_text(spec: SectionSpec) -> str:
    """The text of a section, or what stands for it."""
    return spec.text if spec.text is not None else _DEFAULT.get(source_of(spec), "{{{content}}}")


def local_names(spec: SectionSpec) -> tuple[str, ...]:
    """What the text of a section may read that is no input."""
    source = source_of(spec)
    return ("content", *_LOCAL.get(source, ())) if source else ()


def names_read(spec: SectionSpec, fill: Fill | None) -> Iterator[str]:
    """The inputs that a section reads outside of its text."""
    yield from inputs_read(spec.when) if spec.when else ()
    yield from getattr(fill, "inputs", ())


def is_constant(spec: SectionSpec) -> bool:
    """Whether source and condition, apart from the inputs they read, give the same for every call."""
    changing = source_of(spec) not in {"", "files"} or (spec.files is not None and spec.files.supplied)
    return not changing and not (spec.when and asks_for_tools(spec.when))


def fill_of(
    spec: SectionSpec, earlier: Sequence[SectionSpec], sources: AgentSources, memo: Memo
) -> tuple[Fill | None, Sequence[Problem]]:
    """The source of a section, compiled, and what is wrong with it.

    Args:
        spec: the section.
        earlier: the sections before it, for limits that several share.
        sources: the files of the agent.
        memo: from earlier builds.
    """
    try:
        return _compiled(spec, earlier, sources, memo), ()
    except CuecardError as error:
        return None, error.problems


def _compiled(spec: SectionSpec, earlier: Sequence[SectionSpec], sources: AgentSources, memo: Memo) -> Fill | None:
    name = f"sections.{spec.id}"
    if spec.files:
        pool = [s.files for s in earlier if s.files and s.files.pool == spec.files.pool] if spec.files.pool else []
        own = trusted if not spec.files.supplied or spec.trust == "author" else _as_it_is
        return compile_files(spec.files, f"{name}.files", earlier=pool, printed=own)
    return None


def _as_it_is(text: str) -> str:
    return text


def _trusted(value: Json) -> Json:
    """A value whose texts are an author's, also those inside lists and objects."""
    if isinstance(value, str):
        return trusted(value)
    if isinstance(value, Mapping):
        return {key: _trusted(item) for key, item in value.items()}
    return [_trusted(item) for item in value] if isinstance(value, (list, tuple)) else value
