"""`cuecard import`: turns prompt files of other tools into agent folders, and lists what could not be converted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from cuecard.cli.counting import counted
from cuecard.cli.json_text import json_text
from cuecard.errors import CuecardError, InputError, Problem, most_telling, visible
from cuecard.outside.imports.folder import agent_name, files_of
from cuecard.outside.imports.parts import Imported
from cuecard.outside.imports.reading import read_prompt_file
from cuecard.outside.paths import shown


def import_files(paths: Sequence[Path], folder: Path, *, check: bool, as_json: bool) -> int:
    """Write each file as a separate agent, in a folder with its name; returns 1 if a text was not converted.

    Args:
        paths: files of dotprompt or Prompty.
        folder: where the agents go.
        check: only report what cannot be converted; nothing is written, and every remark counts.
        as_json: print the files and the problems for machines.

    Raises:
        CuecardError: with the problems of each unreadable file; nothing is then written.
        InputError: when two agents have the same name, or a file exists already; nothing is then written.
    """
    read = _read(paths)
    agents = {agent_name(each.name): files_of(each) for each in read}
    files = {folder / name / path: text for name, found in agents.items() for path, text in found.items()}
    if not check:
        _write(files)
    problems = [problem for each in read for problem in each.problems]
    _show(agents, problems, folder, check=check, as_json=as_json)
    return 1 if any(check or problem.severity == "error" for problem in problems) else 0


def _read(paths: Sequence[Path]) -> list[Imported]:
    found: dict[str, Imported] = {}
    wrong: list[CuecardError] = []
    for path in dict.fromkeys(paths):
        try:
            imported = read_prompt_file(path)
        except CuecardError as error:
            wrong.append(error)
            continue
        name = agent_name(imported.name)
        if name in found:
            message = f"two files make an agent `{name}`: this one and {found[name].source}"
            hint = "give one of them another `name:`"
            wrong.append(InputError(Problem("duplicate-agent", message, hint, shown(path))))
        found[name] = imported
    if wrong:
        kind = type(wrong[0]) if len({type(error) for error in wrong}) == 1 else CuecardError
        raise kind(problem for error in wrong for problem in error.problems)
    return list(found.values())


def _write(files: Mapping[Path, str]) -> None:
    there = [path for path in files if path.exists() or path.is_symlink()]
    if there:
        hint = "name another folder, or move the file; nothing was written"
        raise InputError(Problem("file-exists", "the file already exists", hint, shown(path)) for path in there)
    try:
        data = {path: text.encode("utf-8") for path, text in files.items()}  # all of them first: one may be too large
        for path, each in data.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("xb") as file:
                file.write(each)
    except (OSError, ValueError) as error:
        message = f"cannot be written to: {getattr(error, 'strerror', None) or error}"
        raise InputError(Problem("wrong-option", message, "name a folder you can write to", "--to")) from None


def _show(
    agents: Mapping[str, Mapping[str, str]], problems: Sequence[Problem], folder: Path, *, check: bool, as_json: bool
) -> None:
    if as_json:
        told = {"agents": {shown(folder / name): sorted(found) for name, found in agents.items()}, "written": not check}
        print(json_text({**told, "problems": [problem.to_json() for problem in problems]}))
        return
    listed, more = most_telling(problems)
    print("".join(f"{problem.picture()}\n\n" for problem in listed), end="")
    print(f"... and {more} more\n" if more else "", end="")
    errors = sum(problem.severity == "error" for problem in problems)
    for name, found in agents.items():
        here = visible(shown(folder / name))
        print(f"{'would write' if check else 'wrote'} {counted(len(found), 'file')} into {here}")
    print(f"left as it is: {errors}; not carried over, or changed: {len(problems) - errors}")
