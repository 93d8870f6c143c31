"""A document against a model: every mismatch at the place where it is written, with the way out."""

from __future__ import annotations

from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, ValidationError

from cuecard.errors import Problem, SpecError, did_you_mean
from cuecard.spec.yaml_text import Document, Path


class FileModel(BaseModel):
    """A mapping in a file: frozen, no unknown keys, no silent conversion."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, hide_input_in_errors=True)


Model = TypeVar("Model", bound=FileModel)


def validate(document: Document, model: type[Model]) -> Model:
    """The document as a model.

    Raises:
        SpecError: with one problem per wrong, missing or unknown key.
    """
    try:
        return model.model_validate(document.value)
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False)
        problems = [_problem(document, model, e) for e in found]
        raise SpecError(sorted(problems, key=lambda p: (p.span.line, p.span.column) if p.span else (0, 0))) from None


def _problem(document: Document, model: type[FileModel], error: Any) -> Problem:
    path = _written_path(document, error["loc"])
    kind = error["type"]
    is_key = error["loc"][-1:] == ("[key]",)
    if kind == "extra_forbidden":
        key = str(path[-1])
        hint = did_you_mean(key, _known_keys(model, path[:-1]))
        return document.problem(path, "unknown-key", f"unknown key `{key}`", hint, key=True)
    if kind == "missing":
        key = str(error["loc"][-1])
        hint = _described(model, path, key)
        return document.problem(path, "missing-key", f"`{key}` is missing", hint, key=True)
    label = ".".join(str(part) for part in path) or "the file"
    return document.problem(
        path, "wrong-value", f"`{label}` {_message(error)}", _hint(document, path, kind), key=is_key
    )


def _written_path(document: Document, loc: tuple[str | int, ...]) -> Path:
    """The part of pydantic's location that the file really holds: its marks for unions and tuples are not keys."""
    path: Path = ()
    for part in loc:
        if (*path, part) in document.values or (*path, part) in document.keys:
            path = (*path, part)
    return path


def _known_keys(model: type[BaseModel], path: Path) -> list[str]:
    inner = _model_at(model, path)
    return [field.alias or name for name, field in inner.model_fields.items()] if inner else []


def _described(model: type[BaseModel], path: Path, key: str) -> str:
    inner = _model_at(model, path)
    for name, field in inner.model_fields.items() if inner else ():
        if key in {name, field.alias} and field.description:
            return f"add `{key}:` - {field.description}"
    return f"add `{key}:`"


def _model_at(model: Any, path: Path) -> type[BaseModel] | None:
    for part in path:
        if isinstance(model, type) and issubclass(model, BaseModel):
            fields = {field.alias or name: field for name, field in model.model_fields.items()}
            if part not in fields:
                return None
            model = fields[str(part)].annotation
        else:
            model = next((a for a in reversed(get_args(model)) if a is not type(None)), None)
        while not isinstance(model, type) and type(None) in get_args(model):
            model = next(a for a in get_args(model) if a is not type(None))
    return model if isinstance(model, type) and issubclass(model, BaseModel) else None


_EXPECTED = {
    "string_type": "should be a text",
    "tuple_type": "should be a list",
    "int_type": "should be a whole number",
    "float_type": "should be a number",
    "bool_type": "should be true or false",
    "dict_type": "should be a mapping",
    "model_type": "should be a mapping",
    "too_short": "should not be empty",
}


def _message(error: Any) -> str:
    kind, context = error["type"], error.get("ctx", {})
    if kind in _EXPECTED:
        return _EXPECTED[kind]
    if kind == "string_pattern_mismatch":
        return f"does not match {context['pattern']}"
    if kind == "literal_error":
        return f"should be {context['expected']}"
    return str(error["msg"]).removeprefix("Value error, ").removeprefix("Input ")


def _hint(document: Document, path: Path, kind: str) -> str:
    if kind in {"string_type", "value_error"} and document.is_scalar(path):
        return f"write it as text: '{_written(document, path)}'"
    if kind in {"dict_type", "model_type"}:
        return "write `key: value` pairs, indented"
    if kind == "string_pattern_mismatch":
        return "use letters, digits, `_` and `-`, and begin with a letter"
    return ""


def _written(document: Document, path: Path) -> str:
    span = document.span(path)
    return document.origin(path).text.splitlines()[span.line - 1][span.column - 1 : span.column - 1 + span.length]
