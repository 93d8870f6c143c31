"""Validates a document against a model: every mismatch is reported at its place, with the way to fix it."""

import re
from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Self, TypeVar, get_args, get_origin

from pydantic import BaseModel, ConfigDict, ValidationError

from cuecard.config.documents.document import Document, Path
from cuecard.errors import REMOVED, Problem, SpecError, closest, did_you_mean

Model = TypeVar("Model", bound="FileModel")


class FileModel(BaseModel):
    """A mapping in a file: frozen, no unknown keys, no silent conversion."""

    model_config: ClassVar[ConfigDict] = ConfigDict(
        frozen=True, extra="forbid", strict=True, hide_input_in_errors=True, defer_build=True
    )

    removed: ClassVar[Mapping[str, str]] = {}
    """What earlier versions had, each with what to write instead: `key`, or `key: value`."""

    @classmethod
    def usual(cls) -> Self:
        """The value of an empty mapping, for defaults: unlike `cls()`, it builds no validator during imports."""
        return cls.model_construct()  # type: ignore[return-value] # the plugin of pydantic takes Self for this class


def validate(document: Document, model: type[Model]) -> Model:
    """The document as a model.

    Raises:
        SpecError: with one problem per wrong, missing or unknown key.
    """
    try:
        return model.model_validate(document.value)
    except ValidationError as error:
        found = _causes(error.errors())
        problems = [_problem(document, model, e) for e in found]
        raise SpecError(sorted(problems, key=lambda p: (p.span.line, p.span.column) if p.span else ())) from None


def _causes(errors: list[Any]) -> list[Any]:
    """The errors without those that follow from others: "empty" for a list whose items are all wrong, and "should be a
    text" for a mapping with mistakes where there may be either.
    """
    inner = {error["loc"][:end] for error in errors for end in range(len(error["loc"]))}
    either = {error["loc"][:end] for error in errors for end in range(len(error["loc"]) - 1)}
    return [
        error
        for error in errors
        if not (error["type"] == "too_short" and error["loc"] in inner)
        and not (error["type"] == "string_type" and error["loc"][-1:] == ("str",) and error["loc"][:-1] in either)
    ]


def _problem(document: Document, model: type[FileModel], error: Any) -> Problem:
    path = _written_path(document, error["loc"])
    kind = error["type"]
    is_key = error["loc"][-1:] == ("[key]",)
    if kind == "extra_forbidden":
        key, above = str(error["loc"][-1]), path[:-1]
        removed = {word: hint for each in _models_at(model, above) for word, hint in each.removed.items()}
        for word in {key, f"{key}: {document.at(path)}"} & removed.keys():
            return document.problem(path, REMOVED, f"`{word}` was removed", removed[word], key=True)
        known = _known_keys(model, above, document)
        if key in known:  # of another kind of entry
            told, hint = f"`{key}` does not go with the other keys here", "write a second entry, or remove it"
            return document.problem(path, "unknown-key", told, hint, key=True)
        hint = did_you_mean(key, known)
        return document.problem(path, "unknown-key", f"unknown key `{key}`", hint, key=True)
    if kind == "missing":
        key = str(error["loc"][-1])
        hint = _described(model, path, key)
        return document.problem(path, "missing-key", f"`{key}` is missing", hint, key=True)
    label = document.dotted(path) or "the file"
    if kind == "told":
        return document.problem(path, error["ctx"]["code"], f"`{label}` {error['ctx']['told']}", error["ctx"]["hint"])
    hint = COMMENTED if document.is_commented(path) else _hint(document, model, path, error)
    return document.problem(path, "wrong-value", f"`{label}` {_message(error)}", hint, key=is_key)


COMMENTED = "what follows its `#` is a comment: quote the text, or write it as a block: `|`"


def _written_path(document: Document, loc: tuple[str | int, ...]) -> Path:
    """The part of pydantic's location that exists in the file: its markers for unions and tuples are not keys."""
    path: Path = ()
    for part in loc:
        if (*path, part) in document.values or (*path, part) in document.keys:
            path = (*path, part)
    return path


