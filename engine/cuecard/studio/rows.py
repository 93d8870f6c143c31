"""The rows of a prompt: sections, messages and what was left out, each where the model reads it or would have."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Literal

from cuecard.engine import Engine
from cuecard.errors import Problem
from cuecard.model import Cut, Manifest, SectionRecord
from cuecard.records import dataclass
from cuecard.studio.agents import AgentState
from cuecard.studio.problems import editor_link, short_place
from cuecard.studio.prompt_beside import why_cut
from cuecard.studio.steps import PromptLine, StudioRequest

_QUOTED = 80
"""Characters of a text that a row quotes."""

_CUE = re.compile(r"(BEFORE|AFTER|NEXT|GOTCHA):")
_TAG = re.compile(r"\s*</?[\w.:-]+(?: [^<>]*)?>\s*")
_ONE = re.compile(r"\s*<([\w.:-]+)>(.*)</\1>\s*")
_HASHED = re.compile(r"(.+)-[0-9a-f]{12}")
_RULE = re.compile(r"\b(?:memory|budget|history|tools|skills|files)\.[a-z_]+(?:\.[a-z_]+)*")
_MEMORY, _PROTOCOLS = "workingMemory", "activeProtocols"


@dataclass(frozen=True, slots=True)
class PromptRow:
    """One row of the prompt.

    Attributes:
        kind: a section, a message, or something that was left out.
        name: what stands first: the id of a section, its first tool, who speaks, or what was left out.
        said: what it is, in words.
        quoted: a text of agents, users or tools that says what it is; shown in quotes.
        id: the id of the section; empty for others.
        tier: how often its text may change.
        reason: why it has this tier, or why it is there; empty for the tags around a prompt.
        place: where it is written, as `file:line`; empty if unknown.
        link: opens it in the editor; empty if it cannot be opened.
        tokens: what it costs.
        share: the percentage of the prompt.
        text: as it was sent; None where texts were not recorded.
        news: whether it came in this step, or has changed; empty if it was there before.
        more: how many other tools it is about.
        hurt: whether an error of the files is in it.
        tools: the tools whose entries it shows.
        section: the section that its text is written in; empty where it is made of entries.
    """

    kind: Literal["section", "message", "cut"]
    name: str
    said: str = ""
    quoted: str = ""
    id: str = ""
    tier: str = ""
    reason: str = ""
    place: str = ""
    link: str = ""
    tokens: int = 0
    share: float = 0.0
    text: str | None = None
    news: Literal["", "entered", "changed"] = ""
    more: int = 0
    hurt: bool = False
    tools: tuple[str, ...] = ()
    section: str = ""

    @property
    def pieces(self) -> Iterator[tuple[str, str]]:
        """The text in pieces, each with its kind: a `tag`, a `cue`, or plain text."""
        for line in (self.text or "").splitlines(keepends=True):
            if cue := _CUE.match(line):
                yield "cue", cue[0]
                yield "", line[cue.end() :]
            else:
                yield "tag" if _TAG.fullmatch(line) else "", line


class Rows:
    """Makes the rows of one request."""

    def __init__(
        self, state: AgentState, engine: Engine, editor: str, sent: StudioRequest, before: StudioRequest | None
    ) -> None:
        self._state, self._engine, self._editor = state, engine, editor
        self._manifest, self._texts, self._lines = sent.manifest, sent.texts, sent.lines
        known = before.manifest.sections if before else ()
        self._first, self._known = before is None, {each.sha256 for each in known}
        self._were = {each.id for each in known}
        self._by_id = {each.id: each for each in self._manifest.sections}
        self._queries = {call.id: call.query for line in self._lines for call in line.calls if call.query}
        self._hurt = hurt_sections(state)

    def made(self) -> tuple[tuple[PromptRow, ...], tuple[PromptRow, ...]]:
        """The rows of the system prompt, and those behind it; what was left out stands where it would have stood."""
        system, after = list(self._system()), list(self._after())
        for cut in _grouped(self._manifest.cuts):
            self._place(self._cut(cut), cut[0], system, after)
        return (*system, *self._tags()), tuple(after)

    def _frames(self) -> dict[str, tuple[SectionRecord, SectionRecord]]:
        """The tags around the prompt: pairs of an element's beginning and its end."""
        ends = {each.id[1:]: each for each in self._manifest.sections if each.id.startswith("/")}
        return {name: (self._by_id[name], end) for name, end in ends.items() if name in self._by_id}

    def _tags(self) -> Iterator[PromptRow]:
        for name, (begin, end) in self._frames().items():
            yield PromptRow(
                "section", name, "the tags around it", id=name, tier=begin.tier, tokens=begin.tokens + end.tokens
            )

    def _system(self) -> Iterator[PromptRow]:
        frames = self._frames()
        for record in self._manifest.sections:
            if record.placement != "appended" and record.id.removeprefix("/") not in frames:
                yield self._section(record)

    def _after(self) -> Iterator[PromptRow]:
        blocks = (
            PromptLine("block", block=each.id) for each in self._manifest.sections if each.placement == "appended"
        )
        for line in self._lines or blocks:
            if line.who != "block":
                yield _message(line)
            elif line.block in self._by_id:
                yield self._section(self._by_id[line.block])

    def _section(self, record: SectionRecord) -> PromptRow:
        text, whole = self._texts.get(record.id), self._manifest.total_tokens
        row = PromptRow(
            "section",
            record.id,
            quoted=_first_line(text),
            id=record.id,
            tier=record.tier,
            reason=self._reason(record),
            tokens=record.tokens,
            share=100 * record.tokens / whole if whole else 0.0,
            text=text,
            news=self._news(record),
            hurt=record.id in self._hurt,
        )
        if record.placement == "appended":
            return self._block(record, row)
        tools = [each for each in self._manifest.protocols if each.placement == "system"]
        if _PROTOCOLS in record.reads and tools:
            row = replace(row, said=_tools_in(tools), quoted="", tools=tuple(each.id for each in tools))
        elif text is not None and not row.quoted:
            row = replace(row, said="empty")
        return self._placed(replace(row, section="" if row.tools else record.id), record.source)

    def _block(self, record: SectionRecord, row: PromptRow) -> PromptRow:
        """The row of a block: it is called by its first tool, or by the section that it brings up to date."""
        named = record.reason.partition(": ")[2].partition("; ")[0].split(", ")
        tools = [each for each in self._manifest.protocols if each.placement == "appended" and each.id in named]
        if tools:
            query = self._queries.get(_call_of(self._manifest, tools[0].id), "")
            more = f"and {len(tools) - 1} more" if len(tools) > 1 else ""
            told = ", ".join(filter(None, (more, "after the result of" if query else "")))
            row = replace(row, name=tools[0].id, said=told, quoted=query, more=len(tools) - 1)
            row = replace(row, tools=tuple(each.id for each in tools))
            return self._placed(row, tools[0].source)
        inside = [each for each in self._by_id.values() if f"\n<{each.id}>" in f"\n{row.text or ''}"]
        name = inside[0].id if inside else _plain(record.id)
        said = "replaces what the system prompt says" if inside else record.reason
        row = replace(row, section=inside[0].id if inside else "")
        return self._placed(replace(row, name=name, said=said), inside[0].source if inside else "")

    def _placed(self, row: PromptRow, source: str) -> PromptRow:
        link = editor_link(self._editor, self._state.path.parent, source)
        return replace(row, place=short_place(source), link=link)

    def _news(self, record: SectionRecord) -> Literal["", "entered", "changed"]:
        if self._first or record.sha256 in self._known:
            return ""
        return "changed" if record.id in self._were else "entered"

    def _reason(self, record: SectionRecord) -> str:
        if record.placement == "appended":
            found = record.reason.startswith("discovered: ") and record.source.startswith("search result")
            return "instructions of tools that a search found" if found else record.reason
        if record.tier == "call" and self._manifest.delivery.places_blocks:
            return f"{record.reason}; it stays as the conversation began, and changes follow below"
        return record.reason

    def _cut(self, cuts: Sequence[Cut]) -> PromptRow:
        """What was left out for one reason: by which rule, and where the rule is written."""
        names, reason = ", ".join(cut.what for cut in cuts), why_cut(cuts[0], self._manifest)
        row = PromptRow("cut", names, reason, tokens=sum(cut.tokens for cut in cuts))
        rule = _RULE.search(reason)
        if rule is None:
            return row
        value = _value(self._engine, rule[0])
        source = self._state.place_of(tuple(rule[0].split(".")))
        told = f"{reason}, which is {value:,}" if value is not None and str(value) not in reason else reason
        link = editor_link(self._editor, self._state.path.parent, source)
        return replace(row, said=told, place=short_place(source), link=link)

    def _place(self, row: PromptRow, cut: Cut, system: list[PromptRow], after: list[PromptRow]) -> None:
        """Put a row behind the last one that shows what it is a part of."""
        order = self._engine.sections
        if cut.what in order:
            before = set(order[: order.index(cut.what)])
            behind = (n + 1 for n, each in enumerate(system) if before & {each.id, *each.name.split(", ")})
            system.insert(max(behind, default=0), row)
            return
        of_memory = cut.what.startswith("memory ")
        reads = _MEMORY if of_memory else _PROTOCOLS if cut.what in self._engine.tools else ""
        shown = [each.id for each in self._by_id.values() if reads and reads in each.reads]
        for rows in (after, system):
            places = [n for n, each in enumerate(rows) if each.name in shown or each.id in shown]
            if rows is after and reads == _PROTOCOLS and self._manifest.delivery.places_blocks and after:
                places = [len(after) - 1]
            if places:
                rows.insert(places[-1] + 1, row)
                return


