"""The budget of skills: what does not fit is skipped, and smaller texts after it may still fit."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from typing import Literal, TypeAlias

from cuecard.config.sections.skills_spec import SkillBudgetSpec
from cuecard.model import Cut
from cuecard.records import dataclass
from cuecard.template.guards.marks import MARKS, split_marks, unmarked

Unit: TypeAlias = Literal["characters", "bytes"]
"""Code points, or the bytes of UTF-8."""


def size_of(text: str, unit: Unit) -> int:
    """The size of a text, without the marks around data."""
    text = unmarked(text)
    return len(text.encode("utf-8", "surrogatepass")) if unit == "bytes" else len(text)


def prefix_of(text: str, room: int, unit: Unit) -> str:
    """As many whole characters from the start as fit, with all marks, so that none is left open."""
    kept = []
    for piece in split_marks(text):
        is_mark = piece in MARKS
        kept.append(piece if is_mark else _prefix_of(piece, room, unit))
        room -= 0 if is_mark else size_of(piece, unit)
    return "".join(kept)


def _prefix_of(text: str, room: int, unit: Unit) -> str:
    if unit == "characters":
        return text[: max(room, 0)]
    data = text.encode("utf-8", "surrogatepass")
    while 0 < room < len(data) and data[room] & 0xC0 == 0x80:
        room -= 1
    return data[: max(room, 0)].decode("utf-8", "surrogatepass")


@dataclass(frozen=True, slots=True)
class SkillBlock:
    """A text about one skill; `what` is its name in a cut. An empty `slug` means a text of the agent file."""

    what: str
    text: str
    slug: str = ""


@dataclass(slots=True)
class Page:
    """A text built block by block within a budget, and a record of what was left out. For use in a single thread.

    `end` always follows the blocks; texts after it go to `extras`. `omitted` has the slugs of incomplete skills,
    `shortened` those whose text was cut.
    """

    budget: SkillBudgetSpec | None
    start: str = ""
    end: str = ""
    blocks: list[SkillBlock] = field(default_factory=list)
    extras: list[SkillBlock] = field(default_factory=list)
    cuts: list[Cut] = field(default_factory=list)
    omitted: set[str] = field(default_factory=set)
    shortened: set[str] = field(default_factory=set)
    used: int = 0

    def __post_init__(self) -> None:
        self.used = self.size(self.start) + self.size(self.end)

    @property
    def has_room(self) -> bool:
        """Whether start and end fit into the budget."""
        return self.budget is None or self.used <= self.budget.limit

    def size(self, text: str) -> int:
        """The text in the budget's unit."""
        return size_of(text, self.budget.unit) if self.budget else len(unmarked(text))

    def add(self, block: SkillBlock, shorter: SkillBlock | None = None) -> None:
        """Add a block if it fits, or a shorter form that does; `shorter.what` names what is lost."""
        if self._take(block, self.blocks):
            return
        if shorter is not None:
            self.leave_out(shorter, self._reason)
            if self._take(SkillBlock(block.what, shorter.text, block.slug), self.blocks):
                return
        self.leave_out(block, self._reason)

    def add_extra(self, block: SkillBlock) -> None:
        """Add a text after the end, if it fits."""
        if block.text and not self._take(block, self.extras):
            self.leave_out(block, self._reason)

    def leave_out(self, block: SkillBlock, reason: str) -> None:
        """Record that a block was left out."""
        self.cuts.append(Cut(block.what, reason))
        if block.slug:
            self.omitted.add(block.slug)

    def squeeze_in(self, block: SkillBlock) -> None:
        """Add a text at the very end, cutting what precedes it if necessary, but never start or end."""
        if not block.text or self._take(block, self.extras):
            return
        limit = self.budget.limit if self.budget else 0
        room = limit - self.size(block.text) - self.size(self.end)
        if room < (self.size(self.start) if self.end else 1):
            self.leave_out(block, self._reason)
            return
        # If nothing closes the list, the text after it is cut first; otherwise, it would follow a truncated list.
        behind = [] if self.end else self.extras
        for dropped in self.extras if self.end else ():
            self.leave_out(dropped, f"cut to make room for {block.what}")
        self._cut([*self.blocks, *behind], room, f"cut to make room for {block.what}")
        self.extras = [block]
        self.used = self.size(self.text)

    @property
    def text(self) -> str:
        """All of it."""
        return self.start + _joined(self.blocks) + self.end + _joined(self.extras)

    @property
    def _reason(self) -> str:
        return f"no room in skills.budget ({self.budget.limit:,} {self.budget.unit})" if self.budget else ""

    def _prefix(self, text: str, room: int) -> str:
        return prefix_of(text, room, self.budget.unit if self.budget else "characters")

    def _take(self, block: SkillBlock, into: list[SkillBlock]) -> bool:
        size = self.size(block.text)
        if self.budget is not None and self.used + size > self.budget.limit:
            return False
        into.append(block)
        self.used += size
        return True

    def _cut(self, blocks: list[SkillBlock], room: int, reason: str) -> None:
        """Keep start and as much of these blocks as fits."""
        self.start = self._prefix(self.start, room)
        room -= self.size(self.start)
        self.blocks = []
        for block in blocks:
            kept = self._prefix(block.text, room)
            room -= self.size(kept)
            if kept != block.text:
                self.leave_out(block, reason)
                self.shortened.add(block.slug)
                room = 0
            self.blocks.append(SkillBlock(block.what, kept, block.slug))


def _joined(blocks: Iterable[SkillBlock]) -> str:
    return "".join(block.text for block in blocks)
