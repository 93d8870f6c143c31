"""Versions and folders: what is published is read from one, and an export is one again, byte for byte."""

from __future__ import annotations

import hashlib
import json
import posixpath
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from cuecard.errors import InputError, Problem, SpecError
from cuecard.files.content import find_content, in_folder
from cuecard.files.folder import read_agent, read_imported
from cuecard.files.roots import shown
from cuecard.files.safe_read import read_text
from cuecard.library.versions import Version, VersionContent
from cuecard.model import Json
from cuecard.records import dataclass

NOTE = "library.json"
"""The file of an export that says what it is."""

_HINT = "to change an exported agent, publish its folder: `cuecard library publish FOLDER -m TEXT`"


@dataclass(frozen=True, slots=True)
class ExportNote:
    """What an export says of itself: who made the version, why, and the agent file in the folder."""

    agent: str
    author: str
    message: str
    file: Path
    content: VersionContent


def read_folder(path: str | Path) -> VersionContent:
    """The content of an agent's files.

    Raises:
        SpecError: with every file that is missing or cannot be read: a version holds all of them.
    """
    file = in_folder(find_content(Path(path)), "agent")
    sources = read_agent(file)
    unread = [Problem("unreadable-file", why, "", shown(file.parent / each)) for each, why in sources.unread]
    if wrong := [*(each for each in sources.problems if each.severity == "error"), *unread]:
        raise SpecError(wrong)
    imported = read_imported(file, sources)
    places = [*(each.path for each in (*sources.texts(), *imported)), *sources.folders]
    above = max((posixpath.normpath(each).split("/").count("..") for each in places), default=0)
    home = file.absolute().parent.parts
    return VersionContent(sources, imported, tuple(home[len(home) - above :]) if above else ())


def export(version: Version, content: VersionContent, folder: Path) -> Path:
    """Write a version as a folder; the agent file in it.

    Raises:
        InputError: when the folder is there and not empty, or cannot be written; nothing is left half then.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        told = f"{shown(folder)} is not empty"
        raise InputError(Problem("file-exists", told, "name a folder that is new or empty", "library"))
    files = {posixpath.join(*content.home, path): text for path, text in content.texts().items()}
    files = {posixpath.normpath(path): text for path, text in files.items()}
    if outside := [path for path in files if path.startswith(("../", "/"))]:
        told = f"the file `{outside[0]}` of {version} lies outside of the folder"
        raise InputError(Problem("damaged-library", told, "publish the agent's folder again", "library"))
    note = {
        "format": 1,
        "agent": version.agent,
        "author": version.author,
        "message": version.message,
        "sha256": version.sha256,
        "file": posixpath.normpath(posixpath.join(*content.home, content.sources.agent.path)),
        "lost": list(content.lost),
        "files": {path: _digest(text) for path, text in sorted(files.items())},
    }
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".export-") as made:
            whole = Path(made, "export")
            whole.mkdir()
            for place in content.sources.folders:
                (whole / posixpath.normpath(posixpath.join(*content.home, place))).mkdir(parents=True, exist_ok=True)
            for path, text in files.items():
                _write(whole / path, text)
            _write(whole / NOTE, json.dumps(note, indent=2, ensure_ascii=False) + "\n")
            whole.replace(folder)
    except OSError as error:
        told = f"{shown(folder)} cannot be written: {error.strerror or error}"
        raise InputError(Problem("unreadable-file", told, "choose another folder", "library")) from None
    return folder / str(note["file"])


def read_export(folder: Path) -> ExportNote:
    """What an exported folder holds.

    Raises:
        InputError: when it is not an export, or was edited since.
        SpecError: when its files cannot be read.
    """
    note = _note(folder)
    file = folder / str(note["file"])
    content = read_folder(file)
    lost = note.get("lost")
    content = VersionContent(content.sources, content.imported, content.home, tuple(map(str, lost or ())))
    if content.sha256 != note["sha256"]:
        wrong = [*_edited(folder, note["files"])]
        told = f"{shown(folder)} was edited since it was exported" + (f": {', '.join(wrong[:10])}" if wrong else "")
        raise InputError(Problem("edited-export", told, _HINT, "library"))
    return ExportNote(str(note["agent"]), str(note["author"]), str(note["message"]), file, content)


def exported_file(folder: Path) -> Path:
    """The agent file of an exported folder, or the folder itself, if it is an agent's."""
    return folder / str(_note(folder)["file"]) if (folder / NOTE).is_file() else folder


def _note(folder: Path) -> Mapping[str, Json]:
    try:
        note = json.loads(read_text(folder / NOTE).text)
        texts = [note[name] for name in ("agent", "author", "message", "sha256", "file")]
        good = note["format"] == 1 and all(isinstance(each, str) for each in texts) and isinstance(note["files"], dict)
        inside = not posixpath.isabs(note["file"]) and ".." not in note["file"].split("/")
    except SpecError:
        if not folder.is_dir():
            told = "no such folder"
            raise InputError(
                Problem("missing-file", told, "name one that `cuecard library export` wrote", shown(folder))
            ) from None
        told = f"{shown(folder)} has no {NOTE}, so it is no export"
        raise InputError(Problem("edited-export", told, _HINT, "library")) from None
    except (ValueError, LookupError, TypeError, RecursionError):
        good = inside = False
    if not (good and inside):
        told = f"{shown(folder / NOTE)} was edited, or written by a later version"
        raise InputError(Problem("edited-export", told, "export the version again", "library"))
    known: Mapping[str, Json] = note
    return known


def _edited(folder: Path, files: Json) -> Iterator[str]:
    for path, digest in files.items():
        try:
            if _digest(read_text(folder / path).text) != digest:
                yield str(path)
        except SpecError:
            yield f"{path} (missing)"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8", newline="\n")
