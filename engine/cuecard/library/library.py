"""A library of prompts: publish checked versions, move labels, edit without a checkout."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from annotated_types import Ge
from pydantic import SkipValidation

from cuecard.agent.host_functions import LoadHelpers
from cuecard.engine import Engine
from cuecard.errors import InputError, LibraryError, Problem
from cuecard.files.clock import utc_now
from cuecard.files.host_code import AnyRanker, helper_loader
from cuecard.files.rankers.choice import SearchWish
from cuecard.library import edits, folders
from cuecard.library.checking import check, draft_of, dropped, name_of
from cuecard.library.database import Database
from cuecard.library.following import ChangeFeed, LibraryWatcher
from cuecard.library.serving import Engines, Removed, ServingOptions
from cuecard.library.store import AuditEntry, Condition, Store, labels_of, target_of_rollback
from cuecard.library.versions import (
    DRAFT,
    LATEST,
    PRODUCTION,
    Move,
    Reference,
    Version,
    VersionContent,
    check_label,
    check_words,
    read_reference,
)
from cuecard.model import Clock, DeliveryWish
from cuecard.model.boundary import FilledText, JsonObject, Seconds, checked
from cuecard.model.signed_text import check_key
from cuecard.records import dataclass
from cuecard.reload.engines import EngineMaker, Secrets

TOOL = "tool"
"""The author of what a model has written."""

_TRIES = 200
"""How often an edit is laid over what others have written meanwhile."""


@dataclass(frozen=True, slots=True)
class EditedVersion:
    """A version that an edit made, and what is lost by it."""

    version: Version
    warnings: tuple[Problem, ...] = ()


class Library:
    """Checked versions of whole agents in a database, with labels; thread-safe, for any number of processes."""

    @checked
    def __init__(
        self,
        url: FilledText,
        *,
        timeout: Seconds = 5.0,
        lifetime: Seconds = 60.0,
        most: Annotated[int, Ge(1)] = 200,
        removed: Removed = "refuse",
        fallback: FilledText | Path | None = None,
        delivery: DeliveryWish | None = None,
        clock: Clock = utc_now,
        salt: str = "",
        key: str = "",
        ready: Callable[[Engine], Engine] | None = None,
        ranker: SkipValidation[AnyRanker | None] = None,
        allow_code: bool = False,
        cache: FilledText | Path | bool = True,
    ) -> None:
        """Nothing is connected yet.

        Args:
            url: `sqlite:///prompts.db`, or `postgresql://USER:PASSWORD@HOST/NAME`.
            timeout: seconds to wait for a connection, a lock and a statement.
            lifetime: seconds after which a label is asked again; a version never changes.
            most: how many engines are kept in memory.
            removed: what new conversations get when a label was removed: `refuse`, an error, or `serve`, the version
                that it last pointed to, with a mark in manifests.
            fallback: an exported folder that serves where the database was never reached.
            delivery: as for `Engine.open`.
            clock: as for `Engine.open`.
            salt: as for `Engine.open`.
            key: as for `Engine.open`.
            ready: a function applied to each new engine before it serves, from any thread.
            ranker: as for `Engine.open`.
            allow_code: as for `Engine.open`; also for checks.
            cache: as for `Engine.open`.

        Raises:
            InputError: when it is not such a URL; the URL is not repeated, since it may hold a secret. Or when the
                folder to fall back on was edited since it was exported.
            SpecError: with everything that is wrong in that folder.
        """
        self._database = Database(url, timeout=timeout)
        self._store = Store(self._database)
        self._load: LoadHelpers = helper_loader(allow_code=allow_code)
        self._clean: set[str] = set()
        self._patience = timeout
        check_key(key)
        wish = SearchWish(ranker, allow_code, cache)
        search = lambda agent: wish.open(agent.ranker)  # noqa: E731 - it is handed on at once
        maker = EngineMaker(delivery, clock, Secrets(salt, key), ready, search, self._load)
        last = None if fallback is None else Path(fallback)
        self._engines = Engines(self._store, maker.apart, ServingOptions(lifetime, most, removed, last, timeout))
        self._engines.check_fallback()
        self._news = ChangeFeed(self._database, self._engines.hear, self._engines.doubt)

    def __repr__(self) -> str:
        return f"Library({str(self._database)!r})"

    def create(self) -> str:
        """Make the tables, unless they are there; the revision that was there before, or an empty text.

        Raises:
            LibraryError: when the database is away, or has a library of a newer version.
        """
        return self._database.upgrade(create=True)

    def upgrade(self) -> str:
        """Run the migrations that this version of cuecard brings; the revision that was there before.

        Raises:
            LibraryError: when there is no library, or one of a newer version.
        """
        return self._database.upgrade()

    def close(self) -> None:
        """Stop following changes, and close the connections; engines go on."""
        self._news.end()
        self._engines.drain(self._patience)
        self._database.close()

    @checked
    def engine(self, name: FilledText) -> Engine:
        """The engine of a version, such as `polyant@production`, from a cache: an immutable snapshot.

        The label is asked again when its lifetime is half over, in the background. While the database is slow or away,
        the last good engine serves, and `Configuration.library.stale_since` in manifests says since when.

        Raises:
            InputError: when there is no such agent, label or version, or the label was removed.
            LibraryError: when the database does not answer, and there is no engine yet.
        """
        reference = read_reference(name)
        self._news.ensure()
        return self._engines.get(reference)

    @checked
    def watch(self, name: FilledText) -> LibraryWatcher:
        """The engine of a label, kept up to date, for `Pins` and the reload policies of agent files.

        A conversation keeps the version that it began with, in every process that asks the same database.

        Raises:
            InputError: when there is no such agent, label or version.
            LibraryError: when the database does not answer, and there is no engine yet.
        """
        reference = read_reference(name)
        self._news.ensure()
        return LibraryWatcher(self._engines, reference)

    @checked
    def publish(
        self, path: FilledText | Path, message: FilledText, *, author: FilledText, label: FilledText | None = None
    ) -> Version:
        """A version of the agent at `path`, with the label `latest`, and with another if asked for.

        A version that is there already is not made again. One with problems can only be a `draft`.

        Args:
            path: as for `Engine.open`.
            message: what changed.
            author: who changed it.
            label: a label that the version gets, too; `draft` gets no other, and needs no check.

        Raises:
            InputError: with every argument that is wrong.
            SpecError: with every problem of the agent, warnings included, as `cuecard check --strict` has it.
            LibraryError: when the database is away, full, or of another version.
        """
        content = folders.read_folder(path)
        return self._add(content, self._change("publish", author, message), label)

    @checked
    def show(self, name: FilledText) -> Version:
        """The version that a name such as `cms@production`, `cms@12` or `cms` stands for.

        Raises:
            InputError: when there is no such agent, label or version.
            LibraryError: when the database is away, or of another version.
        """
        return self._store.find(read_reference(name))

    @checked
    def texts(self, name: FilledText) -> Mapping[str, str]:
        """Every text of a version by its path, relative to the folder of the agent file.

        Raises:
            InputError: when there is no such version.
            LibraryError: when the database is away, or of another version.
        """
        return self._store.load(read_reference(name))[1].texts()

    def agents(self) -> tuple[str, ...]:
        """The names of all agents.

        Raises:
            LibraryError: when the database is away, or of another version.
        """
        return self._store.agents()

    @checked
    def versions(self, agent: FilledText) -> tuple[Version, ...]:
        """The versions of an agent, the newest first.

        Raises:
            InputError: when there is no such agent.
            LibraryError: when the database is away, or of another version.
        """
        return self._store.versions(read_reference(agent).agent)

    @checked
    def moves(self, agent: FilledText) -> tuple[Move, ...]:
        """The audit trail of an agent: every move of a label, the oldest first.

        Raises:
            LibraryError: when the database is away, or of another version.
        """
        return self._store.moves(read_reference(agent).agent)

    @checked
    def diff(self, before: FilledText, after: FilledText) -> str:
        """What changed from one version to another of the same agent, as a unified diff of their texts.

        Raises:
            InputError: when there is no such version, or they are of two agents.
            LibraryError: when the database is away, or of another version.
        """
        one, other = read_reference(before), read_reference(after)
        if one.agent != other.agent:
            told = f"`{one}` and `{other}` are versions of two agents"
            raise InputError(Problem("wrong-argument", told, "name two versions of one agent", "library"))
        old, new = self.texts(before), self.texts(after)
        paths = [path for path in dict.fromkeys((*old, *new)) if old.get(path) != new.get(path)]
        return "\n".join(edits.difference(old.get(path, ""), new.get(path, ""), path) for path in paths)

    @checked
    def label(
        self, name: FilledText, label: FilledText, *, author: FilledText, message: FilledText = "moved"
    ) -> Version:
        """Let a label point to a version; it moves at once for everybody, or not at all.

        Raises:
            InputError: with every argument that is wrong, or when there is no such version.
            SpecError: with every problem of the version, when it was a draft.
            LibraryError: when the database is away, full, or of another version.
        """
        change = self._change("label", author, message)
        self._refuse_latest(label)
        version, content = self._store.load(read_reference(name))
        if check_label(label) != DRAFT:
            self._check(content, version.agent)
        self._store.point(version.agent, label, version.number, change)
        self._changed(version.agent)
        return self._store.find(Reference(version.agent, "", version.number))

    @checked
    def unlabel(self, name: FilledText, *, author: FilledText, message: FilledText = "removed") -> None:
        """Remove a label, such as `cms@staging`; the version stays.

        Raises:
            InputError: with every argument that is wrong, or when there is no such label.
            LibraryError: when the database is away, full, or of another version.
        """
        reference = read_reference(name)
        self._refuse_fixed(reference)
        self._store.point(reference.agent, reference.label, None, self._change("unlabel", author, message))
        self._changed(reference.agent)

    @checked
    def rollback(self, name: FilledText, *, author: FilledText, message: FilledText = "rolled back") -> Version:
        """Move a label, such as `cms@production`, back to the version that it pointed to before.

        Raises:
            InputError: with every argument that is wrong, or when it never pointed to another version.
            SpecError: with every problem of that version, where this version of cuecard is stricter.
            LibraryError: when the database is away, full, or of another version.
        """
        reference, change = read_reference(name), self._change("rollback", author, message)
        self._refuse_fixed(reference)
        now = self._store.find(reference).number
        moves = self._store.moves(reference.agent)
        target = target_of_rollback(moves, reference.label)
        if target is None:
            told = f"`{reference}` never pointed to another version"
            hint = "name a version: `cuecard library label AGENT@NUMBER LABEL`"
            raise InputError(Problem("no-rollback", told, hint, "library"))
        content = self._store.load(Reference(reference.agent, "", target))[1]
        if reference.label != DRAFT:
            self._check(content, reference.agent)
        self._store.point(reference.agent, reference.label, target, change, expected=self._still(reference, now))
        self._changed(reference.agent)
        return self._store.find(Reference(reference.agent, "", target))

    @checked
    def edit(
        self,
        name: FilledText,
        *,
        author: FilledText,
        message: FilledText,
        section: str | None = None,
        body: str | None = None,
        title: str | None = None,
        tool: str | None = None,
        entry: JsonObject | None = None,
        label: FilledText | None = None,
    ) -> EditedVersion:
        """A version with another text of one section, or another entry of one tool.

        The edit is laid over the newest version (that of `label`, or `latest`), unless somebody has changed the same
        section or entry since the version that it began from.

        Args:
            name: the version that the edit began from, such as `cms@12`.
            author: who edits.
            message: what changed.
            section: the id of the section.
            body: its new text, a template as in a file.
            title: its new title.
            tool: the name of the tool.
            entry: its new entry: `before`, `after`, `next`, `gotcha` and others, as in a file.
            label: a label that the version gets, besides `latest`.

        Raises:
            InputError: with every argument that is wrong, or with what somebody else has changed (`edit-conflict`).
            SpecError: with every problem of the edited agent, unless the label is `draft`.
            LibraryError: when the database is away, full, or of another version.
        """
        change, reference = self._change("edit", author, message), read_reference(name)
        target = edits.target_of(section, body, title, tool, entry)
        base = self._store.load(reference)[1]
        for _ in range(_TRIES):
            seen, head, content = self._head(reference, label)
            target.refuse_conflict(base, content, head)
            made, warnings = target.lay_over(content)
            made = self._without(made) if warnings else made
            try:
                version = self._add(made, change, label, parent=head.number, expected=self._still(seen, head.number))
            except _MovedError:
                continue
            return EditedVersion(version, warnings)
        told = f"`{reference.agent}` changes all the time"
        raise LibraryError(Problem("library-away", told, "try again", str(self._database)))

    @checked
    def write(
        self, agent: FilledText, name: FilledText, text: FilledText, *, label: FilledText = PRODUCTION
    ) -> Version:
        """What a model saves through a tool of the host, such as `updateSoul`: data in the one section for it.

        Args:
            agent: the agent's name.
            name: the name under `writable:` in the agent file.
            text: what the model has written; it is printed as data, and never read as a template.
            label: the label that moves to the new version.

        Raises:
            InputError: with every argument that is wrong, or when the text is too long or the name unknown.
            SpecError: with every problem of the agent with this text.
            LibraryError: when the database is away, full, or of another version.
        """
        reference = Reference(read_reference(agent).agent, check_label(label))
        change = AuditEntry("write", TOOL, f"wrote `{name}`")
        for _ in range(_TRIES):
            head, content = self._store.load(reference)
            made = self._without(edits.with_written(content, name, text))
            try:
                expected = self._still(reference, head.number)
                return self._add(made, change, label, parent=head.number, expected=expected)
            except _MovedError:
                continue
        told = f"`{reference}` moves all the time"
        raise LibraryError(Problem("library-away", told, "try again", str(self._database)))

    @checked
    def export(self, name: FilledText, folder: FilledText | Path) -> Path:
        """Write a version as a folder that `cuecard check` accepts and `read_back` takes back; its agent file.

        Raises:
            InputError: when there is no such version, or the folder is not empty.
            LibraryError: when the database is away, or of another version.
        """
        version, content = self._store.load(read_reference(name))
        return folders.export(version, content, Path(folder))

    @checked
    def read_back(self, folder: FilledText | Path, *, label: FilledText | None = None) -> Version:
        """The version that `export` wrote, with its author and message.

        Raises:
            InputError: when the folder is no export, or was edited since.
            SpecError: with every problem of the agent, unless the label is `draft`.
            LibraryError: when the database is away, full, or of another version.
        """
        found = folders.read_export(Path(folder))
        return self._add(found.content, self._change("import", found.author, found.message), label)

    def _add(
        self,
        content: VersionContent,
        change: AuditEntry,
        label: str | None,
        *,
        parent: int | None = None,
        expected: Callable[[dict[str, int]], None] | None = None,
    ) -> Version:
        if label is not None:
            check_label(label)
        agent = name_of(draft_of(content, self._load)[0]) if label == DRAFT else self._check(content)
        parent = self._parent(agent) if parent is None else parent
        given = {"expected": expected} if expected else {}
        version = self._store.add(agent, content, change, parent=parent, labels=labels_of(label), **given)
        self._changed(agent)
        return version

    def _without(self, content: VersionContent) -> VersionContent:
        """The content, with the warnings about what its texts no longer print taken as meant."""
        return replace(content, lost=tuple(dict.fromkeys((*content.lost, *dropped(content, self._load)))))

    def _check(self, content: VersionContent, agent: str = "") -> str:
        """Check a content, unless it was found to be right before; the agent's name."""
        if agent and content.sha256 in self._clean:
            return agent
        name = check(content, self._load)
        self._clean.add(content.sha256)
        return name

    def _parent(self, agent: str) -> int | None:
        return self._store.labels(agent).get(LATEST)

    def _head(self, reference: Reference, label: str | None) -> tuple[Reference, Version, VersionContent]:
        """The version that an edit is laid over, and the label that says so."""
        labels = self._store.labels(reference.agent)
        seen = Reference(reference.agent, label if label and label in labels else LATEST)
        number = labels.get(seen.label)
        return seen, *self._store.load(Reference(reference.agent, "", number) if number else reference)

    def _still(self, reference: Reference, number: int) -> Condition:
        """The condition that a label points where it did, or is not there yet."""

        def expect(labels: dict[str, int]) -> None:
            if labels.get(reference.label, number) != number:
                raise _MovedError(
                    Problem("edit-conflict", f"`{reference}` has moved meanwhile", "try again", "library")
                )

        return expect

    def _change(self, action: str, author: str, message: str) -> AuditEntry:
        return AuditEntry(action, check_words(author, "author"), check_words(message, "message"))

    def _refuse_latest(self, label: str) -> None:
        if label == LATEST:
            told = f"`{LATEST}` always points to the version that was made last"
            raise InputError(Problem("wrong-argument", told, "choose another label, such as `production`", "label"))

    def _refuse_fixed(self, reference: Reference) -> None:
        """Refuse what no caller moves: a version, and the label of the newest."""
        self._refuse_latest(reference.label)
        if reference.number:
            told = f"`{reference}` names a version, and versions stay"
            raise InputError(Problem("wrong-argument", told, "name a label, such as `cms@staging`", "name"))

    def _changed(self, agent: str) -> None:
        """An agent has changed in this process: its labels are asked again before they serve."""
        self._engines.expire(agent)


class _MovedError(InputError):
    """A label has moved since it was read: what depends on it is made again."""