def hurt_sections(state: AgentState) -> frozenset[str]:
    """The sections that the errors of the files are in, as far as their texts show that."""
    found: set[str] = set()
    sections = state.engine.agent.sections if state.engine and state.broken else ()
    for problem in state.problems:
        text = state.text_of(problem.name)
        if problem.severity != "error" or text is None:
            continue
        here = {each.id for each in sections if each.source.rpartition(":")[0] == text.path}
        found |= here if len(here) == 1 else set(_above(problem, text.text, here))
    return frozenset(found)


def _above(problem: Problem, text: str, sections: Iterable[str]) -> Iterator[str]:
    """The section whose tag is the last one up to the problem."""
    lines = text.splitlines()[: problem.span.line if problem.span else 0]
    for line in reversed(lines):
        for each in sections:
            if line.lstrip().startswith((f"<{each}>", f"<{each} ")):
                yield each
                return


def _grouped(cuts: Sequence[Cut]) -> Iterator[list[Cut]]:
    """Cuts of one kind that follow each other and have the same reason are one row."""
    held: list[Cut] = []
    for cut in cuts:
        if held and (cut.reason != held[0].reason or cut.what.split(" ")[0] != held[0].what.split(" ")[0]):
            yield held
            held = []
        held.append(cut)
    if held:
        yield held


