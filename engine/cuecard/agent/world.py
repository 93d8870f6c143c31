"""What sections are compiled from, and what the next reload can use again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any, Literal, TypeAlias, TypeVar, TypeVarTuple

from cuecard.config.agent_file import AgentFile
from cuecard.config.documents.document import Document
from cuecard.config.documents.sources import AgentSources
from cuecard.records import dataclass
from cuecard.template import Helper, Limits

Given = TypeVarTuple("Given")
Made = TypeVar("Made")
_UNKNOWN = object()


class Memo:
    """Results of pure functions, by function and hashable arguments. For use in a single thread.

    Failures are not cached. Results unused since the last `forget_unused` are dropped at the next.
    """

    __slots__ = ("_known", "_used")

    def __init__(self) -> None:
        self._known: dict[Any, Any] = {}
        self._used: dict[Any, Any] = {}

    def __call__(self, work: Callable[[*Given], Made], *given: *Given) -> Made:
        """The result of `work(*given)`, from the cache if possible."""
        key = (work, *given)  # each look-up hashes all of it anew
        made = self._used.get(key, _UNKNOWN)
        if made is _UNKNOWN:
            made = self._known.get(key, _UNKNOWN)
            self._used[key] = made = work(*given) if made is _UNKNOWN else made
        found: Made = made
        return found

    def forget_unused(self) -> None:
        """Keep only results used since the last call of this method."""
        self._known, self._used = self._used, {}


Printing: TypeAlias = Literal["text", "names"]
"""How `{{{x}}}` prints data in an agent's templates: every `<` escaped, or only before the prompt's own elements."""


@dataclass(frozen=True, slots=True)
class World:
    """An agent's parsed files: its agent file as written and as validated, all texts, and the elements in them.

    `helpers` are the host's functions by name; `removed` maps removed sections of lower files to the place that removed
    them, as `file:line:column`.
    """

    document: Document
    spec: AgentFile
    sources: AgentSources
    memo: Memo
    names: frozenset[str]
    removed: Mapping[str, str] = field(default_factory=dict)
    helpers: tuple[tuple[str, Helper], ...] = ()

    @property
    def limits(self) -> Limits:
        """The limits for rendering a section."""
        return Limits(self.spec.limits.work, self.spec.limits.output)

    @property
    def escaping(self) -> Printing:
        """How `{{{x}}}` prints data."""
        return self.spec.template.escaping if self.spec.template else self.spec.layout.escaping
