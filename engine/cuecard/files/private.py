"""Folders in which a program keeps data for itself: what anybody else could have written there is not used."""

from __future__ import annotations

import logging
import os
import stat
from functools import cache
from pathlib import Path

from cuecard.errors import visible

_OTHERS = stat.S_IWGRP | stat.S_IWOTH

_log = logging.getLogger(__name__)


class NotOursError(OSError):
    """A folder or a file that somebody else owns or can write to, or that a link leads to."""


def check_folder(folder: Path) -> None:
    """Refuse a folder that is not this user's alone, and say so once, in one line of the log.

    Raises:
        NotOursError: with the reason and the way out.
        OSError: when there is no such folder.
    """
    about = folder.lstat()
    if why := whose(about):
        raise refused(folder, why)
    if not stat.S_ISDIR(about.st_mode):
        raise NotADirectoryError(f"{folder} is not a folder")


def whose(about: os.stat_result) -> str:
    """Why something cannot be trusted as this user's own; empty if it can. Windows has no such owners and modes."""
    if os.name != "posix":
        return ""
    if stat.S_ISLNK(about.st_mode):
        return "it is a symbolic link: name the place that it leads to"
    if about.st_uid != os.getuid():
        return "it belongs to another user: name one of your own"
    return "others can write to it: take that right from them with `chmod go-w`" if about.st_mode & _OTHERS else ""


def refused(path: Path, why: str) -> NotOursError:
    """The error for a folder or file, which the log has once."""
    told = f"{visible(str(path))} is not used, because {why}"
    _tell(told)
    return NotOursError(told)


@cache
def _tell(told: str) -> None:
    _log.warning(told)
