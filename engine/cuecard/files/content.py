"""What the package ships: agents, examples and the profiles of models."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import suppress
from difflib import get_close_matches
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Literal

from cuecard.config.documents.validation import validate
from cuecard.config.documents.yaml import read_yaml
from cuecard.config.models_file import ModelProfiles, ModelsFile, unknown_providers
from cuecard.errors import Problem, SpecError
from cuecard.files.roots import is_file, is_folder, is_there, shown
from cuecard.files.safe_read import read_text


def content_root() -> Path:
    """The folder that contains `prompts/`, `tool_instructions/`, `schemas/` and `examples/`.

    They are bundled with an installed package; in a checkout, they are at the top level.
    """
    package = Path(__file__).parents[1]
    bundled = package / "_bundled"
    return bundled if bundled.is_dir() else package.parents[1]


def find_content(path: Path, kind: Literal["agent", "assistant"] = "agent") -> Path:
    """The path itself or, if nothing exists there, the content that cuecard ships under that path or name.

    `prompts/cms/agent.yaml` works anywhere, and so does `cms`: the agent of that name, or its assistant.
    """
    if path.is_absolute() or is_there(path):
        return path
    root = content_root()
    folder = root / ("prompts" if kind == "agent" else "examples") / path
    by_name = folder / f"{kind}.yaml" if len(path.parts) == 1 else folder
    return next((found for found in (root / path, by_name) if is_there(found)), path)


def find_agent(path: str | Path) -> Path:
    """The same for the library, with a warning if a shipped agent is used, since the user's own may be missing by
    mistake.
    """
    given = Path(path)
    found = find_content(given)
    if found != given:
        warnings.warn(f"`{path}` is not in this folder: using the agent that cuecard brings", stacklevel=4)
    return found


def read_models(own: Path | None = None) -> ModelProfiles:
    """The profiles of `prompts/models.yaml`, overridden figure by figure by a file of your own.

    Raises:
        SpecError: with every problem of the invalid file.
    """
    return _over(_shipped(), own) if own else _shipped()


def profiles_with(own: ModelsFile | None) -> ModelProfiles:
    """The shipped profiles, overridden by an agent's own file, which was checked with the agent."""
    return _shipped().merged(own) if own else _shipped()


@cache
def _shipped() -> ModelProfiles:
    """Read once: the file belongs to the installed package and does not change."""
    return _over(ModelProfiles(), content_root() / "prompts" / "models.yaml")


def _over(profiles: ModelProfiles, path: Path) -> ModelProfiles:
    source = read_text(path)
    document = read_yaml(source.text, source.name)
    file = validate(document, ModelsFile)
    problems = [*document.warnings, *unknown_providers(document, file, profiles.providers)]
    if any(problem.severity == "error" for problem in problems):
        raise SpecError(problems)
    return profiles.merged(file)


YAML_SUFFIXES = frozenset({".yaml", ".yml"})
ENDINGS = ("*.yaml", "*.yml")
AGENT_FILES = ("agent.yaml", "agent.yml")
"""The patterns of names of YAML files."""


def in_folder(path: Path, name: str) -> Path:
    """The file that a folder stands for: its `name.yaml`, or `name.yml` if only that exists."""
    if not is_folder(path):
        return path
    plain, short = path / f"{name}.yaml", path / f"{name}.yml"
    return short if is_there(short) and not is_there(plain) else plain


def has_agent(path: Path) -> bool:
    """Whether there is an agent: its file, or its folder."""
    file = in_folder(path, "agent")
    with suppress(SpecError):
        return is_file(file) and (is_folder(path) or is_agent_text(read_text(file).text))
    return False


def is_agent_text(text: str) -> bool:
    """Whether a text is that of an agent file, as far as a look at its lines tells."""
    return _BEGINS.search(text) is not None


def no_agent(path: Path, otherwise: str = "check the path: it is relative to the current folder") -> str:
    """The way out where somebody looks for an agent and none is: the path that was meant, as far as one is like it."""
    if is_folder(path):
        below = [f"`{shown(each)}`" for each in _entries(path) if is_folder(each) and has_agent(each)]
        way = "name an agent: its file, its folder, or the name of one that cuecard brings, such as `cms`"
        return f"name one of the agents below it: {', '.join(below[:8])}" if below else way
    if meant := next((each for each in _alike(path)), None):
        return f"did you mean `{meant}`?"
    return no_agent(path.parent) if path.name in AGENT_FILES and is_folder(path.parent) else otherwise


def _alike(path: Path) -> Iterator[str]:
    """Agents whose path differs from this one in the name where it leads nowhere, the most similar first."""
    for number, part in enumerate(path.parts):
        here, rest = Path(*path.parts[:number]), path.parts[number + 1 :]
        if is_there(here / part):
            continue
        names = [each.name for each in _entries(here)]
        shipped = [] if number or rest else [each.name for each in _entries(content_root() / "prompts")]
        for name in get_close_matches(part, [*names, *shipped], 5):
            found = Path(here, name, *rest)
            if has_agent(found) or (name in shipped and has_agent(content_root() / "prompts" / name)):
                yield found.as_posix()
        return


def not_yaml(file: Path) -> Problem:
    """The problem of a template or another text where an agent file is wanted, with the agent that names it."""
    kind = "a template" if file.suffix in {".xml", ".hbs", ".handlebars", ".mustache"} else "a text"
    agent = next(_agents_of(file), None)
    way = f"name its agent: {shown(agent)}" if agent else "name the agent file that names it"
    if file.suffix in {".prompt", ".prompty", ".jinja", ".j2"}:
        way = f"make an agent of it: cuecard import {shown(file)} --to DIR"
    return Problem("wrong-file", f"this is {kind}, not an agent file", way, shown(file))


def _agents_of(file: Path) -> Iterator[Path]:
    """The YAML files beside it that name it, and the agents of its folder and of those above, nearest first."""
    for each in yaml_files(file.parent):
        if has_agent(each) and file.name in read_text(each).text:
            yield each
    for folder in (file.absolute().parent, *file.absolute().parent.parents):
        if has_agent(folder):
            yield in_folder(folder, "agent")
        if is_there(folder / ".git"):
            return


_BEGINS = re.compile(r"^\s*\{?\s*([\"']?)(?:agent|extends)\1\s*:", re.MULTILINE)
_MOST = 2_000
"""How many entries of a folder are looked at for the one that was meant."""


def _entries(folder: Path) -> list[Path]:
    with suppress(OSError):
        return sorted(islice(folder.iterdir(), _MOST))
    return []


def yaml_files(folder: Path) -> Iterator[Path]:
    """The YAML files of a folder, by name."""
    yield from sorted(path for ending in ENDINGS for path in folder.glob(ending))
