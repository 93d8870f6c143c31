"""The studio's own folder, `.cuecard/studio` below the current one: for this user's eyes alone."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path

from cuecard.files.private import check_folder, refused, whose
from cuecard.studio.turns import TurnStore

_TOKEN_BYTES = 24


class Home:
    """Private files; where nothing can be written, nothing is kept, and `unkept` says why."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.unkept: str = ""
        self.turns: TurnStore = TurnStore(folder / "turns")
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            check_folder(folder)
            _write(folder.parent / ".gitignore", "*\n")
        except OSError as error:
            self.unkept = str(error.strerror or error)

    def token(self) -> str:
        """What opens the studio; the same after a restart, so that open tabs go on."""
        place = self.folder / "token"
        made = secrets.token_urlsafe(_TOKEN_BYTES)
        if self.unkept:
            return made
        with suppress(OSError):
            return _kept(place) or _write(place, made)
        return made


def _kept(place: Path) -> str:
    """What a file says, if nobody else can have written or read it."""
    try:
        handle = os.open(place, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
    except FileNotFoundError:
        return ""
    with os.fdopen(handle, encoding="utf-8") as file:
        if why := whose(os.fstat(file.fileno())):
            raise refused(place, why)
        text = file.read(200).strip()
        return text if len(text) >= _TOKEN_BYTES else ""


def _write(place: Path, text: str) -> str:
    """Write a file of this user's alone; what another studio has written meanwhile stays, and is what counts."""
    try:
        handle = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return _kept(place) or text
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
    return text
