"""A rendered prompt in a test, for assertions and for comparison with snapshots."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from cuecard.model import Manifest, Step
from cuecard.testing.goldens import Held, complaint, hold
from cuecard.testing.snapshot import Snapshot
from cuecard.testing.texts import section_texts

UPDATE = "pytest --cue-update"


@dataclass(frozen=True, eq=False)
class Prompt:
    """What the model receives in one step: `"Jana" in prompt`, `prompt.tokens < 900`, `prompt == snapshot`.

    Attributes:
        step: the whole step.
    """

    step: Step

    @cached_property
    def text(self) -> str:
        """Everything that the engine wrote: system prompt, section messages, appended blocks."""
        return "\n".join(self.sections.values())

    @cached_property
    def sections(self) -> dict[str, str]:
        """The text of each section by id, in order."""
        return {record.id: text for record, text in section_texts(self.step)}

    @property
    def tokens(self) -> int:
        """The number of tokens of the whole prompt."""
        return self.step.manifest.total_tokens

    @property
    def active_tools(self) -> tuple[str, ...]:
        """The tools that may be called."""
        return self.step.active_tools

    @property
    def manifest(self) -> Manifest:
        """What was sent, why, and what was left out."""
        return self.step.manifest

    def __contains__(self, text: str) -> bool:
        return text in self.text

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        sections = ", ".join(self.sections)
        return f"<Prompt of {self.manifest.configuration.agent}: {self.tokens:,} tokens in {sections}>"


class PromptSnapshot:
    """The snapshots of one test: `assert prompt == snapshot`; for a second comparison in a test, use `snapshot` again.

    Args:
        folder: their folder.
        name: the name of the files.
        update: whether to rewrite them.
    """

    def __init__(self, folder: Path, name: str, *, update: bool) -> None:
        self.folder, self.name, self.update = folder, name, update
        self.used: list[Path] = []
        self.last: Held | None = None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Prompt):
            return NotImplemented
        number = f".{len(self.used) + 1}" if self.used else ""
        path = self.folder / f"{self.name}{number}.txt"
        self.used.append(path)
        self.last = hold(path, Snapshot.of(other.step), update=self.update)
        return self.last.passed

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self) -> str:
        return f"<snapshot {self.name}>"

    def explained(self) -> list[str]:
        """The result of the last comparison, for people."""
        if self.last is None:
            return []
        wrong = complaint(self.last, UPDATE)
        return [wrong.message, *wrong.hint.split("\n")]
