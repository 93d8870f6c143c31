"""One entry of a list of files: a file, all files that match a pattern, or those of a folder and its parents."""

import re
from collections.abc import Callable
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, ValidationError, model_validator

from cuecard.config.documents.validation import FileModel
from cuecard.config.sections.file_patterns import FilePattern, has_inputs, inputs_in
from cuecard.config.values import Texts

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
_SHELL = re.compile(r"~/|\$\{?\w|%\w+%")


def _each(check: Callable[[str], object]) -> AfterValidator:
    def checked(texts: tuple[str, ...]) -> tuple[str, ...]:
        for text in texts:
            _told(text, check)
        return texts

    return AfterValidator(checked)


def _told(text: str, check: Callable[[str], object]) -> str:
    try:
        check(text)
    except ValueError as error:
        raise ValueError(f"`{text}` {error}") from None
    return text


def _path(text: str) -> None:
    if "*" in text:
        raise ValueError("has a wildcard, which only `glob` reads: write `glob` in place of `path`")
    if _ADDRESS.match(text):
        raise ValueError("is an address; only files can be read, which your program may supply by a path")
    if _SHELL.match(text):
        raise ValueError("begins with what only a shell replaces; write a path relative to this file, or an input")
    if has_inputs(text):
        FilePattern.of_path(text)


def _exclusion(text: str) -> None:
    if has_inputs(text):
        raise ValueError("has an input, which only `glob` and `path` can read")
    FilePattern.of_glob(text)


def _name(text: str) -> None:
    if has_inputs(text):
        raise ValueError("should be a name without inputs")
    FilePattern.of_path(text)


Paths = Annotated[Texts, _each(_path)]
Globs = Annotated[Texts, _each(FilePattern.of_glob)]
Exclusions = Annotated[Texts, _each(_exclusion)]
FileNames = Annotated[Texts, _each(_name)]
Folder = Annotated[str, AfterValidator(lambda text: _told(text, inputs_in))]


class Upward(FileModel):
    """The file with a given name in a folder and in each of its parents, the outermost first."""

    name: FileNames = Field(
        description="the file's name; of several names, the first one found in a folder is used", min_length=1
    )
    from_: Folder = Field(alias="from", description="the innermost folder; it may read inputs, as `{{cwd}}`")
    to: Folder = Field(".", description="the outermost folder; `.` for that of this file")


class FileEntry(FileModel):
    """A file of the list, or several: exactly one of `path`, `glob` and `upward`."""

    path: Paths = Field(
        (),
        description="its path, relative to this file; of several paths, the first one with a file is used. `{{name}}` "
        "is replaced by an input, which can be at most one path segment",
        min_length=1,
    )
    glob: Globs = Field(
        (), description="all files that match, such as `rules/**/*.md`; it can read inputs like `path`", min_length=1
    )
    exclude: Exclusions = Field(
        (), description="what `glob` skips: names of files or folders, or globs of whole paths (with a `/`)"
    )
    sort: Literal["path", "-path", "name", "-name"] = Field(
        "path", description="the order of what `glob` finds: by path or by the file's name; `-` for the reverse"
    )
    upward: Upward | None = Field(None, description="the file of one name in a folder and in each of its parents")
    optional: bool = Field(
        default=False, description="whether a `glob`, an `upward` or a path with inputs may match no file at all"
    )
    name: str = Field(
        "",
        description="its name in the prompt and the manifest; by default the last part of the path. Files found by "
        "`glob` or `upward` are named by their path below the searched folder",
    )
    purpose: str = Field("", description="the purpose of the file, in one line; printed by `{{{purpose}}}` of `item`")
    default: str | None = Field(
        None, description="the text to use if the file is missing, unreadable or a draft; none by default"
    )
    keep_empty: bool = Field(default=False, description="whether to print a file even if it is empty")
    empty: str = Field("", description="the content to print for a kept empty file")
    suffix: str = Field("", description="a text right after the file's content; printed by `{{{suffix}}}` of `item`")

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        ways = [key for key in ("path", "glob", "upward") if getattr(self, key)]
        if len(ways) != 1:
            told = f"has {' and '.join(ways)}" if ways else "names no file"
            raise ValueError(f"{told}; write exactly one of `path`, `glob` and `upward`")
        if not self.glob and {"exclude", "sort"} & self.model_fields_set:
            raise ValueError("has `exclude` or `sort`, which belong to a `glob`")
        if self.name and not self.path:
            raise ValueError("has one `name` for several files; remove it")
        if self.optional and self.path and not any(map(has_inputs, self.path)):
            raise ValueError("has a plain `path`, which may always be missing; remove `optional`")
        return self

    @property
    def title(self) -> str:
        """Its name in the prompt and the manifest."""
        if self.upward:
            return self.upward.name[0]
        first = (*self.path, *self.glob)[0]
        return self.name or (first.rpartition("/")[2] if self.path else first) or first

    @property
    def inputs(self) -> tuple[str, ...]:
        """The inputs that its paths read, as written."""
        folders = (self.upward.from_, self.upward.to) if self.upward else ()
        return tuple(name for text in (*self.path, *self.glob, *folders) for name in inputs_in(text))


def written_entry(written: Any) -> FileEntry | None:
    """An entry as written in a file; None if it is invalid, which the validation reports."""
    try:
        return FileEntry.model_validate(written)
    except ValidationError:
        return None
