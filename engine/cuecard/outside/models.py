"""Reads model profiles: the shipped file, and the user's own over it."""

from __future__ import annotations

from pathlib import Path

from cuecard.errors import SpecError
from cuecard.outside.content import content_root
from cuecard.outside.folder import read_text
from cuecard.spec.models_file import ModelProfiles, ModelsFile, unknown_providers
from cuecard.spec.validate import validate
from cuecard.spec.yaml_text import read_yaml


def read_models(own: Path | None = None) -> ModelProfiles:
    """The profiles of `prompts/models.yaml`, and over them, figure by figure, those of a file of your own.

    Raises:
        SpecError: with every problem of the file that is wrong.
    """
    profiles = ModelProfiles()
    for path in (content_root() / "prompts" / "models.yaml", *((own,) if own else ())):
        source = read_text(path)
        document = read_yaml(source.text, source.name)
        file = validate(document, ModelsFile)
        problems = [*document.warnings, *unknown_providers(document, file, profiles.providers)]
        if any(problem.severity == "error" for problem in problems):
            raise SpecError(problems)
        profiles = profiles.merged(file)
    return profiles
