"""Reads model profiles: the shipped file, and the user's own over it."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from cuecard.config.documents.validation import validate
from cuecard.config.documents.yaml_text import read_yaml
from cuecard.config.models_file import ModelProfiles, ModelsFile, unknown_providers
from cuecard.errors import SpecError
from cuecard.outside.content import content_root
from cuecard.outside.reading import read_text


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
