"""The agent's own model profiles: the file that its key `models` names, checked with the rest of the agent."""

from __future__ import annotations

from cuecard.agent.memo import Memo
from cuecard.config.documents.texts import SourceText
from cuecard.config.documents.validation import validate
from cuecard.config.documents.yaml_text import read_yaml
from cuecard.config.models_file import SHIPPED_PROVIDERS, ModelsFile, unknown_providers
from cuecard.errors import Problem, SpecError


def read_own_models(source: SourceText | None, memo: Memo) -> tuple[ModelsFile | None, tuple[Problem, ...]]:
    """The file and its problems; None if there is none, or it is unusable."""
    return memo(_read, source) if source else (None, ())


def _read(source: SourceText) -> tuple[ModelsFile | None, tuple[Problem, ...]]:
    try:
        document = read_yaml(source.text, source.name)
        file = validate(document, ModelsFile)
    except SpecError as error:
        return None, error.problems
    return file, (*document.warnings, *unknown_providers(document, file, SHIPPED_PROVIDERS))
