"""Compares two editions of an agent turn by turn, for pull requests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from cuecard.errors import CuecardError, InputError
from cuecard.pipeline.changes import Comparison
from cuecard.pipeline.comparison import compare_manifests
from cuecard.workbench.diff.sides import Side, SideOptions
from cuecard.workbench.testing.turns import find_turns, steps_of

_Sides: TypeAlias = Mapping[str, Side | CuecardError]
"""The prompt of each turn by name, or the reason why there is none."""


@dataclass(frozen=True, slots=True)
class TurnReview:
    """One turn in both editions.

    Attributes:
        name: the turn file, and which of its turns; empty for an agent without turn files.
        before: the earlier prompt; None if there is none.
        after: the later one; None if it cannot be rendered.
        missing: why there is no earlier prompt.
        failure: why there is no later one.
    """

    name: str
    before: Side | None = None
    after: Side | None = None
    missing: CuecardError | None = None
    failure: CuecardError | None = None

    @property
    def comparison(self) -> Comparison | None:
        """The differences; None if one of the prompts is missing."""
        return compare_manifests(self.before.manifest, self.after.manifest) if self.before and self.after else None

    @property
    def differs(self) -> bool:
        """Whether the prompts differ, or one of them is missing."""
        found = self.comparison
        return found is None or found.differs


@dataclass(frozen=True, slots=True)
class Review:
    """All turns of two editions, and the names of the editions."""

    before: str
    after: str
    turns: tuple[TurnReview, ...]


def review(before: str, after: str, reading: SideOptions, turns: Sequence[Path]) -> Review:
    """Render the same turns, in their current form, with both editions.

    An earlier edition that is missing or cannot be rendered is reported, but not an error: a pull request may add an
    agent or an input, or fix a broken one.

    Raises:
        CuecardError: when the later edition, a turn file or the earlier revision cannot be read.
    """
    files = find_turns(Path(), turns) if turns else []
    later: _Sides = _sides(after, reading, files) if files else {"": reading.side(after)}
    try:
        earlier = _sides(before, reading, files) if files else {"": reading.side(before)}
    except CuecardError as error:
        if _names_nothing(error, before):
            raise
        earlier = dict.fromkeys(later, error)
    return Review(before, after, tuple(_reviewed(name, earlier.get(name), side) for name, side in later.items()))


def _sides(name: str, reading: SideOptions, files: Sequence[Path]) -> _Sides:
    with reading.opened(name) as engine:
        steps = [each for file in files for each in steps_of(engine, file)]
        return {turn: Side.of(name, step) if not isinstance(step, CuecardError) else step for turn, step in steps}


def _names_nothing(error: CuecardError, name: str) -> bool:
    """Whether an error means that the edition's name is wrong, rather than that the edition lacks this agent."""
    there = ":" in name and all(problem.code == "missing-file" for problem in error.problems)
    return isinstance(error, InputError) and not there


def _reviewed(name: str, before: Side | CuecardError | None, after: Side | CuecardError) -> TurnReview:
    return TurnReview(
        name,
        before if isinstance(before, Side) else None,
        after if isinstance(after, Side) else None,
        before if isinstance(before, CuecardError) else None,
        after if isinstance(after, CuecardError) else None,
    )
