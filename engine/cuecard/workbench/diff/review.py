"""Compares two editions of an agent turn by turn, for pull requests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from cuecard.errors import CuecardError, InputError
from cuecard.pipeline.changes import Comparison
from cuecard.pipeline.comparison import compare_manifests
from cuecard.workbench.diff.edition import Edition, FieldChange, PlayedSide, ResultChange, SearchChange
from cuecard.workbench.diff.sides import Side, SideOptions
from cuecard.workbench.testing.turns import find_turns, turns_of

_Sides: TypeAlias = Mapping[str, Side | CuecardError]
"""The prompt of each turn by name, or the reason why there is none."""


@dataclass(frozen=True, slots=True)
class TurnReview:
    """One turn in both editions.

    Attributes:
        name: the turn file, and which of its turns; empty for an agent without turn files.
        earlier: the earlier prompt, or why there is none.
        later: the later one, or why it cannot be rendered.
    """

    name: str
    earlier: Side | CuecardError | None
    later: Side | CuecardError

    @property
    def before(self) -> Side | None:
        """The earlier prompt."""
        return self.earlier if isinstance(self.earlier, Side) else None

    @property
    def after(self) -> Side | None:
        """The later one."""
        return self.later if isinstance(self.later, Side) else None

    @property
    def missing(self) -> CuecardError | None:
        """Why there is no earlier prompt."""
        return self.earlier if isinstance(self.earlier, CuecardError) else None

    @property
    def failure(self) -> CuecardError | None:
        """Why there is no later one."""
        return self.later if isinstance(self.later, CuecardError) else None

    @property
    def comparison(self) -> Comparison | None:
        """The differences; None if one of the prompts is missing."""
        return compare_manifests(self.before.manifest, self.after.manifest) if self.before and self.after else None

    @property
    def played(self) -> tuple[PlayedSide | None, PlayedSide | None]:
        """The turn as both editions play it."""
        return self.before.played if self.before else None, self.after.played if self.after else None

    @property
    def results(self) -> tuple[ResultChange, ...]:
        """The tool results of both that the model reads differently, in the order of the turn."""
        old, new = self.played
        if old is None or new is None:
            return ()
        count, search = new.edition.engine.count, new.edition.engine.search_tool
        both = zip(old.turn.past.results, new.turn.past.results, old.read, new.read, strict=False)
        return tuple(
            ResultChange(each.tool, before, after, count(before), count(after))
            for was, each, before, after in both
            if was == each and before != after and each.tool != search
        )

    @property
    def searches(self) -> tuple[SearchChange, ...]:
        """The searches of its `history` that find other tools than before."""
        old, new = ([*side.turn.past.searches] if side else [] for side in self.played)
        pairs = zip(old, new, strict=False)
        return tuple(SearchChange(a.entry.search, a.found, b.found) for a, b in pairs if a.found != b.found)

    @property
    def differs(self) -> bool:
        """Whether what the model reads differs, or one of the prompts is missing."""
        found = self.comparison
        return found is None or found.differs or bool(self.results)


@dataclass(frozen=True, slots=True)
class Review:
    """All turns of two editions, the names of the editions, and every field of the agent that differs."""

    before: str
    after: str
    turns: tuple[TurnReview, ...]
    changes: tuple[FieldChange, ...] = ()

    @property
    def differs(self) -> bool:
        """Whether anything differs, also what no turn reaches."""
        return bool(self.changes) or any(turn.differs or turn.searches for turn in self.turns)


def review(before: str, after: str, reading: SideOptions, turns: Sequence[Path]) -> Review:
    """Render the same turns, in their current form, with both editions.

    An earlier edition that is missing or cannot be rendered is reported, but not an error: a pull request may add an
    agent or an input, or fix a broken one.

    Raises:
        CuecardError: when the later edition, a turn file or the earlier revision cannot be read.
    """
    files = find_turns(Path(), turns) if turns else []
    now, later = _sides(after, reading, files)
    then: Edition | None = None
    try:
        then, earlier = _sides(before, reading, files)
    except CuecardError as error:
        if _names_nothing(error, before):
            raise
        earlier = dict.fromkeys(later, error)
    found = tuple(TurnReview(name, earlier.get(name), side) for name, side in later.items())
    return Review(before, after, found, _field_changes(then, now, found))


def review_of(turn: str, before: Side, after: Side) -> Review:
    """The review of two prompts of one turn."""
    turns = (TurnReview(turn, before, after),)
    return Review(before.name, after.name, turns, _field_changes(before.edition, after.edition, turns))


def _field_changes(
    before: Edition | None, after: Edition | None, turns: Sequence[TurnReview]
) -> tuple[FieldChange, ...]:
    """Every field that differs; none if one of the editions is missing or a recording."""
    if before is None or after is None:
        return ()
    return before.changes(after, [(turn.name, *turn.played) for turn in turns])


def _sides(name: str, reading: SideOptions, files: Sequence[Path]) -> tuple[Edition | None, _Sides]:
    if not files:
        side = reading.side(name)
        return side.edition, {"": side}
    with reading.opened(name) as edition:
        turns = [each for file in files for each in turns_of(edition.engine, file)]
        return edition, {
            turn: played if isinstance(played, CuecardError) else Side.of_turn(name, edition, played)
            for turn, played in turns
        }


def _names_nothing(error: CuecardError, name: str) -> bool:
    """Whether an error means that the edition's name is wrong, rather than that the edition lacks this agent."""
    there = ":" in name and all(problem.code == "missing-file" for problem in error.problems)
    return isinstance(error, InputError) and not there