def _value(engine: Engine, rule: str) -> int | None:
    """The number that a rule of the agent file says; None if it says none."""
    value: object = engine.agent.spec
    for name in rule.split("."):
        value = getattr(value, name, None)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _tools_in(tools: Sequence[SectionRecord]) -> str:
    core = sum(each.reason == "core tool" for each in tools)
    told = [f"{core} core tool{'' if core == 1 else 's'}"] if core else []
    told += [f"{len(tools) - core} found" if core else f"{len(tools)} tools"] if len(tools) > core else []
    return ", ".join(told)


def _call_of(manifest: Manifest, tool: str) -> str:
    return next((each.after_call_id or "" for each in manifest.discovered if each.tool == tool), "")


def _plain(block: str) -> str:
    """The id of a block without its fingerprint."""
    found = _HASHED.fullmatch(block)
    return found[1] if found else block


def _message(line: PromptLine) -> PromptRow:
    if line.text:
        return PromptRow("message", line.who, quoted=_short(line.text))
    told = ", ".join(dict.fromkeys(call.tool for call in line.calls))
    queries = ", ".join(f"“{_short(call.query)}”" for call in line.calls if call.query)
    return PromptRow("message", line.who, " ".join(filter(None, (told, queries))) or "not recorded")


def _first_line(text: str | None) -> str:
    for line in (text or "").splitlines():
        inside = _ONE.fullmatch(line)
        told = inside[2] if inside else line
        if told.strip() and (inside or not _TAG.fullmatch(line)):
            return _short(told)
    return ""


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _QUOTED else line[: _QUOTED - 1] + "…"
