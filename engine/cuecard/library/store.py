"""Versions and labels as rows: read in one statement each, written in one transaction each."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, Protocol

import sqlalchemy as sa

from cuecard.errors import InputError, Problem, did_you_mean
from cuecard.files.clock import utc_now
from cuecard.library.database import Database
from cuecard.library.tables import AGENTS, AUDIT, LABELS, VERSIONS
from cuecard.library.versions import DRAFT, LATEST, Move, Reference, Version, VersionContent
from cuecard.records import dataclass

_FACTS = ("number", "sha256", "configuration", "author", "created", "message", "parent")


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """Who changes something, how it is called in the audit trail, and why."""

    action: str
    author: str
    message: str


class Condition(Protocol):
    """Looks at where labels point before a transaction writes, and raises if that is not what it expects."""

    def __call__(self, labels: dict[str, int], /) -> None:
        """Raise a `CuecardError` to write nothing."""


def _always(_labels: dict[str, int], /) -> None:
    """Nothing is expected."""


class Store:
    """The rows of a library."""

    def __init__(self, database: Database) -> None:
        """Nothing is read yet."""
        self.database = database

    def agents(self) -> tuple[str, ...]:
        """The names of all agents."""
        with self.database.reading() as connection:
            return tuple(connection.scalars(sa.select(AGENTS.c.name).order_by(AGENTS.c.name)))

    def find(self, reference: Reference) -> Version:
        """The version with a number, or the one that a label points to.

        Raises:
            InputError: when there is no such agent, label or version.
        """
        return self._found(reference, whole=False)[0]

    def load(self, reference: Reference) -> tuple[Version, VersionContent]:
        """The same with its content, both as of one moment."""
        version, text = self._found(reference, whole=True)
        return version, VersionContent.from_text(text, str(version))

    def of_configuration(self, agent: str, digest: str) -> tuple[Version, VersionContent] | None:
        """The newest version that is made of texts with this fingerprint."""
        asked = self._select(whole=True).where(AGENTS.c.name == agent, VERSIONS.c.configuration == digest)
        with self.database.reading() as connection:
            row = connection.execute(asked.order_by(VERSIONS.c.number.desc()).limit(1)).first()
        if row is None:
            return None
        version = self._version(agent, row, {})
        return version, VersionContent.from_text(row.content, str(version))

    def versions(self, agent: str) -> tuple[Version, ...]:
        """All versions of an agent, the newest first, with their labels.

        Raises:
            InputError: when there is no such agent.
        """
        asked = self._select(whole=False).where(AGENTS.c.name == agent).order_by(VERSIONS.c.number.desc())
        with self.database.reading() as connection:
            rows, labels = connection.execute(asked).all(), self._labels(connection, agent)
            if not rows:
                raise self._unknown(connection, Reference(agent))
        return tuple(self._version(agent, row, labels) for row in rows)

    def labels(self, agent: str) -> dict[str, int]:
        """Where each label of an agent points, by name."""
        with self.database.reading() as connection:
            return self._labels(connection, agent)

    def points(self, agents: Collection[str]) -> dict[tuple[str, str], tuple[int, str]]:
        """The number and the fingerprint of the version of every label of these agents, by agent and label."""
        asked = sa.select(AGENTS.c.name, LABELS.c.name.label("label"), LABELS.c.number, VERSIONS.c.configuration)
        asked = asked.join(LABELS, AGENTS.c.id == LABELS.c.agent).where(AGENTS.c.name.in_(sorted(agents)))
        asked = asked.join(VERSIONS, (VERSIONS.c.agent == LABELS.c.agent) & (VERSIONS.c.number == LABELS.c.number))
        with self.database.reading() as connection:
            return {(row.name, row.label): (row.number, row.configuration) for row in connection.execute(asked)}

    def moves(self, agent: str) -> tuple[Move, ...]:
        """The audit trail of an agent, the oldest first."""
        asked = sa.select(AUDIT).join(AGENTS, AGENTS.c.id == AUDIT.c.agent).where(AGENTS.c.name == agent)
        with self.database.reading() as connection:
            rows = connection.execute(asked.order_by(AUDIT.c.id)).all()
        return tuple(Move(*(getattr(row, name) for name in Move.__slots__)) for row in rows)

    def add(
        self,
        agent: str,
        content: VersionContent,
        change: AuditEntry,
        *,
        parent: int | None,
        labels: Sequence[str],
        expected: Condition = _always,
    ) -> Version:
        """A version with this content, which these labels then point to; one that is there already is not made again.

        Raises:
            CuecardError: what `expected` raises; nothing was written then.
        """
        text, sha256 = content.to_text(), content.sha256

        def write(connection: sa.Connection, key: int, before: dict[str, int]) -> int:
            expected(before)
            same = sa.select(VERSIONS.c.number).where(VERSIONS.c.agent == key, VERSIONS.c.sha256 == sha256)
            number = connection.scalar(same)
            if number is None:
                newest = sa.select(sa.func.max(VERSIONS.c.number)).where(VERSIONS.c.agent == key)
                number = (connection.scalar(newest) or 0) + 1
                row = {
                    "agent": key,
                    "number": number,
                    "sha256": sha256,
                    "configuration": content.sources.sha256(),
                    "author": change.author,
                    "created": _now(),
                    "message": change.message,
                    "parent": parent,
                    "content": text,
                }
                connection.execute(sa.insert(VERSIONS).values(row))
            for label in labels:
                self._point(connection, key, label, number, before, change)
            return int(number)

        number = self._write(agent, write, create=True)
        return self.find(Reference(agent, "", number))

    def point(
        self, agent: str, label: str, number: int | None, change: AuditEntry, *, expected: Condition = _always
    ) -> None:
        """Move a label to a version, or remove it.

        Raises:
            InputError: when there is no such agent, label or version.
            CuecardError: what `expected` raises; nothing was written then.
        """

        def write(connection: sa.Connection, key: int, before: dict[str, int]) -> None:
            expected(before)
            if number is None and label not in before:
                raise self._unknown(connection, Reference(agent, label))
            self._point(connection, key, label, number, before, change)

        self._write(agent, write, create=False)

    def _write(self, agent: str, write: Callable[[sa.Connection, int, dict[str, int]], Any], *, create: bool) -> Any:
        """One transaction, in which nobody else writes this agent."""
        with self.database.writing() as connection:
            if create:
                added = "INSERT INTO cuecard_agents (name) VALUES (:name) ON CONFLICT (name) DO NOTHING"
                connection.execute(sa.text(added), {"name": agent})
            key = connection.scalar(sa.select(AGENTS.c.id).where(AGENTS.c.name == agent).with_for_update())
            if key is None:
                raise self._unknown(connection, Reference(agent))
            done = write(connection, key, self._labels(connection, agent))
            self.database.notify(connection, agent)
        return done

    def _point(
        self,
        connection: sa.Connection,
        key: int,
        label: str,
        number: int | None,
        before: dict[str, int],
        change: AuditEntry,
    ) -> None:
        if label in before and before[label] == number and change.action != "rollback":
            return
        here = (LABELS.c.agent == key) & (LABELS.c.name == label)
        if number is None:
            connection.execute(sa.delete(LABELS).where(here))
        elif label in before:
            connection.execute(sa.update(LABELS).where(here).values(number=number))
        else:
            connection.execute(sa.insert(LABELS).values(agent=key, name=label, number=number))
        row = {"agent": key, "at": _now(), "author": change.author, "action": change.action, "label": label}
        row |= {"before": before.get(label), "after": number, "message": change.message}
        connection.execute(sa.insert(AUDIT).values(row))

    def _found(self, reference: Reference, *, whole: bool) -> tuple[Version, str]:
        asked = self._select(whole=whole).where(AGENTS.c.name == reference.agent)
        if reference.number:
            asked = asked.where(VERSIONS.c.number == reference.number)
        else:
            here = (LABELS.c.agent == AGENTS.c.id) & (LABELS.c.number == VERSIONS.c.number)
            asked = asked.join(LABELS, here).where(LABELS.c.name == reference.label)
        with self.database.reading() as connection:
            row = connection.execute(asked).first()
            if row is None:
                raise self._unknown(connection, reference)
            labels = {} if whole else self._labels(connection, reference.agent)
        return self._version(reference.agent, row, labels), row.content if whole else ""

    def _select(self, *, whole: bool) -> sa.Select[Any]:
        columns = [VERSIONS.c[name] for name in (*_FACTS, *(("content",) if whole else ()))]
        return sa.select(*columns).join(AGENTS, AGENTS.c.id == VERSIONS.c.agent)

    def _version(self, agent: str, row: sa.Row[Any], labels: dict[str, int]) -> Version:
        facts = {name: getattr(row, name) for name in _FACTS}
        return Version(agent, **facts, labels=tuple(name for name, at in labels.items() if at == row.number))

    def _labels(self, connection: sa.Connection, agent: str) -> dict[str, int]:
        asked = sa.select(LABELS.c.name, LABELS.c.number).join(AGENTS, AGENTS.c.id == LABELS.c.agent)
        rows = connection.execute(asked.where(AGENTS.c.name == agent).order_by(LABELS.c.name)).all()
        return {row.name: row.number for row in rows}

    def _unknown(self, connection: sa.Connection, reference: Reference) -> InputError:
        """What is not there: the agent, the version or the label."""
        agents = connection.scalars(sa.select(AGENTS.c.name)).all()
        name = reference.agent
        if name not in agents:
            hint = did_you_mean(name, agents) or "publish one: `cuecard library publish AGENT -m TEXT`"
            return InputError(Problem("unknown-agent", f"the library has no agent `{name}`", hint, "library"))
        if reference.number:
            newest = sa.select(sa.func.max(VERSIONS.c.number)).join(AGENTS, AGENTS.c.id == VERSIONS.c.agent)
            last = connection.scalar(newest.where(AGENTS.c.name == name))
            told = f"`{name}` has no version {reference.number}"
            return InputError(Problem("unknown-version", told, f"its versions are 1 to {last}", "library"))
        told = f"`{name}` has no label `{reference.label}`"
        hint = did_you_mean(reference.label, self._labels(connection, name))
        return InputError(Problem("unknown-label", told, hint, "library"))


def target_of_rollback(moves: Sequence[Move], label: str) -> int | None:
    """The version that a label pointed to before it came to where it is; None if there is none.

    A rollback takes back one move, and the next one the move before.
    """
    path: list[int] = []
    for move in moves:
        if move.label != label:
            continue
        if move.after is None:
            path = []
        elif move.action == "rollback" and len(path) > 1:
            path.pop()
        else:
            path.append(move.after)
    return path[-2] if len(path) > 1 else None


def labels_of(label: str | None) -> tuple[str, ...]:
    """The labels that a new version gets: `latest` and the one that is asked for; a draft has only its own."""
    if label == DRAFT:
        return (DRAFT,)
    return (LATEST,) if label in {None, LATEST} else (LATEST, str(label))


def _now() -> str:
    return utc_now().isoformat(timespec="seconds")
