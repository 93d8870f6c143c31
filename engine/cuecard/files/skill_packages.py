"""Reads complete folders of an agent's skills, and writes skills from elsewhere into a folder."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from cuecard.config.skills.packages import MAX_BYTES, SkillPackage, make_package
from cuecard.errors import InputError, Problem, SpecError
from cuecard.files.roots import Roots, is_folder, is_there, shown
from cuecard.files.safe_read import read_place
from cuecard.files.tree import Walk
from cuecard.model.tools import Skill


def read_packages(skills: Iterable[Skill], base: Path) -> tuple[tuple[SkillPackage, ...], tuple[Problem, ...]]:
    """The skills with all of their files, and a warning for each skill that cannot be served.

    Hidden files are left out; a link that leads out of the skill's folder is rejected.

    Args:
        skills: the skills.
        base: the agent file's folder.
    """
    packages: dict[str, SkillPackage] = {}
    problems: list[Problem] = []
    for skill in skills:
        file = base / skill.path
        try:
            package = make_package(read_folder(file.parent), skill.slug, shown(file))
        except SpecError as error:
            problems += (_left_out(problem) for problem in error.problems)
        else:
            packages.setdefault(package.name, package)
    return tuple(packages.values()), tuple(problems)


def read_folder(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, by its path within it.

    Raises:
        SpecError: when a file cannot be read or is a link out of the folder, or the files are too large in total.
    """
    roots = Roots.of(folder, (), ())
    walk = Walk(folder, roots.find("."), roots, None).walk()
    if walk.problems:
        raise SpecError(walk.problems)
    files: dict[str, bytes] = {}
    left = MAX_BYTES
    for found in walk.found:
        data, _ = read_place(found.place, shown(folder.joinpath(*found.shown)), left)
        left -= len(data)
        files["/".join(found.shown)] = data
    return files


def differing(package: SkillPackage, into: Path) -> tuple[dict[Path, bytes], tuple[Path, ...]]:
    """The files of a skill that are missing or different in a folder of skills, and which of them exist there.

    Args:
        package: the skill.
        into: the folder of skills.

    Raises:
        SpecError: when an existing file cannot be read.
    """
    folder = into / package.name
    there: Mapping[str, bytes] = read_folder(folder) if is_folder(folder) else {}
    other = {folder / path: data for path, data in package.files.items() if there.get(path) != data}
    return other, tuple(path for path in other if is_there(path))


def write_files(files: Mapping[Path, bytes]) -> None:
    """Write these files.

    Raises:
        InputError: when one cannot be written.
    """
    for path, data in files.items():
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        except OSError as error:
            message = f"it cannot be written: {(error.strerror or str(error)).lower()}"
            hint = "check that the folder is writable"
            raise InputError(Problem("unreadable-file", message, hint, shown(path))) from None


def _left_out(problem: Problem) -> Problem:
    hint = f"{problem.hint}\nthe skill is not served" if problem.hint else "the skill is not served"
    return replace(problem, advice=hint, severity="warning")