def _known_keys(model: type[FileModel], path: Path, document: Document) -> list[str]:
    fields = (inner.model_fields.items() for inner in _models_at(model, path, document))
    return list(dict.fromkeys(field.alias or name for each in fields for name, field in each))


def _selects(model: type[FileModel], written: Any) -> bool:
    """Whether the words of a mapping that select a kind are those of this model."""
    return not isinstance(written, Mapping) or all(
        written.get(name, word) == word
        for name, field in model.model_fields.items()
        if get_origin(field.annotation) is Literal and field.is_required()
        for word in get_args(field.annotation)[:1]
    )


def _described(model: type[FileModel], path: Path, key: str) -> str:
    for inner in _models_at(model, path):
        for name, field in inner.model_fields.items():
            if key in {name, field.alias} and field.description:
                return f"add `{key}:` - {field.description}"
    return f"add `{key}:`"


def _models_at(model: type[FileModel], path: Path, document: Document | None = None) -> list[type[FileModel]]:
    """The models that a value at this path may have; several if the field is a union, of which a document selects."""

    def meant(kinds: list[Any], depth: int) -> list[type[FileModel]]:
        found = [each for kind in kinds for each in _models_in(kind)]
        return [each for each in found if document is None or _selects(each, document.at(path[:depth]))] or found

    kinds: list[Any] = [model]
    for depth, part in enumerate(path):
        found = meant(kinds, depth)
        if isinstance(part, str) and found:
            fields = ({f.alias or name: f for name, f in each.model_fields.items()} for each in found)
            kinds = [each[part].annotation for each in fields if part in each]
        else:
            kinds = [inner for kind in kinds for inner in _items(kind)]
    return meant(kinds, len(path))


def _items(kind: Any) -> list[Any]:
    """The types of the items of a list or mapping type."""
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return []
    args = [arg for arg in get_args(kind) if arg is not Ellipsis]
    if get_origin(kind) in {dict, tuple, list}:
        return args[-1:]
    return [inner for arg in args for inner in _items(arg)]


def _models_in(kind: Any) -> list[type[FileModel]]:
    """The models in a union type."""
    if isinstance(kind, type) and issubclass(kind, FileModel):
        kind.model_rebuild()  # a model within itself is a name until then
        return [kind]
    if get_origin(kind) in {dict, tuple, list}:
        return []
    return [model for arg in get_args(kind) for model in _models_in(arg)]


_QUOTED = re.compile("'([^']*)'")

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


def _hint(document: Document, model: type[FileModel], path: Path, error: Any) -> str:
    kind = error["type"]
    if kind == "literal_error":
        return _closest(document.at(path), _QUOTED.findall(error["ctx"]["expected"]))
    if kind in {"string_type", "value_error"} and document.is_scalar(path) and not isinstance(document.at(path), str):
        return f"write it as text: '{_written(document, path)}'"
    if kind in {"dict_type", "model_type"}:
        return "write `key: value` pairs, indented"
    if kind == "string_pattern_mismatch":
        return "use letters, digits, `_` and `-`, starting with a letter"
    if path and document.at(path) is None and _is_optional(model, path):
        return "leave the key out, or give it a value"
    return ""


def _is_optional(model: type[FileModel], path: Path) -> bool:
    fields = (item for inner in _models_at(model, path[:-1]) for item in inner.model_fields.items())
    return any(path[-1] in {name, field.alias} and not field.is_required() for name, field in fields)


def _closest(value: Any, expected: list[str]) -> str:
    """The expected word that was misspelt or abbreviated."""
    word = str(value).casefold()
    found = closest(word, expected) or next((each for each in expected if word and each.startswith(word)), "")
    return f"did you mean `{found}`?" if found else ""


def _written(document: Document, path: Path) -> str:
    span = document.span(path)
    return document.origin(path).text.splitlines()[span.line - 1][span.column - 1 : span.column - 1 + span.length]
