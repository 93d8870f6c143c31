"""Prompt files of other tools as agents."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from cuecard.config.values import InputType
from cuecard.errors import CuecardError, InputError, Problem, Span, SpecError, most_telling, visible
from cuecard.files.roots import is_folder, is_there, shown
from cuecard.files.safe_read import read_text
from cuecard.model import Json
from cuecard.workbench.imports.bare import BARE, language_of, read_bare, read_key, within
from cuecard.workbench.imports.dotprompt import read_dotprompt
from cuecard.workbench.imports.prompt import ImportedPrompt, Input, PromptMessage
from cuecard.workbench.imports.prompty import read_prompty
from cuecard.workbench.output import counted, json_text
from cuecard.workbench.step import call_from, open_engine
from cuecard.workspace import Workspace

ENDINGS = (".prompt", ".prompty", *BARE)
"""The known extensions: dotprompt, Prompty, and templates without a front matter."""


def read_prompt_file(path: Path) -> ImportedPrompt:
    """One file of another tool.

    Raises:
        InputError: when it is a folder or an unknown kind of file, or a package is missing.
        SpecError: when it is missing, too large, not UTF-8, or its front matter or its template cannot be read.
        TemplateSyntaxError: when its Handlebars cannot be read.
    """
    file, key = within(path)
    name = shown(file)
    if is_folder(file):
        hint = f"name the files in it, such as {name}/*.prompt"
        raise InputError(Problem("wrong-file", "this is a folder", hint, name))
    if key:
        return read_key(read_text(file).text, name, key)
    if path.suffix not in ENDINGS:
        known = ", ".join(f"`{ending}`" for ending in ENDINGS)
        message = f"only files that end in {known} are supported, and texts in YAML: `prompts.yaml#key`"
        hint = "copy the text of any other into a section of an agent file"
        raise InputError(Problem("wrong-file", message, hint, name))
    if path.suffix in BARE:
        return read_bare(read_text(path).text, name, path.name.partition(".")[0], language_of(path.suffix))
    text = read_text(path).text
    if path.suffix == ".prompty":
        return read_prompty(text, name, path.stem, lambda named: _beside(path.parent / named))
    return read_dotprompt(text, name, path.stem, lambda named: _partial(path.parent / f"_{named}.prompt"))


def _beside(path: Path) -> str | None:
    try:
        return read_text(path).text
    except SpecError:
        return None


def _partial(path: Path) -> tuple[str, str] | None:
    return (read_text(path).text, shown(path)) if is_there(path) else None


_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_WORDS = {"true", "false", "null", "yes", "no", "on", "off", "y", "n"}
_EXAMPLES: Mapping[InputType, Json] = {
    "string": "example", "integer": 1, "number": 1, "boolean": True, "list": [], "object": {},
}  # fmt: skip


def agent_name(name: str) -> str:
    """A valid name for an agent."""
    made = re.sub(r"[^A-Za-z0-9_-]+", "-", name).strip("-_")
    return (made if made[:1].isalpha() else f"agent-{made}".rstrip("-"))[:64]


def files_of(imported: ImportedPrompt) -> dict[str, str]:
    """The files as paths and texts. Texts are in separate files; the turn has the sample's values, or the first
    that fit.
    """
    sections = list(_sections(imported))
    end = "\n" if imported.trim else ""
    texts = {f"{id_}.md": f"{message.text}{end}" for id_, message in sections}
    partials = {f"partials/{name}.md": text for name, text in imported.partials.items()}
    turn = {
        name: imported.sample.get(name, *each.values[:1] or (_EXAMPLES[each.type],))
        for name, each in imported.inputs.items()
        if imported.sample.get(name) is not None or not each.default
    }
    written = "".join(f"  {_key(name)}: {_value(value)}\n" for name, value in turn.items())
    return {
        "agent.yaml": "".join(_agent(imported, sections)),
        **texts,
        **partials,
        "turns/first.yaml": f"inputs:\n{written}" if written else "inputs: {}\n",
    }


def _sections(imported: ImportedPrompt) -> Iterator[tuple[str, PromptMessage]]:
    """Each message with a name."""
    seen: dict[str, int] = {}
    for message in imported.messages:
        seen[message.role] = seen.get(message.role, 0) + 1
        number = seen[message.role]
        yield (message.role if number == 1 else f"{message.role}-{number}"), message


def _agent(imported: ImportedPrompt, sections: list[tuple[str, PromptMessage]]) -> Iterator[str]:
    yield "".join(f"# {line}\n" for line in imported.description.split("\n") if line.strip() and line.isprintable())
    yield f"agent: {agent_name(imported.name)}\n"
    if imported.inputs:
        yield "inputs:\n"
        for name, each in imported.inputs.items():
            yield f"  {_key(name)}: {{{', '.join(_facts(each))}}}\n"
    layout = ["escaping: names"]
    layout += [] if imported.trim else ["trim: false"]
    layout += ["partials: partials"] if imported.partials else []
    yield f"layout: {{{', '.join(layout)}}}\n"
    yield "sections:\n" if sections else "sections: []\n"
    for id_, message in sections:
        said = "" if message.role == "system" else f", role: {message.role}"
        said += ", lifetime: conversation" if message.late else ""  # it is a message of the conversation, not an aside
        yield f"  - {{id: {id_}{said}, file: {id_}.md}}\n"
    late = [id_ for id_, message in sections if message.late]
    if late:
        yield f"messages: {{order: [system, metadata, history, {', '.join(late)}, current]}}\n"


def _facts(each: Input) -> Iterator[str]:
    yield f"type: {each.type}"
    if each.values:
        yield f"values: {_value(list(each.values))}"
    if each.optional:
        yield f"optional: {_value(list(each.optional))}"
    if each.default:
        yield f"default: {_value(each.default[0])}"
    if each.description:
        yield f"description: {_value(each.description)}"


def _key(name: str) -> str:
    return name if _PLAIN.fullmatch(name) and name.lower() not in _WORDS else _value(name)


def _value(value: Json) -> str:
    """A value as YAML in JSON notation."""
    said = json.dumps(value, ensure_ascii=False, default=str)
    return "".join(c if c.isprintable() else f"\\U{ord(c):08X}" for c in said)


def import_files(paths: Sequence[Path], folder: Path, *, check: bool, as_json: bool) -> int:
    """Write each file as a separate agent, in a folder with its name; returns 1 if a text was not converted.

    Args:
        paths: files of dotprompt or Prompty.
        folder: where the agents go.
        check: only report what cannot be converted; nothing is written, and every remark counts.
        as_json: print the files and the problems for machines.

    Raises:
        CuecardError: with the problems of each unreadable file, or of each that would make an agent that `check`
            refuses; nothing is then written.
        InputError: when two agents have the same name, or a file exists already; nothing is then written.
    """
    read = [_opening(each) for each in _read(paths)]
    agents = {agent_name(each.name): files_of(each) for each in read}
    refused = [problem for each in read for problem in refusals(each, agents[agent_name(each.name)])]
    if refused:
        raise SpecError([*(problem for each in read for problem in each.problems), *refused])
    files = {folder / name / path: text for name, found in agents.items() for path, text in found.items()}
    if not check:
        _write(files)
    problems = [problem for each in read for problem in each.problems]
    _show(agents, problems, folder, check=check, as_json=as_json)
    return 1 if any(check or problem.severity == "error" for problem in problems) else 0


def _read(paths: Sequence[Path]) -> list[ImportedPrompt]:
    found: dict[str, ImportedPrompt] = {}
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


def _opening(imported: ImportedPrompt) -> ImportedPrompt:
    """The file, with examples of what its texts read if it is refused without."""
    tried = (imported, imported.with_examples(), imported.with_examples(asked=True))
    return next((each for each in tried if not refusals(each, files_of(each))), imported)


def refusals(imported: ImportedPrompt, files: Mapping[str, str]) -> list[Problem]:
    """What `check` and the first turn refuse in an agent, each at its place in the file that it comes from.

    Args:
        imported: the file.
        files: the agent's files, as paths and texts.
    """
    with TemporaryDirectory(prefix="cuecard-import-") as made:
        folder = Path(made)
        for path, text in files.items():
            file = folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8", newline="")
        found = list(_refused(folder))
    return list(dict.fromkeys(_placed(problem, imported) for problem in found))


def _refused(folder: Path) -> Iterable[Problem]:
    workspace = Workspace([folder])
    reports = [*workspace.unread, *map(workspace.check, workspace.agents)]
    errors = [problem for each in reports for problem in each.problems if problem.severity == "error"]
    if errors:
        return errors
    try:
        call_from(open_engine(folder), discovered="", values=(), turn=folder / "turns" / "first.yaml")
    except CuecardError as error:
        return error.problems
    return ()


def _placed(problem: Problem, imported: ImportedPrompt) -> Problem:
    """The problem at the words of the file that became what is wrong; at its first line where there are none."""
    lines = imported.text.split("\n")
    for words in _words(problem, imported):
        for number, line in enumerate(lines, 1):
            if (at := line.find(words)) >= 0:
                return _moved(problem, imported, Span(number, at + 1, len(words)), line)
    return _moved(problem, imported, Span(1, 1, max(1, len(lines[0]))), lines[0])


def _words(problem: Problem, imported: ImportedPrompt) -> Iterator[str]:
    """What may stand in the file, the longest first: the whole line, what is marked in it, an input that is named."""
    start = problem.span.column - 1 - problem.clipped if problem.span else 0
    marked = problem.source[start : start + problem.span.length] if problem.span else ""
    yield from filter(None, (problem.source.strip(), marked.strip(" \"'")))
    yield from (name for name in imported.inputs if f"`{name}`" in problem.message)


def _moved(problem: Problem, imported: ImportedPrompt, span: Span, line: str) -> Problem:
    return replace(problem, name=imported.source, span=span, source=line, chain=(), clipped=0)


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
