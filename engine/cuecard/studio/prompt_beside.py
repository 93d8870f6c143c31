"""The prompt beside a form: its sections, which of them the values of the form change, and what is left out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from operator import itemgetter

from cuecard.agent import Section
from cuecard.engine import Engine
from cuecard.model import Cut, Manifest, Step, Tier
from cuecard.records import dataclass

_BUDGET = "budget: "


@dataclass(frozen=True, slots=True)
class PromptPart:
    """A section of the prompt beside the form.

    Attributes:
        by_values: whether its text would be another one with every default.
        text: its text, if these values matter to it; empty otherwise.
    """

    id: str
    tier: Tier
    source: str
    tokens: int
    by_values: bool
    text: str


@dataclass(frozen=True, slots=True)
class Omission:
    """What one reason has left out."""

    names: tuple[str, ...]
    why: str


@dataclass(frozen=True, slots=True)
class PromptBeside:
    """The prompt with the values of the form.

    Attributes:
        without: the names of wrong values that it was made without.
        tally: how much was left out, in words.
    """

    tokens: int
    parts: tuple[PromptPart, ...]
    left_out: tuple[Omission, ...]
    without: tuple[str, ...]
    tally: str = ""


def prompt_beside(engine: Engine, step: Step, plain: Step | None, without: tuple[str, ...]) -> PromptBeside:
    """The prompt of a step, beside the one with every default; None where that cannot be made."""
    manifest = step.manifest
    known = {each.id: each for each in all_sections(engine)}
    frame = {each.id for edition in engine.agent.editions.values() for each in edition if each.frame}
    before = {each.id: each.sha256 for each in plain.manifest.sections} if plain else None
    texts = {each.id: each.text for each in step.segments}
    parts = []
    for each in manifest.sections:
        if each.id in frame:
            continue
        reads = {*each.reads, *(known[each.id].reads if each.id in known else ())}
        matters = bool(reads & engine.inputs.keys())
        by_values = before.get(each.id) != each.sha256 if before is not None else matters
        text = texts.get(each.id) or _appended(step, each.id, each.sha256)
        shown = text if matters or by_values else ""
        parts.append(PromptPart(each.id, each.tier, each.source, each.tokens, by_values, shown))
    left_out = tuple(_left_out(manifest))
    return PromptBeside(manifest.total_tokens, tuple(parts), left_out, without, _tally(manifest, known))


def _appended(step: Step, section: str, sha256: str) -> str:
    """The text of a section that stands in a block."""
    return next((each.text for each in step.appended if section in each.id or each.sha256 == sha256), "")


def why_cut(cut: Cut, manifest: Manifest) -> str:
    """Why something was left out; of a section that only its own budget cuts, it is the end."""
    return f"its end, over its budget of {cut.reason.removeprefix(_BUDGET)}" if is_end(cut, manifest) else cut.reason


def is_end(cut: Cut, manifest: Manifest) -> bool:
    """Whether the rest of a section is there."""
    return cut.reason.startswith(_BUDGET) and any(each.id == cut.what for each in manifest.sections)


def cuts_by_reason(manifest: Manifest) -> Iterator[tuple[str, tuple[str, ...]]]:
    """What was left out, by reason, in the order of their words."""
    cuts = sorted(((why_cut(cut, manifest), cut.what) for cut in manifest.cuts), key=itemgetter(0))
    for reason, held in groupby(cuts, key=itemgetter(0)):
        yield reason, tuple(what for _, what in held)


def _left_out(manifest: Manifest) -> Iterator[Omission]:
    """What was left out, by reason, in the order in which the reasons first occur."""
    by_reason: dict[tuple[str, str], list[str]] = {}
    for cut in manifest.cuts:
        kind, _, name = cut.what.rpartition(" ")
        by_reason.setdefault((kind, why_cut(cut, manifest)), []).append(name)
    for (kind, reason), names in by_reason.items():
        why = f"only when {reason.removeprefix('when: ')}" if reason.startswith("when: ") else reason
        yield Omission((*(f"{kind} {name}".strip() for name in names),), why)


def _tally(manifest: Manifest, known: Mapping[str, Section]) -> str:
    """How much was left out, in words."""
    counts: dict[str, int] = {}
    for cut in manifest.cuts:
        whole = cut.what in known and not is_end(cut, manifest)
        kind = "section" if whole else cut.what.partition(" ")[0] if " " in cut.what else "part"
        counts[kind] = counts.get(kind, 0) + 1
    if not counts:
        return ""
    said = [f"{number} {kind}{'' if number == 1 else 's'}" for kind, number in counts.items()]
    are = "is" if sum(counts.values()) == 1 else "are"
    listed = said[0] if len(said) == 1 else ", ".join(said[:-1]) + " and " + said[-1]
    return f"{listed} {are} left out"


def all_sections(engine: Engine) -> Iterator[Section]:
    """The sections of every profile and variant."""
    for edition in engine.agent.editions.values():
        yield from (each for each in edition if not each.frame)
