"""Sections with alternative texts, and sections that wait for others: what they read, and invalid combinations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from cuecard.agent.sections.conditions import parts_of, sections_asked
from cuecard.agent.sections.section import Section
from cuecard.agent.sections.selections import Written
from cuecard.config.documents.document import Document, Path
from cuecard.config.sections.condition import ConditionSpec
from cuecard.config.sections.section_keys import TEXTS
from cuecard.errors import Problem, did_you_mean


def alternatives(written: Written) -> Sequence[Written]:
    """The section once for each of its alternative texts."""
    if written.spec.choose is None:
        return (written,)
    at = written.place("choose")
    texts = ({**dict.fromkeys(TEXTS), "text": choice.text, "file": choice.file} for choice in written.spec.choose)
    return [Written(written.spec.model_copy(update=text), (*at, index)) for index, text in enumerate(texts)]


def conditions_of(written: Written) -> Iterator[tuple[Path, ConditionSpec]]:
    """Its conditions, each with its place."""
    if written.spec.when:
        yield written.place("when"), written.spec.when
    for index, choice in enumerate(written.spec.choose or ()):
        if choice.condition:
            yield (*written.place("choose"), index, "model" if choice.model else "when"), choice.condition


def check_waiting(
    document: Document, written: Written, section: Section, known: Mapping[str, Section]
) -> Iterator[Problem]:
    """Problems of conditions on sections that do not exist, that wait themselves, or that change from step to step."""
    for at, condition in conditions_of(written):
        for place, part in parts_of(condition):
            if part.empty is not None:
                path = (*at, *place, "empty")
                if at[-1] != "when" or "choose" in at:
                    message = "a section's text is chosen before any section is rendered"
                    yield document.problem(path, "wrong-condition", message, "split it into two sections with `when`")
                else:
                    yield from _asked(document, path, part.empty, section, known)


def _asked(
    document: Document, at: Path, name: str, section: Section, known: Mapping[str, Section]
) -> Iterator[Problem]:
    other = known.get(name)
    if other is None:
        yield document.problem(at, "unknown-section", f"there is no section `{name}`", did_you_mean(name, known))
    elif name == section.id or (other.spec.when and any(sections_asked(other.spec.when))):
        message = (
            f"`{name}` itself depends on another section" if name != section.id else "a section cannot depend on itself"
        )
        yield document.problem(at, "wrong-condition", message, "refer to a section that depends on no other")
    elif other.tier == "step":
        message = f"`{name}` changes from step to step, but sections are chosen once per call"
        yield document.problem(at, "wrong-condition", message, "refer to a section of tier `static` or `call`")
