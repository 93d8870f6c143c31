"""A salt makes fingerprints useless to who does not know it, and leaves them stable for who does."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from command_line import main
from cuecard import Call, Engine, Manifest, Step, Turn, watch
from cuecard.pipeline.fingerprints import NOTHING, fingerprints, salt_name
from cuecard.pipeline.fingerprints import salted as with_salt
from unit.pipeline.explain.tiny import HOME, NOON, found, step, write

DIGEST = re.compile(r"[0-9a-f]{12,}")


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    return Engine.open(write(tmp_path / "agent"), delivery="append")


def conversation(engine: Engine) -> Step:
    """A step with sections, protocols, a block of a search, and one of an update."""
    first = engine.prepare_call(Turn(inputs={"user": "Kim"}, now=NOON))
    return step(engine, ("list_pages",), memory=HOME, inputs={"user": "Kim"}, previous=first)


def digests(step: Step) -> set[str]:
    """Everything in a step that looks like a fingerprint, also within ids; texts are left out."""
    data = step.to_json() | {"system": "", "segments": [], "appended": []}
    ids = [[segment.sha256 for segment in step.segments], [(block.id, block.sha256) for block in step.appended]]
    return set(DIGEST.findall(json.dumps([data, ids])))


def test_without_a_salt_fingerprints_are_plain_sha_256(engine: Engine) -> None:
    given = conversation(engine)

    assert given.manifest.salt == ""
    assert given.manifest.inputs["user"] == hashlib.sha256(b'"Kim"').hexdigest()
    assert {s.sha256 for s in given.segments} == {hashlib.sha256(s.text.encode()).hexdigest() for s in given.segments}


def test_with_a_salt_no_fingerprint_of_the_step_is_a_plain_one(engine: Engine) -> None:
    plain, salted = conversation(engine), conversation(replace(engine, salt="pepper"))

    assert len(digests(plain)) >= 20
    assert len(digests(salted)) == len(digests(plain)) + 1  # the name of the salt
    assert digests(plain) & digests(salted) == set()


def test_a_salt_changes_fingerprints_and_nothing_else(engine: Engine) -> None:
    plain, salted = conversation(engine), conversation(replace(engine, salt="pepper"))

    def bare(step: Step) -> str:
        data = step.to_json()
        return DIGEST.sub("", json.dumps({**data, "manifest": {**data["manifest"], "salt": ""}}))

    assert bare(salted) == bare(plain)


def test_promise_4_the_same_salt_gives_the_same_fingerprints(engine: Engine, tmp_path: Path) -> None:
    """Equal spec and turn give equal prompt, manifest and fingerprints, on any machine."""
    elsewhere = Engine.open(write(tmp_path / "elsewhere"), delivery="append", salt="pepper")

    assert conversation(elsewhere) == conversation(replace(engine, salt="pepper"))
    assert conversation(elsewhere).manifest == conversation(replace(engine, salt="pepper")).manifest
    assert digests(conversation(elsewhere)) & digests(conversation(replace(engine, salt="salt"))) == set()


def test_the_ids_of_blocks_are_the_same_in_the_step_and_in_its_manifest(engine: Engine) -> None:
    given = conversation(replace(engine, salt="pepper"))
    appended = [record for record in given.manifest.sections if record.placement == "appended"]

    assert [(r.id, r.sha256) for r in appended] == [(block.id, block.sha256) for block in given.appended]
    assert all(block.id.endswith(block.sha256[:12]) for block in given.appended)


def test_a_conversation_continues_under_a_salt_without_saying_anything_twice(engine: Engine) -> None:
    salted = replace(engine, salt="pepper")
    history = found(("list_pages",))
    first = salted.prepare_call(Turn(now=NOON))
    before = salted.prepare_step(first, history)
    second = salted.prepare_call(Turn(now=NOON), history, previous=Call.from_json(first.to_json()))

    assert salted.prepare_step(second, history).appended == before.appended


def test_the_salt_is_in_no_repr_no_call_and_no_step(engine: Engine) -> None:
    salted = replace(engine, salt="pepper")
    call = salted.prepare_call(Turn(now=NOON))

    assert "pepper" not in repr(salted)
    assert "pepper" not in json.dumps(call.to_json())
    assert "pepper" not in repr(salted.prepare_step(call))
    assert call == engine.prepare_call(Turn(now=NOON))


def test_the_environment_salts_what_the_command_line_prints(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    turn = tmp_path / "turn.yaml"
    turn.write_text("now: 2026-11-20T12:00:00+00:00\n", encoding="utf-8")
    monkeypatch.setenv("CUECARD_SALT", "pepper")
    options = ["--turn", str(turn), "--delivery", "append", "--manifest"]
    monkeypatch.setattr("sys.argv", ["cuecard", "render", str(tmp_path / "agent"), *options])

    with pytest.raises(SystemExit) as ended:
        main()
    shown = capsys.readouterr().out

    assert ended.value.code == 0
    assert Manifest.from_json(json.loads(shown)) == step(replace(engine, salt="pepper")).manifest
    assert "pepper" not in shown


def test_a_watched_engine_is_salted_too(engine: Engine, tmp_path: Path) -> None:
    with watch(tmp_path / "agent", delivery="append", salt="pepper", states=tmp_path / "state") as watcher:
        assert step(watcher.current).manifest == step(replace(engine, salt="pepper")).manifest


def test_a_manifest_survives_json(engine: Engine) -> None:
    manifest = conversation(engine).manifest

    assert Manifest.from_json(json.loads(json.dumps(manifest.to_json()))) == manifest


def test_equal_values_have_equal_fingerprints_whatever_the_order_of_their_keys() -> None:
    one, other = fingerprints({"x": {"a": 1, "b": [True, None]}}), fingerprints({"x": {"b": [True, None], "a": 1}})

    assert one == other == {"x": hashlib.sha256(b'{"a":1,"b":[true,null]}').hexdigest()}


def test_the_empty_text_is_never_salted_and_no_salt_changes_nothing() -> None:
    assert with_salt(NOTHING, "pepper") == NOTHING
    assert with_salt("ab" * 32, "") == "ab" * 32
    assert salt_name("") == ""
    assert len({*map(salt_name, ("pepper", "salt", "Pepper", "\udcff"))}) == 4  # the last: a byte of the environment
