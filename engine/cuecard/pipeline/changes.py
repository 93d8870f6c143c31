"""What changed between two prompts, and why."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from cuecard.agent import CONTENT, CURRENT_DATE, PROTOCOLS, SUMMARY, WORKING_MEMORY
from cuecard.model import CacheVerdict, Cut, Manifest, SectionRecord, Tier
from cuecard.pipeline.cache_report import ProviderReason

ChangeKind: TypeAlias = Literal["added", "removed", "changed", "moved", "same"]
"""What happened to a section."""

CauseKind: TypeAlias = Literal["input", "memory", "clock", "file edit", "discovery", "order", "delivery", "compaction"]
"""Why: something that the host supplied, the working memory, the time, an edited file, discovered or removed tools,
another order, another delivery, or a shortened history: another summary, or a system prompt that includes what was
appended before.
"""

SectionPlace: TypeAlias = Literal["system", "message", "appended"]
"""Where a section is: in the system prompt, in a message of its own, or appended to the conversation."""


@dataclass(frozen=True, slots=True)
class Cause:
    """Why a section changed.

    `names` are those of inputs or tools, or both deliveries; `content:ID` is the content that a section's source made
    from files, tools or skills. `source` is a place as written in the manifest.
    """

    kind: CauseKind
    names: tuple[str, ...] = ()
    source: str = ""

    def __str__(self) -> str:
        """Such as `input user_name`, `discovery list_pages, create_page` or `file edit agent.xml:3`."""
        joined = (" -> " if self.kind == "delivery" else ", ").join(self.names)
        return " ".join(part for part in (self.kind, joined, self.source) if part)


@dataclass(frozen=True, slots=True)
class Change:
    """One section in both prompts.

    Attributes:
        id: the section's id; of an appended block that differs, the later one.
        kind: what happened to it.
        causes: every reason found, the likeliest first; empty if the section is the same.
        tokens_before: in the encoding of the earlier manifest; 0 if the section did not exist.
        tokens_after: in that of the later one; 0 if it no longer exists.
        placement: in the system prompt, or appended to the conversation.
        tier: how often it may change.
        source: where it is written, or which search result or call brought it.
        at_before: its position in `Manifest.sections` of the earlier prompt, from 0; None if it did not exist.
        at_after: the same in the later prompt.
    """

    id: str
    kind: ChangeKind
    causes: tuple[Cause, ...]
    tokens_before: int
    tokens_after: int
    placement: SectionPlace
    tier: Tier
    source: str
    at_before: int | None
    at_after: int | None

    @property
    def cause(self) -> Cause | None:
        """The likeliest reason; None if the section is the same."""
        return self.causes[0] if self.causes else None


@dataclass(frozen=True, slots=True)
class Break:
    """The first section at which the later prompt no longer begins with the earlier one.

    `tokens` are those of the later prompt from this section to its end: a cache that has seen only the earlier prompt
    holds none of them. They are counted by section, so the common start of a changed section counts as lost.
    """

    id: str
    placement: SectionPlace
    causes: tuple[Cause, ...]
    tokens: int

    @property
    def cause(self) -> Cause:
        """The likeliest reason."""
        return self.causes[0]

    def __str__(self) -> str:
        """Such as `usage: discovery cms_createPage`."""
        return f"{self.id}: {'; '.join(str(cause) for cause in self.causes)}"


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two prompts: each section in the order of the prompt, and where the start they share ends.

    `first_break` is None if the later prompt equals the earlier one, or only appends blocks to it. `told` is the
    provider's report on the later request, if its answer was given, and `verdict` says whether both agree.
    `other_model` names both models if they differ, since their caches have nothing in common.
    """

    changes: tuple[Change, ...]
    first_break: Break | None
    tokens_before: int
    tokens_after: int
    told: ProviderReason | None = None
    verdict: CacheVerdict | None = None
    other_model: str = ""

    @property
    def differs(self) -> bool:
        """Whether any section differs."""
        return any(change.kind != "same" for change in self.changes)


_BUILT_IN = (WORKING_MEMORY, CURRENT_DATE, SUMMARY)


@dataclass(frozen=True, slots=True)
class Pair:
    """Two manifests, earlier and later."""

    before: Manifest
    after: Manifest

    @property
    def edited(self) -> bool:
        """Whether the configuration differs."""
        return self.before.configuration.sha256 != self.after.configuration.sha256

    @property
    def redelivered(self) -> bool:
        """Whether the delivery differs."""
        return self.before.delivery.name != self.after.delivery.name

    @property
    def compacted(self) -> bool:
        """Whether the later prompt is a new baseline because the history was shortened; a cut says so."""
        new = (cut for cut in self.after.cuts if cut not in self.before.cuts)
        return any(cut.what == "baseline" and cut.reason.startswith("compacted") for cut in new)

    @property
    def in_one_turn(self) -> bool:
        """Whether both are of one turn: neither new texts of a message nor a new end of others is between them."""
        one, other = (
            ({each.source for each in made.sections if _is_update(each)}, {cut for cut in made.cuts if _ended(cut)})
            for made in (self.before, self.after)
        )
        return one == other

    @property
    def folded(self) -> bool:
        """Whether something that was appended before no longer is."""
        still = {record.source for record in self.after.sections if record.placement == "appended"}
        return any(r.placement == "appended" and r.source not in still for r in self.before.sections)


_TRIGGERS = ("call ", "result ", "search result")


def brought_by(record: SectionRecord) -> str:
    """What brought an appended text: the call or result that its `source` names, else the section in its id, since the
    place of a section moves with every line that is written above it.
    """
    named = record.source.startswith(_TRIGGERS)
    return record.source if named else record.id.removesuffix(f"-{record.sha256[:12]}")


