"""`cuecard serve --manifests DIR`: what clients did is in a file, whichever of them did it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from command_line import run
from unit.server.served import replica


@pytest.mark.parametrize("texts", [False, True])
def test_a_service_appends_a_record_of_each_request(tmp_path: Path, *, texts: bool) -> None:
    options = ["--manifests", str(tmp_path), *(["--texts"] if texts else [])]
    with replica("cms", *options, states=tmp_path / "states") as served, served.client() as client:

        def ask(path: str, **body: Any) -> dict[str, Any]:
            told: dict[str, Any] = client.post(f"/v1/{path}", json={"agent": "cms", **body}).raise_for_status().json()
            return told

        first = ask("prepare-call", turn={"conversation": "c-1"})
        found = {
            "tool": "tool_search",
            "result": {"tools": ["cms_createPage"]},
            "call_id": "s",
            "arguments": {"q": "x"},
        }
        second = ask("prepare-step", conversation=first["conversation"], results=[found])
        ask("prepare-call", conversation=second["conversation"])
        served.end()
    lines = [json.loads(line) for line in (tmp_path / "served.jsonl").read_text(encoding="utf-8").splitlines()]

    assert [("manifest" in each, each["conversation"], each["turn"]) for each in lines] == [
        (True, "c-1", 0),
        (False, "c-1", 0),
        (True, "c-1", 0),
        (True, "c-1", 1),
    ]
    assert [("texts" in lines[0]), ("arguments" in lines[1]["calls"][0])] == [texts, texts]


def test_texts_without_a_folder_are_refused() -> None:
    assert "--manifests DIR" in run("serve", "cms", "--texts").stderr
