"""The structure of a prompt as another, tolerant reader finds it: written without the guards of the engine."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain

_ANGLES = "<‹＜﹤〈⟨〈❬❮❰"
_NAME = re.compile(r"</?([^\W\d][\w:.-]*)")
_RANK = re.compile(r"^ {0,3}(#{1,6})(?=\s|$)")
_TITLED = re.compile(r"^ {0,3}(#{1,6})\s+\S")
_UNDERLINE = re.compile(r"^ {0,3}(=+|-{2,})\s*$")  # one dash may be an entry of a list, and empty
_CODE = re.compile(r" {4}")  # in Markdown, what is indented so far is code, and no line of its own
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})(.*)$")
_BREAK = re.compile("\r\n|[\n\v\f\r\x1c-\x1e\x85\u2028\u2029]")


@dataclass(frozen=True)
class Reader:
    """What counts as structure: element names, ranks of headings, lines that begin with or are something.

    `entries` are what lines begin with where entries of a list stand, by section: elsewhere, nobody takes them for one.
    """

    names: frozenset[str]
    ranks: frozenset[str]
    begins: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()
    entries: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(
        cls, prompts: Iterable[str], begins: tuple[str, ...], lines: tuple[str, ...], entries: Mapping[str, str]
    ) -> Reader:
        """What harmless prompts are made of, and what else an agent's author writes."""
        texts = list(prompts)
        names = {name.casefold() for text in texts for name in _NAME.findall(text)}
        ranks = {found[1] for text in texts for line in _BREAK.split(text) if (found := _TITLED.match(line))}
        return cls(frozenset(names), frozenset(ranks), begins, lines, entries)

    def read(self, text: str, section: str = "") -> list[str]:
        """Elements in any spelling; marks at the beginnings of lines; in Markdown, those again that no fence hides."""
        entry = self.entries.get(section, "")
        marks = (self._marks(text, entry, fenced=fenced) for fenced in (False, *([True] if self.ranks else [])))
        return [*self._tags(text), *chain.from_iterable(marks)]

    def _tags(self, text: str) -> list[str]:
        seen = text
        if not text.isascii():
            seen = unicodedata.normalize("NFKC", "".join(c for c in text if unicodedata.category(c) != "Cf"))
        return [f"{slash}{name.casefold()}" for slash, name in self._tag.findall(seen)]

    @cached_property
    def _tag(self) -> re.Pattern[str]:
        names = "|".join(sorted(map(re.escape, self.names), key=len, reverse=True)) or "(?!)"
        return re.compile(rf"[{_ANGLES}]\s*(/?)\s*({names})(?![\w.:-])", re.IGNORECASE)

    def _marks(self, text: str, entry: str, *, fenced: bool) -> list[str]:
        found, fence, before = [], "", ""
        for line in _BREAK.split(text):
            mark = _FENCE.match(line) if fenced else None
            if mark and not fence and not (mark[1][0] == "`" and "`" in mark[2]):
                fence = mark[1]
            elif mark and fence and mark[1].startswith(fence) and not mark[2].strip():
                fence = ""
            elif not fence:
                found += self._mark(line, entry) or self._underline(line, before)
            before = line
        return found

    def _underline(self, line: str, before: str) -> list[str]:
        """The rank of a heading that is written as a text with a line under it."""
        under = _UNDERLINE.match(line)
        rank = {"=": "#", "-": "##"}[under[1][0]] if under and before.strip() else ""
        return [rank] if rank in self.ranks else []

    def _mark(self, line: str, entry: str) -> list[str]:
        rank, bare = _RANK.match(line), "" if _CODE.match(line) else line.strip()
        if rank and rank[1] in self.ranks:
            return [rank[1]]
        starts = [begin for begin in (*self.begins, entry) if begin and line.lstrip().startswith(begin)]
        return starts[:1] or ([bare] if bare in self.lines else [])
