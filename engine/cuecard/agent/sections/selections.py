"""Which sections a profile and a variant select, and how they change them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from cuecard.agent.sections.layout import groups_around
from cuecard.config.agent_file import AgentFile
from cuecard.config.documents.document import Document, Path
from cuecard.config.sections.section_spec import SectionPatch, SectionSpec, SelectionSpec, patched
from cuecard.errors import Problem, did_you_mean
from cuecard.records import dataclass

Edition: TypeAlias = tuple[str, str]
"""A profile and a variant, by name; empty for none."""


@dataclass(frozen=True, slots=True, eq=False)
class EditionSource:
    """A section with its place in the agent file, and the place of its text, which a profile may have replaced."""

    spec: SectionSpec
    at: Path
    patches: tuple[tuple[SectionPatch, Path], ...] = ()

    def place(self, key: str) -> Path:
        """The place of one of its keys."""
        for patch, at in reversed(self.patches):
            if key in patch.model_fields_set:
                return (*at, key)
        return (*self.at, key)


def written_editions(spec: AgentFile) -> dict[Edition, tuple[EditionSource, ...]]:
    """The sections for every combination of profile and variant, including none."""
    everything = tuple(EditionSource(s, ("sections", i)) for i, s in enumerate(spec.sections))
    profiles = {"": everything} | {
        name: _selected(everything, chosen, ("profiles", name)) for name, chosen in spec.profiles.items()
    }
    return {
        (profile, variant): _selected(sections, spec.variants[variant], ("variants", variant)) if variant else sections
        for profile, sections in profiles.items()
        for variant in ("", *spec.variants)
    }


def check_selections(document: Document, spec: AgentFile, removed: Mapping[str, str]) -> Iterator[Problem]:
    """Problems of duplicate section names, and of names of sections that do not exist.

    `removed` maps removed sections of lower files to the place that removed them, as `file:line:column`.
    """
    first: dict[str, int] = {}
    for index, section in enumerate(spec.sections):
        place = ("sections", index, "id")
        if section.id in first:
            other = document.span(("sections", first[section.id], "id")).line
            hint = f"the first is on line {other}; rename one"
            yield document.problem(place, "duplicate-section", f"two sections are named `{section.id}`", hint)
        first.setdefault(section.id, index)
    for path, name in _named(spec):
        if name not in first:
            gone = f"it is removed at {removed[name]}" if name in removed else did_you_mean(name, list(first))
            yield document.problem(path, "unknown-section", f"there is no section `{name}`", gone)
    yield from _patched_twice(document, spec)
    yield from _without_message(document, spec)


def check_groups(document: Document, spec: AgentFile, removed: Mapping[str, str]) -> Iterator[Problem]:
    """Problems of unknown groups, groups within themselves, and groups without sections.

    If a file has removed sections of another, groups of the latter may well be empty.
    """
    for path, name in _grouped(spec):
        if name and name not in spec.layout.groups:
            hint = did_you_mean(name, spec.layout.groups) or "declare it in `layout.groups`"
            yield document.problem(path, "unknown-group", f"`layout.groups` has no group `{name}`", hint)
    used = {name for _, name in _grouped(spec)}
    for name in spec.layout.groups:
        around = groups_around(spec.layout, name)
        if spec.layout.groups[around[0]].group == name:
            at, hint = ("layout", "groups", name, "group"), "name a group that encloses it, or remove `group`"
            yield document.problem(at, "wrong-value", f"the group `{name}` contains itself", hint)
        elif name not in used and not removed:
            hint, message = (
                f"give a section `group: {name}`, or remove the group",
                f"no section is in the group `{name}`",
            )
            place = ("layout", "groups", name)
            yield document.problem(place, "no-effect", message, hint, key=True, severity="warning")


def _patched_twice(document: Document, spec: AgentFile) -> Iterator[Problem]:
    for kind, selections in (("profiles", spec.profiles), ("variants", spec.variants)):
        for name, selection in selections.items():
            ids = [patch.id for patch in selection.sections]
            for index, changed in enumerate(ids):
                if changed in ids[:index]:
                    at, message = (kind, name, "sections", index, "id"), f"`{changed}` is changed twice here"
                    yield document.problem(at, "duplicate-section", message, "merge the two changes")


def _without_message(document: Document, spec: AgentFile) -> Iterator[Problem]:
    """Problems of sections in the order of messages that are part of the system prompt."""
    selections = (*spec.profiles.values(), *spec.variants.values())
    patches = [patch for selection in selections for patch in selection.sections]
    spoken = {section.id for section in (*spec.sections, *patches) if section.role != "system"}
    known = {section.id for section in spec.sections}
    for index, name in enumerate(spec.messages.order):
        if name in spec.messages.sections and name in known - spoken:
            message = f"the section `{name}` is part of the system prompt, not a message of its own"
            hint = "give it `role: user` or `role: assistant`, or remove it here"
            yield document.problem(("messages", "order", index), "wrong-value", message, hint)


def _named(spec: AgentFile) -> Iterator[tuple[Path, str]]:
    if spec.layout.boundary:
        yield ("layout", "boundary", "before"), spec.layout.boundary.before
    yield from ((("writable", name, "section"), each.section) for name, each in spec.writable.items())
    placed = spec.messages.sections
    yield from ((("messages", "order", i), name) for i, name in enumerate(spec.messages.order) if name in placed)
    for kind, selections in (("profiles", spec.profiles), ("variants", spec.variants)):
        for name, selection in selections.items():
            yield from (((kind, name, "include", i), n) for i, n in enumerate(selection.include or ()))
            yield from (((kind, name, "exclude", i), n) for i, n in enumerate(selection.exclude))
            yield from (((kind, name, "sections", i, "id"), p.id) for i, p in enumerate(selection.sections))


def _grouped(spec: AgentFile) -> Iterator[tuple[Path, str]]:
    yield from ((("sections", i, "group"), section.group) for i, section in enumerate(spec.sections))
    yield from ((("layout", "groups", name, "group"), group.group) for name, group in spec.layout.groups.items())
    for kind, selections in (("profiles", spec.profiles), ("variants", spec.variants)):
        for name, selection in selections.items():
            at = (kind, name, "sections")
            yield from (((*at, i, "group"), patch.group) for i, patch in enumerate(selection.sections))


def _selected(written: Sequence[EditionSource], selection: SelectionSpec, at: Path) -> tuple[EditionSource, ...]:
    patches = {patch.id: (patch, (*at, "sections", index)) for index, patch in enumerate(selection.sections)}
    return tuple(
        _patched(each, *patches[each.spec.id]) if each.spec.id in patches else each
        for each in written
        if (selection.include is None or each.spec.id in selection.include) and each.spec.id not in selection.exclude
    )


def _patched(written: EditionSource, patch: SectionPatch, at: Path) -> EditionSource:
    return EditionSource(patched(written.spec, patch), written.at, (*written.patches, (patch, at)))
