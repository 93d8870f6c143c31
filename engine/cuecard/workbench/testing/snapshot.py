"""A prompt as a text file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from cuecard.errors import InputError, Problem, Span
from cuecard.model import CountTokens, RenderedResult, SectionRecord, Step


def section_texts(step: Step) -> tuple[tuple[SectionRecord, str], ...]:
    """Each section of the manifest with its text: in the system prompt, separate messages, or appended blocks."""
    texts = {
        "system": iter([segment.text for segment in step.segments]),
        "appended": iter([block.text for block in step.appended]),
    }
    # They directly follow the system prompt, so the first message with an id is the section.
    messages = {message.id: str(message.content) for message in reversed(step.messages)}
    return tuple(
        (record, messages.get(record.id, "") if record.placement == "message" else next(texts[record.placement]))
        for record in step.manifest.sections
    )


RESULT = "result: "
"""The prefix of the names of parts that are results of tools, and so no part of the prompt."""

FORMAT = "cuecard snapshot 1"

_HEADER = re.compile(
    r"=== (?P<name>.*?) \| (?P<tier>\w+) \| (?P<tokens>[\d,]+) tokens?(?P<open> \| no newline at the end)?"
)
_ESCAPED = re.compile(r"^(\\*===)", re.MULTILINE)
_LEFT_OUT = "=== left out"
_AGAIN = "rewrite it: `cuecard test --update`, or `pytest --cue-update`"


@dataclass(frozen=True, slots=True)
class SnapshotSection:
    """One section of a snapshot.

    Attributes:
        name: the id of the section or, for an appended block, its place.
        tier: how often it may change.
        tokens: its cost in tokens.
        text: its text.
    """

    name: str
    tier: str
    tokens: int
    text: str


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A prompt in writing.

    Attributes:
        facts: facts about the whole prompt: agent, delivery, tokens, tools.
        parts: its sections in their order.
        left_out: what was left out, and why.
    """

    facts: Mapping[str, str]
    parts: tuple[SnapshotSection, ...]
    left_out: tuple[str, ...] = ()

    @classmethod
    def of(cls, step: Step, results: Iterable[SnapshotSection] = ()) -> Snapshot:
        """The snapshot of a step, and of results as the model reads them."""
        manifest = step.manifest
        facts = {
            "agent": manifest.configuration.agent,
            "profile": manifest.configuration.profile,
            "variant": manifest.configuration.variant,
            "delivery": manifest.delivery.name,
            "model": manifest.delivery.model,
            "tokens": f"{manifest.total_tokens:,}",
            "tools": ", ".join(step.active_tools),
        }
        texts = section_texts(step)
        parts = named_parts((_name(r.id, r.placement, r.source), r.tier, r.tokens, text) for r, text in texts)
        cuts = tuple(" ".join(f"{cut.what}: {cut.reason}".split()) for cut in manifest.cuts)
        told = {key: " ".join(value.split()) for key, value in facts.items() if value}
        return cls(told, (*parts, *results), cuts)

    @classmethod
    def parse(cls, text: str, name: str) -> Snapshot:
        """The snapshot that `to_text` wrote; errors call it `name`.

        Raises:
            InputError: when it is not a snapshot, or has another format.
        """
        text = as_written(text)
        first, _, rest = text.partition("\n")
        if first != FORMAT:
            told = "this is a snapshot of another version" if first.startswith("cuecard snapshot") else "no snapshot"
            raise InputError(Problem("bad-snapshot", told, _AGAIN, name, Span(1, 1), first))
        head, *blocks = re.split(r"^(?==== )", rest, flags=re.MULTILINE)
        facts = dict(line.split(": ", 1) for line in head.splitlines() if ": " in line)
        left_out: tuple[str, ...] = ()
        if blocks and blocks[-1].startswith(f"{_LEFT_OUT}\n"):
            left_out = tuple(blocks.pop().splitlines()[1:])
        line = text.count("\n", 0, len(text) - len("".join(blocks))) + 1
        return cls(facts, tuple(_part(block, name, line) for block in blocks), left_out)

    def to_text(self) -> str:
        """The snapshot as text; equal snapshots, and only those, give equal texts."""
        head = "".join(f"{key}: {value}\n" for key, value in self.facts.items())
        body = "".join(_written(part) for part in self.parts)
        tail = "".join(f"{line}\n" for line in (_LEFT_OUT, *self.left_out)) if self.left_out else ""
        return f"{FORMAT}\n{head}{body}{tail}"


def as_written(text: str) -> str:
    """The text of a snapshot that was checked out with other line ends, as it was written."""
    return text.replace("\r\n", "\n") if text.startswith(f"{FORMAT}\r\n") else text


def result_parts(results: Iterable[RenderedResult], count: CountTokens) -> tuple[SnapshotSection, ...]:
    """Results as parts of a snapshot."""
    return tuple(named_parts((RESULT + each.tool, "step", count(each.text), each.text) for each in results))


def counted(tokens: int) -> str:
    """A number of tokens, for people."""
    return f"{tokens:,} {'token' if tokens == 1 else 'tokens'}"


def _name(section: str, placement: str, source: str) -> str:
    """Blocks are named by their place, since their ids are derived from their texts."""
    return f"appended: {source}" if placement == "appended" else section


def named_parts(found: Iterator[tuple[str, str, int, str]]) -> Iterator[SnapshotSection]:
    """Parts with unique names: the second with the same name is `name (2)`."""
    seen: dict[str, int] = {}
    for name, tier, tokens, text in found:
        seen[name] = seen.get(name, 0) + 1
        yield SnapshotSection(name if seen[name] == 1 else f"{name} ({seen[name]})", tier, tokens, text)


def _written(part: SnapshotSection) -> str:
    open_end = "" if part.text.endswith("\n") else " | no newline at the end"
    text = _ESCAPED.sub(r"\\\1", part.text) + ("\n" if open_end else "")
    return f"=== {part.name} | {part.tier} | {counted(part.tokens)}{open_end}\n{text}"


def _part(block: str, name: str, line: int) -> SnapshotSection:
    header, _, text = block.partition("\n")
    found = _HEADER.fullmatch(header)
    if found is None:
        raise InputError(
            Problem("bad-snapshot", "this line does not begin a section", _AGAIN, name, Span(line, 1), header)
        )
    text = re.sub(r"^\\(\\*===)", r"\1", text, flags=re.MULTILINE)
    text = text.removesuffix("\n") if found["open"] else text
    return SnapshotSection(found["name"], found["tier"], int(found["tokens"].replace(",", "")), text)
