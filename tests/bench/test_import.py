"""Importing an OpenAPI description, side by side with ruamel's C loader, which only reads it."""

from __future__ import annotations

import contextlib
import io
import json
import shutil
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from cuecard.workbench.tool_import.command import ImportOptions, ImportSource, import_tools

pytestmark = pytest.mark.bench

ROUNDS = 5
OVER_READING, OVER_A_TENTH = 1.5, 12.0
"""How many times as long it may take: as reading the description, and as importing one with a tenth of operations."""

AGENT = "agent: news\ntools: {instructions: tools}\nsections: [{id: p, text: '{{{activeProtocols}}}'}]\n"


def described(operations: int) -> dict[str, Any]:
    """A description with five operations for each type of content, as a CMS writes it."""
    paths: dict[str, Any] = {}
    schemas: dict[str, Any] = {}
    for number in range(operations // 5):
        name, kind = f"items{number}", f"Item{number}"
        fields = {
            f"field_{at}": {"type": "string", "description": f"Field {at}, as editors see it."} for at in range(12)
        }
        schemas[kind] = {"type": "object", "properties": {"id": {"type": "integer", "readOnly": True}, **fields}}
        body = {"content": {"application/json": {"schema": {"$ref": f"#/components/schemas/{kind}"}}}}
        asked = [
            {"name": key, "in": "query", "schema": {"type": "string"}} for key in ("limit", "sort", "filter[title]")
        ]

        def told(verb: str, name: str = name, kind: str = kind, **more: Any) -> dict[str, Any]:
            return {
                "operationId": f"{verb}{kind}",
                "summary": f"{verb} {name}",
                "tags": [name],
                "responses": {},
                **more,
            }

        paths[f"/{name}"] = {"get": told("list", parameters=asked), "post": told("create", requestBody=body)}
        one = [{"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}}]
        changed = told("update", requestBody=body)
        paths[f"/{name}/{{id}}"] = {"parameters": one, "get": told("read"), "patch": changed, "delete": told("delete")}
    info = {"title": "Newsroom", "version": "1"}
    return {"openapi": "3.0.3", "info": info, "paths": paths, "components": {"schemas": schemas}}


def written(folder: Path, operations: int) -> Path:
    path = folder / f"api{operations}.yaml"
    with path.open("w", encoding="utf-8") as file:
        YAML(typ="safe").dump(json.loads(json.dumps(described(operations))), file)  # without anchors
    return path


def read(description: Path) -> None:
    YAML(typ="safe").load(description.read_text(encoding="utf-8"))


def imported(description: Path) -> None:
    """Into an agent that has no tools yet."""
    root = description.with_suffix("")
    shutil.rmtree(root, ignore_errors=True)
    (root / "tools").mkdir(parents=True)
    (root / "agent.yaml").write_text(AGENT, encoding="utf-8")
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        assert import_tools(root, ImportSource(openapi=description), ImportOptions()) == 0


def seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def test_importing_takes_time_in_proportion_to_what_is_described(tmp_path: Path) -> None:
    pytest.importorskip("_ruamel_yaml")
    few, many = written(tmp_path, 300), written(tmp_path, 3_000)
    works = {
        "reading 3,000 operations alone": partial(read, many),
        "300 operations": partial(imported, few),
        "3,000 operations": partial(imported, many),
    }
    best = dict.fromkeys(works, float("inf"))
    for _ in range(ROUNDS):
        best = {name: min(best[name], seconds(work)) for name, work in works.items()}

    base, tenth = best["reading 3,000 operations alone"], best["300 operations"]
    print("\ncuecard tools import: processor time, against reading, against 300 operations")
    for name, taken in best.items():
        print(f"  {name:34} {taken * 1e3:7.1f} ms  {taken / base:5.2f}x  {taken / tenth:5.1f}x")

    assert best["3,000 operations"] <= OVER_READING * base
    assert best["3,000 operations"] <= OVER_A_TENTH * tenth
