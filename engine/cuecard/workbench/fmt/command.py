"""`cuecard fmt`: formats files; comments stay, and every prompt stays the same."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path

from cuecard.errors import InputError, Problem, SpecError, pictures, visible
from cuecard.files.atomic_write import has_other_names, rewrite, with_line_ends
from cuecard.files.host_code import helper_loader
from cuecard.workbench.fmt.files import File, FileChoice, find_files
from cuecard.workbench.fmt.texts import Texts
from cuecard.workbench.fmt.yaml_layout import KeptError, formatted_yaml, not_formatted
from cuecard.workbench.output import json_text


@dataclass(frozen=True, slots=True)
class FormatOptions:
    """The options of formatting.

    Attributes:
        check: write nothing; the exit code is 1 if a file would change.
        diff: the same, and show how.
        as_json: print the report as JSON.
        allow_code: whether helpers that an agent file names may be loaded, to know what its templates say.
    """

    check: bool = False
    diff: bool = False
    as_json: bool = False
    allow_code: bool = False

    @property
    def writes(self) -> bool:
        """Whether files are written."""
        return not (self.check or self.diff)


@dataclass(frozen=True, slots=True)
class FormattedFile:
    """A file that needs formatting, and its formatted text."""

    file: File
    text: str

    @property
    def written(self) -> str:
        """The text with the file's own line ends."""
        return with_line_ends(self.text, self.file.data)


def fmt(paths: Sequence[Path], options: FormatOptions = FormatOptions()) -> int:
    """Format files and folders; the exit code is 1 for an error, or if files would change but are not written.

    Args:
        paths: files, and folders of agents.
        options: whether to write files, and what to show.
    """
    found = find_files(paths)
    problems = [*found.problems]
    read = [*_yaml(found, problems), *_texts(found, problems, allow_code=options.allow_code)]
    changed = [each for each in read if each.written.encode() != each.file.data]
    changed = [each for each in changed if not _is_linked(each, problems)]
    if options.writes:
        changed = [each for each in changed if _is_written(each, problems)]
    _show(changed, len(read), problems, options)
    failed = any(problem.severity == "error" for problem in problems)
    return 1 if failed or (changed and not options.writes) else 0


def _yaml(found: FileChoice, problems: list[Problem]) -> Iterator[FormattedFile]:
    for file in found.yaml.values():
        try:
            yield FormattedFile(file, formatted_yaml(file.text, file.name))
        except KeptError as why:
            problems.append(not_formatted(file.name, str(why)))
        except SpecError as error:
            problems += error.problems


def _texts(found: FileChoice, problems: list[Problem], *, allow_code: bool) -> list[FormattedFile]:
    texts = Texts(found, helper_loader(allow_code=allow_code))
    made = [FormattedFile(file, text) for file, text in texts.formatted()]
    problems += texts.problems
    return made


def _is_linked(each: FormattedFile, problems: list[Problem]) -> bool:
    """Whether it has further hard links, which would keep the old text."""
    linked = has_other_names(each.file.path)
    if linked:
        problems.append(not_formatted(each.file.name, "it has other names (hard links) that would keep the old text"))
    return linked


def _is_written(each: FormattedFile, problems: list[Problem]) -> bool:
    try:
        rewrite(each.file.path, each.text, each.file.text, keep_mark=False)
    except InputError as error:
        problems += error.problems
        return False
    return True


def _show(changed: Sequence[FormattedFile], read: int, problems: Sequence[Problem], options: FormatOptions) -> None:
    failed = any(problem.severity == "error" for problem in problems)
    if options.as_json:
        told = {
            "ok": not failed and (options.writes or not changed),
            "written": options.writes,
            "changed": [_told(each, diff=options.diff) for each in changed],
            "unchanged": read - len(changed),
            "problems": [problem.to_json() for problem in problems],
        }
        print(json_text(told))
        return
    if problems:
        sys.stderr.write(f"{pictures(problems)}\n\n")
    for each in changed:
        print("".join(_diff(each)) if options.diff else _line(each, written=options.writes), end="")
    verb = "formatted" if options.writes else "would be formatted"
    if not options.diff or not changed:
        print(f"{_files(len(changed))} {verb}, {_files(read - len(changed))} already formatted")


def _told(each: FormattedFile, *, diff: bool) -> dict[str, str]:
    return {"file": each.file.name, **({"diff": "".join(_diff(each))} if diff else {})}


def _line(each: FormattedFile, *, written: bool) -> str:
    return f"{'formatted' if written else 'would format'} {visible(each.file.name)}\n"


def _files(count: int) -> str:
    return f"{count} file" if count == 1 else f"{count} files"


def _diff(each: FormattedFile) -> Iterator[str]:
    """The changes line by line, with line ends, a byte order mark and control characters made visible."""
    name = visible(each.file.name)
    before = each.file.data.decode("utf-8").splitlines(keepends=True)
    for line in unified_diff(before, each.written.splitlines(keepends=True), name, name):
        yield f"{visible(line.removesuffix(chr(10)))}\n"
