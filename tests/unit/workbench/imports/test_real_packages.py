"""Imported files print what the official packages print, which `make imports` installs; skipped without them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from unit.workbench.imports.rendering import imported, messages_of

ROOT = Path(__file__).parents[4]
REAL, CASES, HERE = ROOT / ".tools" / "imports", ROOT / "tests" / "cases" / "imports", Path(__file__).parent
PACKAGES = {
    "dotprompt": REAL / "npm" / "node_modules" / "dotprompt",
    "dotpromptz": REAL / "dotpromptz" / "dotpromptz",
    "prompty": REAL / "prompty" / "prompty",
    "prompty1": REAL / "prompty1" / "prompty",
}
MAIL = {"customer": "O'Neil & <b>", "tone": "warm", "orders": ["rye", "two rolls"], "guest": True}
FILES: list[tuple[str, str, dict[str, Any]]] = [
    *(
        (package, "dotprompt/mail.prompt", values)
        for package in ("dotprompt", "dotpromptz")
        for values in (MAIL, {**MAIL, "tone": "dry", "guest": False}, {**MAIL, "orders": []})
    ),
    *(
        ("prompty", "prompty_v2/mail.prompty", {"customer": customer, "orders": orders, "vip": vip, "facts": facts})
        for customer, orders, vip, facts in (
            ("Jana", ["rye"], True, {}),
            ("Bob", ["rye", "rolls"], True, {"a": 1}),
            ("Max", [], False, {}),
        )
    ),
    *(
        ("prompty1", "prompty_v1/mail.prompty", {"firstName": name, "question": "Open {{today}}?"})
        for name in ("Jana", "Max")
    ),
]


@pytest.mark.parametrize(("package", "file", "values"), FILES)
def test_an_imported_file_prints_what_its_package_prints(
    package: str, file: str, values: dict[str, Any], tmp_path: Path
) -> None:
    if not PACKAGES[package].exists():
        pytest.skip(f"no {package} in .tools/imports: `make imports` installs it")
    path = tmp_path / Path(file).name
    shutil.copytree((CASES / file).parent, tmp_path, dirs_exist_ok=True)
    path.write_text(
        path.read_text("utf-8").replace(", is_required: true", ""), "utf-8"
    )  # unknown to the package 0.1.50
    code, agent = imported(path, tmp_path / "made")

    assert code == 0
    assert _texts(messages_of(agent, values)) == _texts(_real(package, path, values))


HISTORIES = {
    "before the last message": '{{role "system"}}Help.{{role "user"}}Ask {{name}}.',
    "behind examples": '{{role "system"}}Help.{{role "user"}}Hi{{role "model"}}Hello{{role "user"}}Ask {{name}}.',
    "at the end": '{{role "system"}}Help {{name}}.',
    "where it is called": '{{role "system"}}Help.{{history}}{{role "user"}}Ask {{name}}.',
    "before an answer that was begun": '{{role "system"}}Help.{{history}}For {{name}}: ',
    "before several messages": 'Help.{{history}}{{role "user"}}Ask {{name}}.{{role "model"}}Yes?{{role "user"}}Please.',
}


@pytest.mark.parametrize("package", ["dotprompt", "dotpromptz"])
@pytest.mark.parametrize("body", HISTORIES.values(), ids=HISTORIES)
def test_the_conversation_comes_where_the_package_puts_it(package: str, body: str, tmp_path: Path) -> None:
    if not PACKAGES[package].exists():
        pytest.skip(f"no {package} in .tools/imports: `make imports` installs it")
    path = tmp_path / "ask.prompt"
    path.write_text(f"---\ninput: {{schema: {{name: string}}}}\n---\n{body}", "utf-8")
    code, agent = imported(path, tmp_path / "made")
    history = [("user", "Good morning!"), ("assistant", "Good morning.")]
    theirs = [("user", "Good morning!"), ("model", "Good morning.")]

    assert code == 0
    assert _texts(messages_of(agent, {"name": "Jana"}, history)) == _texts(
        _real(package, path, {"name": "Jana"}, theirs)
    )


def _real(
    package: str, path: Path, values: dict[str, Any], history: Sequence[tuple[str, str]] = ()
) -> list[tuple[str, str]]:
    partials = {each.stem.removeprefix("_"): each.read_text("utf-8") for each in path.parent.glob("_*.prompt")}
    asked: dict[str, Any] = {"source": path.read_text("utf-8"), "path": str(path), "input": values}
    asked |= {"partials": partials, "history": history}
    if package == "dotprompt":
        script = REAL / "npm" / "render.mjs"  # beside its packages, where Node looks for them
        shutil.copy(HERE / "real" / "dotprompt.mjs", script)
        command, around = ["node", str(script)], dict(os.environ)
    else:
        command = [sys.executable, str(HERE / "real" / "render.py"), package.removesuffix("1")]
        around = {**os.environ, "PYTHONPATH": str(PACKAGES[package].parent)}
    done = subprocess.run(
        command, input=json.dumps(asked), text=True, capture_output=True, env=around, check=False, timeout=120
    )

    assert done.returncode == 0, done.stderr[-2000:]
    return [(role, text) for role, text in json.loads(done.stdout)]


def _texts(messages: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Without what stands around a text; dotprompt calls the assistant a model."""
    return [("assistant" if role == "model" else role, text.strip()) for role, text in messages]
