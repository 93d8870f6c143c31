"""What the package ships: agents, examples and the profiles of models."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Literal

from cuecard.config.documents.validation import validate
from cuecard.config.documents.yaml import read_yaml
from cuecard.config.models_file import ModelProfiles, ModelsFile, unknown_providers
from cuecard.errors import SpecError
from cuecard.files.roots import is_folder, is_there
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


ENDINGS = ("*.yaml", "*.yml")
AGENT_FILES = ("agent.yaml", "agent.yml")
"""The patterns of names of YAML files."""


def in_folder(path: Path, name: str) -> Path:
    """The file that a folder stands for: its `name.yaml`, or `name.yml` if only that exists."""
    if not is_folder(path):
        return path
    plain, short = path / f"{name}.yaml", path / f"{name}.yml"
    return short if is_there(short) and not is_there(plain) else plain


def yaml_files(folder: Path) -> Iterator[Path]:
    """The YAML files of a folder, by name."""
    yield from sorted(path for ending in ENDINGS for path in folder.glob(ending))
