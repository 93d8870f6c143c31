"""The codes that the engine's source uses, with the severities they are reported with: read from its syntax trees."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import cuecard

_REPORTS = {"Problem", "problem", "problem_at", "fail", "report", "mistake", "from_json"}
"""Functions that take a code; it is the first text among their arguments, or the argument `code`."""

_CODE = re.compile(r"[a-z]{3,}|[a-z]+(?:-[a-z0-9]+)+")
_MAY_REPORT = re.compile(rf"\b(?:{'|'.join(sorted(_REPORTS))})\(|\bcode\b")


@cache
def source_codes() -> dict[str, frozenset[str]]:
    """Code to severities."""
    found: dict[str, set[str]] = {}
    sources = [path.read_text(encoding="utf-8") for path in sorted(Path(cuecard.__file__).parent.rglob("*.py"))]
    for source in filter(_MAY_REPORT.search, sources):  # half of them, and parsing is slow
        for node in ast.walk(ast.parse(source)):
            for code, severity in _uses(node):
                found.setdefault(code, set()).add(severity)
    return {code: frozenset(severities) for code, severities in found.items()}


def _uses(node: ast.AST) -> Iterator[tuple[str, str]]:
    if isinstance(node, ast.Call) and _name(node.func) in _REPORTS:
        keywords = {keyword.arg: keyword.value for keyword in node.keywords}
        told = [texts for argument in (keywords.get("code"), *node.args) if (texts := _texts(argument))]
        severity = next(iter(_texts(keywords.get("severity"))), "error")
        yield from ((code, severity) for code in (told[0] if told else ()) if _CODE.fullmatch(code))
    elif isinstance(node, ast.Assign):
        yield from ((code, "error") for code in _assigned(node) if _CODE.fullmatch(code))


def _assigned(node: ast.Assign) -> Iterator[str]:
    """`code = "..."`, and `code, message = "...", ...`."""
    for target in node.targets:
        pairs = [(target, node.value)]
        if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            pairs = list(zip(target.elts, node.value.elts, strict=True))
        yield from (text for name, value in pairs if _name(name) == "code" for text in _texts(value))


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _texts(node: ast.expr | None) -> list[str]:
    """The text that is written there, or the two of `"..." if ... else "..."`."""
    if isinstance(node, ast.IfExp):
        return [*_texts(node.body), *_texts(node.orelse)]
    return [node.value] if isinstance(node, ast.Constant) and isinstance(node.value, str) else []
