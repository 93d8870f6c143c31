"""Turns as people fill them in: records on disk, by their digest, and the turn files of an agent, read and saved."""

from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import field
from pathlib import Path

from cuecard.config.documents.document import Document
from cuecard.config.documents.validation import validate
from cuecard.config.documents.yaml import read_yaml
from cuecard.config.documents.yaml_edits import patched, written
from cuecard.config.file_kinds import kind_of, refuse_other_kind
from cuecard.config.turn_file import ConversationFile, TurnFile, to_turn
from cuecard.engine import Engine
from cuecard.errors import InputError, Problem, SpecError
from cuecard.files.atomic_write import rewrite, write_new
from cuecard.files.confined_files import RefusedError, read_below
from cuecard.files.private import check_folder
from cuecard.files.roots import is_folder, shown
from cuecard.files.safe_read import children, read_text
from cuecard.model import Json, Step
from cuecard.records import dataclass
from cuecard.workbench.played import past_results
from cuecard.workspace import first_step

MAX_TURN = 1024 * 1024
"""The maximum size of a turn's record in bytes: what a turn file may have."""

MAX_TURNS = 1_000
"""The number of records that a folder keeps; the oldest leave."""

MAX_TURN_BYTES = 64 * 1024 * 1024
"""The size in bytes of all records that a folder keeps; the oldest leave."""

MAX_TURN_FILES = 1_000
"""The number of turn files that are listed."""

FOLDER = "turns"
"""The folder of an agent with its turn files."""

_DIGEST = re.compile(r"[0-9a-f]{32}")
_FILE = re.compile(r"[^./\\][^/\\]*\.ya?ml")
_ORDER = tuple(TurnFile.model_fields)


@dataclass(frozen=True, slots=True)
class TurnRecord:
    """A turn as a person filled it in.

    Attributes:
        turn: the keys of a turn file, right or wrong.
        file: the name of the turn file that it was opened from; empty for none, or for one of several turns.
        sha256: the fingerprint of that file's text then.
        told: where it came from, in words; empty for nowhere.
    """

    turn: Mapping[str, Json] = field(default_factory=dict)
    file: str = ""
    sha256: str = ""
    told: str = ""

    def document(self) -> Document:
        """The turn as a document, whose places are the keys.

        Raises:
            SpecError: when it has too many values, or values too deep.
        """
        return read_yaml(written(self.turn), FOLDER) if self.turn else Document(FOLDER, "", {})

    def read(self) -> TurnFile:
        """The turn, checked.

        Raises:
            SpecError: with everything that is wrong in it.
        """
        return validate(self.document(), TurnFile) if self.turn else TurnFile()