def find_causes(pair: Pair, old: SectionRecord | None, new: SectionRecord | None) -> tuple[Cause, ...]:
    """Why the section changed; at least one of `old` and `new` is given.

    A different value, protocol or tool explains a change in whatever reads it. What none of them explains comes from
    another delivery or an edited file; otherwise from a new baseline, if what was appended before is gone; otherwise
    from something of the host without a fingerprint, which is an `input` without a name. If a file was edited *and* a
    value differs, the value is named, since the manifest cannot tell which of the two the text shows.
    """
    there = [record for record in (old, new) if record is not None]
    tools = any(_holds_protocols(record) for record in there)
    compaction = (Cause("compaction"),) if pair.compacted and (old or there[0].placement != "appended") else ()
    found = (*compaction, *(_tools(pair, old, new) if tools else ()), *_values(pair, old, new))
    if found:
        return found
    edit = Cause("file edit", source=there[-1].source if there[-1].placement != "appended" else "")
    delivery = Cause("delivery", (pair.before.delivery.name, pair.after.delivery.name))
    likely = [*((delivery,) if pair.redelivered else ()), *((edit,) if pair.edited else ())]
    if likely:
        return (likely[0],) if tools else (likely[-1],)
    were, are = pair.before.configuration, pair.after.configuration
    chosen = tuple(kind for kind in ("profile", "variant") if getattr(were, kind) != getattr(are, kind))
    # An update although no value differs now is about a value that changed and changed back.
    return (Cause("compaction"),) if pair.folded and not (new and _is_update(new)) else (Cause("input", chosen),)


def _holds_protocols(record: SectionRecord) -> bool:
    return PROTOCOLS in record.reads or (record.placement == "appended" and not _is_update(record))


def _is_update(record: SectionRecord) -> bool:
    return record.placement == "appended" and record.source.startswith("call ")


def is_of_turn(record: SectionRecord) -> bool:
    """Whether it is a text that ends with the turn."""
    return record.placement == "appended" and record.reason.startswith("for this turn")


def _ended(cut: Cut) -> bool:
    return cut.what == "baseline" and cut.reason.startswith("one-turn text ended")


def _values(pair: Pair, old: SectionRecord | None, new: SectionRecord | None) -> Iterator[Cause]:
    before, after = pair.before.inputs, pair.after.inputs
    differing = [name for name in {**after, **before} if before.get(name) != after.get(name)]
    reads = {name for record in (old, new) if record for name in record.reads}
    if new and _is_update(new):
        reads = {*differing}
    names = [name for name in differing if name in reads]
    made = [name for name in names if name.startswith(CONTENT)]
    inputs = sorted(name for name in names if name not in _BUILT_IN and name not in made)
    clock = CURRENT_DATE in reads and (made or CURRENT_DATE in names)
    # The content of a source is named if nothing that it reads differs, and no file.
    inputs += made if not (inputs or clock or pair.edited) else []
    if inputs:
        yield Cause("input", tuple(inputs))
    if WORKING_MEMORY in names:
        yield Cause("memory")
    if clock:
        yield Cause("clock")
    if SUMMARY in names:
        yield Cause("compaction")
    gone = tuple(tool for tool in pair.before.active_tools if tool not in pair.after.active_tools)
    if gone and new and _is_update(new):
        yield Cause("discovery", gone)


def _tools(pair: Pair, old: SectionRecord | None, new: SectionRecord | None) -> Iterator[Cause]:
    """Added or removed tools, edited protocols, another order."""
    were, are = _protocols(pair.before, old), _protocols(pair.after, new)
    known = {p.id for p in pair.before.protocols}, {p.id for p in pair.after.protocols}
    came = [p for name, p in are.items() if name not in were and name not in known[0]]
    went = [p for name, p in were.items() if name not in are and name not in known[1]]
    # A core tool, or a tool of a frozen prompt, is not discovered: it comes with an edit, or with another delivery.
    configured = [p for p in (*came, *went) if not p.reason.startswith("discovered")]
    moved = tuple(p.id for p in (*came, *went) if p not in configured or not (pair.edited or pair.redelivered))
    if moved:
        yield Cause("discovery", moved)
    rewritten = [p for name, p in are.items() if name in were and were[name].sha256 != p.sha256]
    if pair.edited and not pair.redelivered:
        rewritten += configured
    yield from (Cause("file edit", (p.id,), p.source) for p in rewritten)
    shared = [name for name in were if name in are]
    if shared != [name for name in are if name in were]:
        yield Cause("order", tuple(shared))
    if old is None or new is None:
        yield from _elsewhere(pair, {**were, **are}, gone=new is None)


def _elsewhere(pair: Pair, tools: Iterable[str], *, gone: bool) -> Iterator[Cause]:
    """Tools of a removed or new block that the other prompt has in another block."""
    others = (pair.after if gone else pair.before).protocols
    appended = {protocol.id for protocol in others if protocol.placement == "appended"}
    moved = tuple(tool for tool in tools if tool in appended)
    if moved:
        yield Cause("order", moved)


def _protocols(manifest: Manifest, record: SectionRecord | None) -> dict[str, SectionRecord]:
    """The protocols in this section, by tool."""
    if record is None:
        return {}
    there = {p.id: p for p in manifest.protocols if p.placement == record.placement}
    if record.placement != "appended":
        return there
    after = {d.tool: d.after_call_id for d in manifest.discovered}
    sources = {tool: f"search result {call}" if call else "search result" for tool, call in after.items()}
    return {name: protocol for name, protocol in there.items() if sources.get(name) == record.source}
