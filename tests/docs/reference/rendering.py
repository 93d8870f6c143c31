"""A public name as Markdown, from its signature and docstring, which Griffe reads without running them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from inspect import isclass, isfunction
from pathlib import Path
from typing import Any

import griffe
from pydantic import BaseModel

import cuecard
import cuecard.types
from docs.reference.names import public_names

ENGINE = Path(cuecard.__file__).parents[1]

PLAIN = {"Count": "int", "Seconds": "float", "FilledText": "str"}
PLAIN |= {"AnyJson": "Json", "JsonValue": "Json", "JsonObject": "Mapping[str, Json]"}
"""Types with checks of their own as readers know them."""


@cache
def rendered(name: str) -> str:
    """Everything that docs/api says of a name and nobody writes by hand."""
    found = _found(name)
    parts: list[str] = []
    if isinstance(found, griffe.Function):
        parts += [_signature(found), *_body(found)]
    elif isinstance(found, griffe.Class):
        parts += _class(name, found)
    else:
        value = _double_quotes(" ".join(str(getattr(found, "value", "")).split()))
        parts += [f"`{_label(name)} = {value}`" if value else "", _described(found)]
    return "\n\n".join(part for part in parts if part)


def _class(name: str, found: griffe.Class) -> Iterator[str]:
    bases = _public_bases(found)
    yield f"`from {_module(name)} import {_label(name)}`" + (f", a `{bases[0]}`" if bases else "")
    if made := _constructor(found):
        yield _signature(made, found.name)
    yield from _body(found)
    if made:
        described = [*_of(found, "parameters"), *_of(made, "parameters")]
        yield _parameters(made, {each.name: each.description for each in described})
        yield _raises(_of(made, "raises"))
    members = list(_members(name, found))
    properties = [each for each in members if isinstance(each, griffe.Attribute)]
    facts = [_item(each.name, each.annotation, "", _described(each)) for each in properties]
    yield "\n".join([*_fields(name, found), *facts])
    for method in members:
        if isinstance(method, griffe.Function):
            yield "\n\n".join([f"### `{found.name}.{method.name}`", _signature(method), *_body(method)])


def _public_bases(found: griffe.Class) -> list[str]:
    return [str(base) for base in found.bases if str(base) in {*cuecard.__all__, *cuecard.types.__all__}]


def _constructor(found: griffe.Class) -> griffe.Function | None:
    made = found.members.get("__init__")
    elsewhere = "dataclass" in found.labels or _public_bases(found) or " made by " in _described(found)
    return made if isinstance(made, griffe.Function) and not elsewhere else None


def _fields(name: str, found: griffe.Class) -> Iterator[str]:
    described = {each.name: each.description for each in _of(found, "attributes")}
    described |= _model_fields(name)
    for each in found.attributes.values():
        if not each.name.startswith(("_", "model_config")) and each.annotation and "property" not in each.labels:
            default = each.value if "class-attribute" in each.labels else ""
            yield _item(each.name, each.annotation, default, described.get(each.name, ""))


def _model_fields(name: str) -> Mapping[str, str]:
    loaded = _loaded(name)
    if not issubclass(loaded, BaseModel):
        return {}
    return {key: field.description or "" for key, field in loaded.model_fields.items()}


def _members(name: str, found: griffe.Class) -> Iterator[griffe.Function | griffe.Attribute]:
    """Public methods and properties in the order of the source, inherited ones of our own last.

    What a framework calls of an adapter is the framework's interface; what all files have is in no file's interest.
    """
    loaded = _loaded(name)
    others = [base for base in loaded.__mro__ if not base.__module__.startswith("cuecard.") and base is not object]
    inherited = {} if _public_bases(found) else found.inherited_members
    for member in [*found.members.values(), *inherited.values()]:
        target = member.final_target if isinstance(member, griffe.Alias) else member
        told = target.docstring.value if target.docstring else "Internal"
        if member.name.startswith("_") or "Internal" in told or any(hasattr(base, member.name) for base in others):
            continue
        is_property = isinstance(target, griffe.Attribute) and "property" in target.labels
        is_method = isinstance(target, griffe.Function) and not issubclass(loaded, BaseModel)
        if is_property or is_method:
            assert isinstance(target, griffe.Function | griffe.Attribute)
            yield target


def _signature(found: griffe.Function, made: str = "") -> str:
    shown = [str(each) for each in _shown(found)]
    text = f"{made or found.name}({', '.join(shown)})" + (f" -> {found.returns}" if found.returns and not made else "")
    awaited = "await " if "async" in found.labels else ""
    return f"`{awaited}{_double_quotes(text)}`"


def _shown(found: griffe.Function) -> Iterator[str]:
    """Parameters by name; types and defaults are in the list below."""
    only_named = False
    for each in found.parameters:
        if each.name in {"self", "cls"}:
            continue
        if each.kind is griffe.ParameterKind.keyword_only and not only_named:
            only_named = True
            yield "*"
        star = {griffe.ParameterKind.var_positional: "*", griffe.ParameterKind.var_keyword: "**"}.get(each.kind, "")
        only_named = only_named or star == "*"
        yield f"{star}{each.name}" + (f"={each.default}" if each.default and not star else "")


def _body(found: griffe.Object) -> Iterator[str]:
    sections = {section.kind.value: section.value for section in _sections(found)}
    if "text" in sections:
        yield "\n\n".join(str(section.value).strip() for section in _sections(found) if section.kind.value == "text")
    if isinstance(found, griffe.Function):
        yield _parameters(found, {each.name: each.description for each in sections.get("parameters", ())})
    if "returns" in sections:
        yield "Returns: " + " ".join(_line(each.description) for each in sections["returns"])
    if "raises" in sections:
        yield _raises(sections["raises"])


def _raises(errors: list[Any]) -> str:
    rows = [f"- `{each.annotation}`: {_line(each.description)}" for each in errors]
    return "\n".join(["Raises:", "", *rows]) if rows else ""


def _parameters(found: griffe.Function, described: Mapping[str, str]) -> str:
    return "\n".join(
        _item(each.name, each.annotation, each.default, described.get(each.name, ""))
        for each in found.parameters
        if each.name not in {"self", "cls"}
    )


def _item(name: str, annotation: object, default: object, description: str) -> str:
    kind = re.sub(r"\b\w+\b", lambda word: PLAIN.get(word[0], word[0]), _double_quotes(str(annotation or "Any")))
    told = _default(default)
    return f"- `{name}: {kind}{told}`" + (f": {_line(description)}" if description else "")


def _default(default: object) -> str:
    text = _double_quotes(str(default or ""))
    made = re.match(r"field\(.*?default_factory=([\w.]+)", text)
    given = re.match(r"(?:field|Field)\((?:default=)?((?!default|description|repr|alias)[^,=()]+?)(?:,|\)$)", text)
    if made:
        return f" = {made[1]}()"
    if given:
        return f" = {given[1].strip()}"
    return "" if not text or text.startswith(("field(", "Field(")) else f" = {text}"


def _sections(found: griffe.Object) -> list[Any]:
    return list(found.docstring.parse("google")) if found.docstring else []


def _of(found: griffe.Object, kind: str) -> list[Any]:
    """The entries of a docstring's section."""
    return [each for section in _sections(found) if section.kind.value == kind for each in section.value]


