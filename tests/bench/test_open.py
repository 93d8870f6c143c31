"""Opening an agent with thousands of tools, side by side with ruamel's C loader, which only composes their files."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from cuecard import Engine
from cuecard.workspace import Workspace
from unit.reload.demo import Folder

pytestmark = pytest.mark.bench

ROUNDS, PER_FILE = 5, 20
OVER_COMPOSING, OVER_A_TENTH, WARM = 3.0, 12.0, 0.15
"""How many times as long it may take: as composing its files, and as opening an agent with a tenth of the tools; and a
check after an edit, as the first one.
"""

ENTRY = """\
  cms_tool{n}_doThing:
    description: Does thing number {n} to a page, a post or an image of the site, and says what came of it.
    before: cms_tool{other}_doThing (find the page first), unless you have its id
    after: Show the result with its local URL, ask which one to use
    next: cms_{tool}{n}_doThing (attach it to a section)
    gotcha: 'EXPAND short queries: "AI" -> "artificial intelligence robot technology".'
    phrases: [do thing {n}, "change thing {n}"]
"""


def agent_of(root: Path, tools: int, *, tool: str = "tool") -> Path:
    """An agent with so many tools; each names another one `tool` after its own, which may be unknown."""
    folder = Folder(root)
    folder.write_all()
    for first in range(0, tools, PER_FILE):
        entries = (ENTRY.format(n=n, other=n * 7 % tools, tool=tool) for n in range(first, first + PER_FILE))
        folder.write(f"tools/t{first:05}.yaml", "tools:\n" + "".join(entries))
    return root


def compose(root: Path) -> None:
    for file in sorted(root.glob("tools/*.yaml")):
        YAML(typ="safe").compose(file.read_text(encoding="utf-8"))


def seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def test_opening_takes_time_in_proportion_to_its_tools(tmp_path: Path) -> None:
    pytest.importorskip("_ruamel_yaml")
    agents = {
        "500 tools": agent_of(tmp_path / "few", 500),
        "5,000 tools": agent_of(tmp_path / "many", 5_000),
        "5,000, each with an unknown name": agent_of(tmp_path / "unknown", 5_000, tool="tol"),
    }
    works: dict[str, Callable[[], object]] = {name: partial(Engine.open, root) for name, root in agents.items()}
    works["composing 5,000 alone"] = partial(compose, agents["5,000 tools"])
    best = dict.fromkeys(works, float("inf"))
    for _ in range(ROUNDS):
        best = {name: min(best[name], seconds(work)) for name, work in works.items()}

    base, tenth = best["composing 5,000 alone"], best["500 tools"]
    print("\nEngine.open: processor time, against composing, against 500 tools")
    for name, taken in best.items():
        print(f"  {name:34} {taken * 1e3:7.1f} ms  {taken / base:5.2f}x  {taken / tenth:5.1f}x")

    for name in ("5,000 tools", "5,000, each with an unknown name"):
        assert best[name] <= OVER_COMPOSING * base
        assert best[name] <= OVER_A_TENTH * tenth


def test_a_check_after_an_edit_costs_what_the_edit_touches(tmp_path: Path) -> None:
    root = agent_of(tmp_path / "many", 5_000)
    workspace = Workspace([root])
    cold = seconds(lambda: workspace.check(root))
    file = root / "tools" / "t00020.yaml"
    warm = float("inf")
    for number in range(ROUNDS):
        workspace.open(file, file.read_text(encoding="utf-8").replace("Does thing", f"Does, {number} times, thing"))
        warm = min(warm, seconds(lambda: workspace.check(root)))

    print(f"\nworkspace of 5,000 tools: {cold * 1e3:.0f} ms, after an edit {warm * 1e3:.1f} ms: {warm / cold:.3f}x")
    assert warm <= WARM * cold