class TurnStore:
    """Records of turns in a folder of this user's alone, by digest: what is in an address says nothing of them.

    Where the folder cannot be used, they are kept until the program ends; `told` then says why.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._kept: dict[str, bytes] = {}
        self.told: str = ""

    def keep(self, record: TurnRecord) -> str:
        """Store a record, and return its digest.

        Raises:
            InputError: when it is too large.
        """
        data = _data(record)
        if len(data) > MAX_TURN:
            message = f"the values take {len(data):,} bytes; at most {MAX_TURN:,}"
            raise InputError(Problem("large-file", message, "shorten the longest of them", "turn"))
        digest = _digest(data)
        try:
            self._write(f"{digest}.json", data)
            self.told = ""
        except OSError as error:
            self.told = f"{shown(self._folder)} cannot be written: {(error.strerror or str(error)).lower()}"
            self._kept[digest] = data
            while len(self._kept) > MAX_TURNS:
                del self._kept[next(iter(self._kept))]
        return digest

    def read(self, digest: str) -> TurnRecord:
        """The record with this digest.

        Raises:
            InputError: when there is none, or its file was changed.
        """
        if not _DIGEST.fullmatch(digest):
            raise InputError(_unknown("this is not the digest of a turn"))
        data = self._kept.get(digest)
        if data is None:
            try:
                check_folder(self._folder)
                data, _ = read_below(os.fspath(self._folder), (f"{digest}.json",), MAX_TURN)
            except (OSError, RefusedError):
                raise InputError(_unknown("the values of this address are no longer kept")) from None
        if _digest(data) != digest:
            raise InputError(_unknown("the record of this address was changed by somebody else"))
        held = json.loads(data)
        return TurnRecord(held["turn"], held["file"], held["sha256"], held["told"])

    def _write(self, name: str, data: bytes) -> None:
        """Write a file that only this user can read, whole or not at all; equal data has the same name."""
        self._folder.mkdir(parents=True, mode=0o700, exist_ok=True)
        check_folder(self._folder)
        handle, beside = tempfile.mkstemp(prefix=".", dir=self._folder)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            os.replace(beside, self._folder / name)  # noqa: PTH105 - both are names here
        except OSError:
            Path(beside).unlink(missing_ok=True)
            raise
        self._forget(name)

    def _forget(self, newest: str) -> None:
        """Remove the oldest records until the others are within bounds."""
        with os.scandir(self._folder) as entries:
            seen = [(each.stat().st_mtime_ns, each.stat().st_size, each.name) for each in entries if _is_record(each)]
        number, size = len(seen), sum(each[1] for each in seen)
        for _, bytes_of, name in sorted(seen):
            if (number <= MAX_TURNS and size <= MAX_TURN_BYTES) or name == newest:
                return
            with suppress(OSError):  # another studio may have removed it
                (self._folder / name).unlink()
            number, size = number - 1, size - bytes_of


def step_of_turn(engine: Engine, file: TurnFile, found: Sequence[str] = ()) -> Step:
    """The request that a turn leads to, after the results of its `history`, as if a search had found these tools.

    Raises:
        InputError: with every input that is missing or wrong; when a tool is unknown.
    """
    turn = to_turn(file, file.inputs)
    past = past_results(engine, file, engine.prepare_call(turn)).results if file.history else ()
    return first_step(engine, turn, found, past)


def turn_files(agent: Path) -> tuple[str, ...]:
    """The names of an agent's turn files; none where its folder cannot be listed.

    Args:
        agent: the folder of the agent.
    """
    try:
        found = [each for each in children(agent / FOLDER) if _FILE.fullmatch(each.name) and not is_folder(each)]
    except SpecError:
        return ()
    return tuple(each.name for each in found[:MAX_TURN_FILES])


def open_turn(agent: Path, name: str, number: int = 1) -> tuple[TurnRecord, int]:
    """A turn file as a record, and how many turns it has.

    Args:
        agent: the folder of the agent.
        name: the name of the file.
        number: which of its turns, from 1; another one starts with the messages of those before it, and with no file.

    Raises:
        InputError: when there is no such file or turn.
        SpecError: when it cannot be read, or is another kind of file.
    """
    source = read_text(_place(agent, name))
    document = read_yaml(source.text, source.name)
    if kind_of(document.value) != "conversation":
        refuse_other_kind(document, "turn")
        return TurnRecord(document.value, name, _fingerprint(source.text), name), 1
    talk = validate(document, ConversationFile).talk
    if not 0 < number <= len(talk):
        hint = f"it has {len(talk)}"
        raise InputError(Problem("missing-file", f"the file has no turn {number}", hint, source.name))
    held = dict(document.value["turns"][number - 1])
    if said := talk[number - 1].messages:
        held["messages"] = [dict(each) for each in said]
    return TurnRecord(held, told=f"turn {number} of {len(talk)} in {name}"), len(talk)


def save_turn(agent: Path, name: str, record: TurnRecord) -> TurnRecord:
    """Write a turn to the file that it was opened from, where only what differs is written anew; or to a new file.

    Raises:
        InputError: when somebody else has changed the file meanwhile, or it cannot be written; it then stays as it is.
        SpecError: when the turn is no turn, or the file is written so that its comments would be lost.
    """
    record.read()
    path = _place(agent, name)
    if record.file != name:
        if not _is_below(path.parent, agent):
            message = f"the folder {FOLDER} leads out of the agent's folder"
            raise InputError(Problem("missing-file", message, "make it a folder of its own", shown(path)))
        if os.path.lexists(path):
            message = "there is a file of this name already; it stays as it is"
            raise InputError(Problem("changed-meanwhile", message, "save under another name", shown(path)))
        text = written(record.turn) if record.turn else "inputs: {}\n"
        write_new(path, text)
        return TurnRecord(record.turn, name, _fingerprint(text), name)
    before = read_text(path).text
    if _fingerprint(before) != record.sha256:
        message = "somebody else has changed the file since it was opened here; it stays as it is"
        raise InputError(Problem("changed-meanwhile", message, "save under another name, or open it anew", shown(path)))
    after = patched(before, record.turn, shown(path), _ORDER) if record.turn else "inputs: {}\n"
    rewrite(path, after, before)
    return TurnRecord(record.turn, name, _fingerprint(after), name)


def _is_below(folder: Path, agent: Path) -> bool:
    real = Path(os.path.realpath(folder))
    return real.is_relative_to(os.path.realpath(agent))


def _place(agent: Path, name: str) -> Path:
    if not _FILE.fullmatch(name):
        message = "a turn file has a plain name that ends in `.yaml`"
        raise InputError(Problem("missing-file", message, f"such as `first.yaml`; it stands in {FOLDER}/", "file"))
    return agent / FOLDER / name


def _unknown(message: str) -> Problem:
    return Problem("missing-file", message, "fill in the form anew, or open a turn file", "turn")


def _is_record(entry: os.DirEntry[str]) -> bool:
    return entry.is_file(follow_symlinks=False) and entry.name.endswith(".json")


def _data(record: TurnRecord) -> bytes:
    held = {"turn": record.turn, "file": record.file, "sha256": record.sha256, "told": record.told}
    return json.dumps(held, ensure_ascii=True, separators=(",", ":")).encode("ascii")


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:32]


def _fingerprint(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
