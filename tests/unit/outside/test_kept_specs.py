"""A stored agent prints what a compiled one prints, and needs pydantic only for what its keys cannot say."""

from __future__ import annotations

import pickle
import re
import subprocess
import sys
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from pydantic import ValidationError

from command_line import run
from cuecard import CuecardError, Engine
from cuecard.agent import Agent
from cuecard.cli.step import call_from
from cuecard.config.agent_file import AgentFile, InputSpec
from cuecard.config.documents.validation import FileModel
from cuecard.config.history_spec import LastHistory, WindowHistory
from cuecard.config.sections.condition import ConditionSpec
from cuecard.model import Json
from cuecard.outside import kept_agents
from cuecard.outside.cache import Cache
from cuecard.outside.folder import read_agent
from cuecard.outside.kept_agents import kept_agent
from cuecard.outside.kept_specs import KeptSpec, kept
from cuecard.outside.tokens import bundled_counter

pytestmark = pytest.mark.repeats

ROOT = Path(__file__).parents[3]
TURNS = sorted([*ROOT.glob("tests/cases/**/turn.yaml"), *ROOT.glob("prompts/*/turns/**/*.yaml")])
SPECS: list[FileModel] = [
    AgentFile.model_validate({"agent": "helper", "inputs": {"name": {"default": None}}, "history": _})
    for _ in (None, {"policy": "window", "load": 9, "keep": 8, "on_overflow": 2}, {"policy": "last"})
]
SPECS += [
    InputSpec.model_validate({"type": "integer"}),
    ConditionSpec.model_validate({"not": {"any": ["name", {"equals": {"name": [1, 2]}}]}}),
]
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
SYSTEMS = ["cms", "mistermorph", "mushroom", "pioneer", "polyant"]
RENDER = """
import contextlib, io, sys
from cuecard.cli.main import main
for agent in sys.argv[1:]:
    sys.argv = ["cuecard", "render", agent]
    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
        main()
    print("pydantic" in sys.modules)
"""


def stored(spec: FileModel) -> Any:
    """What another process reads of it."""
    make, parts = kept(spec)
    return make(*pickle.loads(pickle.dumps(parts)))  # noqa: S301 - made in this very line


def outcome(agent: Agent, turn: Path) -> Json:
    engine = Engine(agent, agent.spec.delivery, bundled_counter(agent.spec.tokens.encoding), lambda: NOON)
    try:
        call, step = call_from(engine, discovered="", values=[], turn=turn)
    except CuecardError as error:
        return str(error)
    return [call.to_json(), step.to_json(), step.manifest.to_json()]


def agent_of(turn: Path) -> Path:
    if "turns" in turn.parts:
        home = turn.parents[turn.parts[::-1].index("turns")]
        return home / ("agent.yaml" if turn.parent.name == "turns" else f"{turn.parent.name}.yaml")
    own = turn.with_name("agent.yaml")
    return own if own.exists() else ROOT / "prompts" / turn.parents[1].name / "agent.yaml"


@cache
def made_and_stored(agent: Path) -> tuple[Agent, Agent] | None:
    """An agent that was compiled, and as the next process reads it; none where it must not be stored."""
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patched:
        store = Cache(Path(folder))
        try:
            sources = read_agent(agent)
            made = kept_agent(sources, store, lambda _: {"shout": str.upper})
        except CuecardError:
            assert not [*Path(folder).iterdir()], "an agent with errors is never stored"
            return None
        if made.spec.helpers or (made.spec.template and made.spec.template.backend == "pybars3"):
            assert not [*Path(folder).iterdir()], "the host's functions and another compiler's code are never stored"
            return None
        patched.setattr(kept_agents, "_built", lambda *_: pytest.fail("it was compiled again"))
        return made, kept_agent(sources, store)


@pytest.mark.parametrize("turn", TURNS, ids=lambda turn: str(turn.relative_to(ROOT).with_suffix("")))
def test_a_stored_agent_prints_what_a_compiled_one_prints(turn: Path) -> None:
    if both := made_and_stored(agent_of(turn)):
        made, again = both

        assert [type(again.spec).__name__, again.spec] == ["KeptSpec", made.spec]
        assert outcome(again, turn) == outcome(made, turn)


def test_a_stored_agent_is_shown_without_pydantic(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    folders = [str(ROOT / "prompts" / name) for name in SYSTEMS]
    for folder in folders:
        assert run("render", folder).exit_code == 0
    (tmp_path / "agent.yaml").write_text("agent: new\nsections: [{id: role, text: You help.}]\n", encoding="utf-8")
    script = [sys.executable, "-c", RENDER, *folders, str(tmp_path / "agent.yaml")]
    loaded = subprocess.run(script, check=True, capture_output=True, text=True).stdout.split()

    assert loaded == [*["False"] * len(SYSTEMS), "True"], "only the last one is not stored yet"


@pytest.mark.parametrize("spec", SPECS, ids=repr)
def test_a_stored_model_is_the_model(spec: FileModel) -> None:
    again = stored(spec)

    assert type(again) is KeptSpec
    assert again.model_fields_set == spec.model_fields_set
    assert again == spec
    assert spec == again
    assert again == stored(spec)
    assert again != SPECS[0].model_copy(update={"agent": "another"})
    assert isinstance(again, type(spec))
    assert repr(again) == repr(spec)
    assert again.model_dump() == spec.model_dump()
    assert pickle.loads(pickle.dumps(again)) == spec  # noqa: S301 - made in this very line
    for name in type(spec).model_fields:
        assert getattr(again, name) == getattr(spec, name)


def test_its_kind_its_properties_and_what_it_lacks_are_those_of_the_model() -> None:
    nothing, window, last = (stored(spec).history for spec in SPECS[:3])

    assert nothing is None
    assert isinstance(stored(window), WindowHistory)
    assert isinstance(stored(last), LastHistory)
    assert not isinstance(stored(last), WindowHistory)
    assert stored(InputSpec.model_validate({})).required
    assert not stored(InputSpec.model_validate({"default": None})).required
    with pytest.raises(AttributeError, match="colour"):
        _ = stored(SPECS[0]).colour
    with pytest.raises(ValidationError, match="frozen"):
        stored(SPECS[0]).agent = "another"
    assert hash(stored(InputSpec.model_validate({}))) == hash(InputSpec.model_validate({}))


def test_only_configuration_models_are_stored_and_loaded() -> None:
    class Elsewhere(FileModel):
        """A model that is not part of an agent."""

    with pytest.raises(pickle.PicklingError, match="Elsewhere is not a configuration model"):
        kept(Elsewhere())
    with pytest.raises(ModuleNotFoundError, match=re.escape("cuecard.config.os")):
        _ = KeptSpec(("os", "mkdir"), {"__dict__": {}}, {}).anything
