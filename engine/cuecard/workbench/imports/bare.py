"""Templates without a front matter: Jinja files, texts for `str.format`, and both as texts in YAML."""

from __future__ import annotations

import re
from pathlib import Path
from string import Formatter
from typing import Literal, TypeAlias

from cuecard.config.documents.yaml import read_yaml
from cuecard.errors import Problem, SpecError, did_you_mean
from cuecard.workbench.imports.prompt import EMPTY, ImportedPrompt, Input, Notes, PromptMessage
from cuecard.workbench.imports.prompty import read_prompty
from cuecard.workbench.imports.writer import HandlebarsWriter

Language: TypeAlias = Literal["jinja2", "format"]

_LANGUAGES: dict[str, Language] = {".jinja": "jinja2", ".jinja2": "jinja2", ".j2": "jinja2", ".txt": "format"}
BARE = tuple(_LANGUAGES)
"""The extensions of templates without a front matter."""

_YAML = (".yaml", ".yml")
_JINJA = re.compile(r"\{[{%#]")
_NAME = re.compile(r"[A-Za-z_]\w*")


def language_of(suffix: str) -> Language:
    """The template language of an extension in `BARE`."""
    return _LANGUAGES[suffix]


def within(path: Path) -> tuple[Path, str]:
    """The file that a path names, and the key in it: `prompts.yaml#system.text`; an empty key for any other path."""
    name, _, key = path.name.partition("#")
    return (path.with_name(name), key) if key and name.endswith(_YAML) else (path, "")


def read_key(text: str, name: str, key: str) -> ImportedPrompt:
    """One text of a YAML file; Jinja if it has a tag, otherwise a text for `str.format`.

    Args:
        text: the file.
        name: its name in errors.
        key: the dotted path of the text.

    Raises:
        SpecError: when the file is not YAML, or has no such text; with the keys that it has.
    """
    document = read_yaml(text, name)
    texts = {
        ".".join(map(str, path)): document.at(path)
        for path in document.values
        if path and isinstance(document.at(path), str)
    }
    if key not in texts:
        hint = did_you_mean(key, texts)
        raise SpecError(Problem("wrong-file", f"there is no text `{key}` in it", hint, name))
    said = texts[key]
    return read_bare(said, f"{name}#{key}", key.rpartition(".")[2], "jinja2" if _JINJA.search(said) else "format")


def read_bare(text: str, name: str, stem: str, language: Language) -> ImportedPrompt:
    """A template without a front matter.

    Args:
        text: the template.
        name: its file's name in errors.
        stem: what the agent is called.
        language: the template language.

    Raises:
        SpecError: when the template cannot be read.
        InputError: when jinja2 is needed and not installed.
    """
    if language == "jinja2":
        return read_prompty(text, name, stem, lambda _: None)
    notes = Notes(name, text)
    written, reads = _from_format(text, notes)
    return ImportedPrompt(
        name=stem,
        source=name,
        messages=(PromptMessage("system", written),) if written.strip() else (),
        inputs={key: Input("string", (EMPTY["string"],)) for key in reads},
        partials={},
        sample={},
        description="",
        trim=True,
        problems=notes.in_order(),
        text=text,
    )


def _from_format(text: str, notes: Notes) -> tuple[str, list[str]]:
    """The template in Handlebars, and the names that it reads."""
    writer = HandlebarsWriter()
    reads: list[str] = []
    try:
        fields = list(Formatter().parse(text))
    except ValueError as error:
        hint = "write `{{` and `}}` for literal braces, or name a Jinja file `.jinja`"
        raise SpecError(Problem("wrong-file", f"`str.format` cannot read this: {error}", hint, notes.name)) from None
    line = 1
    for before, field, form, conversion in fields:
        writer.text(before)
        line += before.count("\n")
        if field is None:
            continue
        if not _NAME.fullmatch(field) or form or conversion:
            written = f"{{{field}{f'!{conversion}' if conversion else ''}{f':{form}' if form else ''}}}"
            notes.add(line, f"`{written}` has no counterpart", "pass the finished text under a plain name")
            writer.text(f"{notes.mark(line)}{written}")
            continue
        reads.append(field)
        writer.tag(f"{{{{{{{field}}}}}}}")
    return writer.written(), list(dict.fromkeys(reads))