def _described(found: griffe.Object) -> str:
    return found.docstring.value if found.docstring else ""


def _line(text: str) -> str:
    return " ".join(text.split())


def _double_quotes(text: str) -> str:
    return re.sub(r"'([^'\"]*)'", r'"\1"', text)


def _module(name: str) -> str:
    return name.rpartition(".")[0]


def _label(name: str) -> str:
    return name.rpartition(".")[2]


def _loaded(name: str) -> Any:
    return getattr(import_module(_module(name)), _label(name))


def _home(name: str) -> str:
    """The module in which a name is written down."""
    module, label = _module(name), _label(name)
    if module in {"cuecard", "cuecard.types"}:
        return str(import_module(module)._HOME[label])
    loaded = _loaded(name)
    return str(loaded.__module__) if isfunction(loaded) or isclass(loaded) else module


def _found(name: str) -> griffe.Object:
    found = _package()[f"{_home(name)}.{_label(name)}".removeprefix("cuecard.")]
    target = found.final_target if isinstance(found, griffe.Alias) else found
    assert isinstance(target, griffe.Object)
    return target


@cache
def _package() -> griffe.Object:
    loader = griffe.GriffeLoader(search_paths=[ENGINE])
    loader.finder = _Finder([ENGINE])
    loaded = loader.load("cuecard")
    loader.resolve_aliases(external=False)
    assert isinstance(loaded, griffe.Object)
    return loaded


class _Finder(griffe.ModuleFinder):
    """Finds only the modules with public names, those of their bases, and the packages around them: not all 600."""

    def submodules(self, module: griffe.Module) -> list[Any]:
        homes = {_home(name) for name in public_names()}
        bases = {base.__module__ for name in public_names() for base in getattr(_loaded(name), "__mro__", ())}
        needed = [f"{each}." for each in {*homes, *bases, "cuecard.records"}]  # that has the decorator of dataclasses
        found = super().submodules(module)
        return [each for each in found if any(name.startswith(".".join(("cuecard", *each[0], ""))) for name in needed)]
