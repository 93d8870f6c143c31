"""`cuecard probe` against services that behave, and against those that do not: a clear result or a clear error each."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cuecard import CuecardError, Engine, InputError, SpecError, Turn
from cuecard.cli.main import main
from cuecard.cli.probe.command import Options, probe
from cuecard.outside.models import read_models
from unit.probe.service import Messages, Raw, Refusal, drop, hoist, in_place, refuse, service, to_the_end

KEY = "sk-very-secret-0123456789"
MODEL = "llama-of-my-own"
apis = pytest.mark.parametrize("api", ["anthropic", "openai"])


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "models.yaml"


def ask(url: str, path: Path, capsys: pytest.CaptureFixture[str], **options: Any) -> dict[str, Any]:
    probe(MODEL, Options(**{"base_url": url, "api": "openai", "file": path, "as_json": True, **options}))
    shown = capsys.readouterr().out
    assert KEY not in shown
    told: dict[str, Any] = json.loads(shown)
    return told


@apis
@pytest.mark.parametrize(
    ("treat", "heeds", "found", "role"),
    [
        (in_place, True, "in place", "system"),
        (in_place, False, "in place", "user"),
        (hoist, True, "moved to the front", "user"),
        (to_the_end, True, "moved elsewhere", "user"),
        (drop, True, "dropped", "user"),
        (refuse, True, "refused", "user"),
    ],
)
def test_it_tells_what_becomes_of_a_message_mid_conversation(
    api: str,
    treat: Callable[[Messages], Messages],
    heeds: bool,  # noqa: FBT001 - a parameter of the test
    found: str,
    role: str,
    path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with service(treat, heeds=heeds) as there:
        told = ask(there.url, path, capsys, api=api)
        profile = read_models(path).find(MODEL, endpoint=there.url)

    assert (told["found"], told["mid_conversation"], told["written"]) == (found, role, True)
    assert (profile.mid_conversation, profile.known) == (role, True)
    assert len(there.requests) <= 3
    assert sum(len(json.dumps(body)) for body in there.requests) < 3000


def test_what_it_wrote_is_what_an_agent_goes_by(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with service() as there:
        ask(there.url, path, capsys)
    agent = path.with_name("agent.yaml")
    agent.write_text("agent: a\nmodels: models.yaml\nsections: [{id: p, text: Hello.}]\n", encoding="utf-8")
    engine = Engine.open(agent)

    def authority(url: str) -> str:
        return engine.prepare_call(Turn(model=MODEL, endpoint=url, delivery="append")).delivery.authority

    assert authority(there.url) == "system"
    assert authority("http://127.0.0.1:1") == "user"


def test_a_dry_run_prints_the_file_and_writes_nothing(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with service() as there:
        probe(MODEL, Options(base_url=there.url, api="openai", file=path, dry_run=True))

    shown = capsys.readouterr().out
    assert not path.exists()
    assert "is in place" in shown
    assert f'  "{there.url.removeprefix("http://")}":\n    in_place: {{value: true, source: "cuecard probe"' in shown


@apis
def test_the_key_goes_into_the_header_of_the_api_and_nowhere_else(
    api: str, path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with service() as there:
        ask(there.url, path, capsys, api=api)

    header, value = ("x-api-key", KEY) if api == "anthropic" else ("authorization", f"Bearer {KEY}")
    assert {sent[header] for sent in there.headers} == {value}
    assert KEY not in json.dumps(there.requests) + path.read_text(encoding="utf-8")


def test_a_local_server_needs_no_key(
    path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    with service() as there:
        ask(there.url, path, capsys)

    assert not any("authorization" in sent for sent in there.headers)


def test_tokens_read_from_a_cache_are_reported(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    usage = {"prompt_tokens": 80, "prompt_tokens_details": {"cached_tokens": 64}}
    with service(usage=usage) as there:
        assert ask(there.url, path, capsys)["cached_tokens"] == 64
        capsys.readouterr()
    with service(usage={"prompt_tokens": "many"}) as there:
        assert ask(there.url, path, capsys)["cached_tokens"] is None


def refused(url: str, path: Path, **options: Any) -> str:
    with pytest.raises(InputError) as caught:
        probe(MODEL, Options(**{"base_url": url, "api": "openai", "file": path, **options}))
    assert not path.exists()
    assert KEY not in str(caught.value)
    return str(caught.value)


def always(error: Exception) -> Callable[[Messages], Messages]:
    def treat(_: Messages) -> Messages:
        raise error

    return treat


def later(error: Exception) -> Callable[[Messages], Messages]:
    """The plain question is answered, the next ones are not."""

    def treat(messages: Messages) -> Messages:
        if any(message["role"] == "system" for message in messages):
            raise error
        return messages

    return treat


@apis
@pytest.mark.parametrize("when", [always, later])
@pytest.mark.parametrize(
    ("error", "told"),
    [
        (Refusal(401, f'{{"error": "wrong key {KEY}"}}'), 'HTTP 401: {"error": "wrong key ..."}'),
        (Refusal(403), "the key was rejected"),
        (Refusal(429, "slow down"), "try again later"),
        (Refusal(503, "<html>\x1b[31m" + "x" * 9999), "HTTP 503: <html> [31mxxx"),
        (Refusal(307, "", Location="http://127.0.0.1:1/elsewhere"), "it redirects to another address"),
        (Raw(b"\xff\xfe garbage"), "the answer is not JSON"),
        (Raw(b"[1, 2]"), "the answer is not a JSON object"),
        (Raw(b"[" * 100_000), "the answer is not JSON"),
        (Raw(b'{"choices": [], "content": [7]}'), "does not have the form of"),
        (Raw(b'{"choices": [{"message": {"content": 7}}], "content": null}'), "does not have the form of"),
        (Raw(b"{}"), "does not have the form of"),
        (Raw(b'"' + b"x" * (1 << 21) + b'"'), "the answer is longer than 1,048,576 bytes"),
        (TimeoutError(), "no answer within 0.3 seconds"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_cannot_be_asked_is_one_clear_error(
    api: str, when: Callable[[Exception], Callable[[Messages], Messages]], error: Exception, told: str, path: Path
) -> None:
    with service(when(error)) as there:
        assert told in refused(there.url, path, api=api, timeout=0.3 if isinstance(error, TimeoutError) else 60)


@pytest.mark.parametrize("status", [400, 404])
def test_a_service_that_refuses_even_the_plain_question_is_an_error_and_no_finding(status: int, path: Path) -> None:
    with service(always(Refusal(status, "no such model"))) as there:
        assert f"`{MODEL}` does not answer: HTTP {status}: no such model" in refused(there.url, path)


def test_nobody_at_the_address_is_reported(path: Path) -> None:
    assert "it cannot be reached" in refused("http://127.0.0.1:1", path)


@pytest.mark.parametrize(
    "url",
    ["ftp://host/v1", "file:///etc/passwd", "localhost:80", "http://", "https://me:secret@host/v1", "http://[::1"],
)
def test_an_invalid_address_is_refused_before_anything_is_sent(url: str, path: Path) -> None:
    told = refused(url, path)

    assert "this is not an http or https address" in told
    assert "secret" not in told


def test_everything_that_is_wrong_is_reported_at_once(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")

    told = refused("", path, timeout=-1)

    assert "set the environment variable OPENAI_API_KEY" in told
    assert "a timeout must be more than 0" in told


def test_a_key_that_would_break_a_header_is_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", f"{KEY}\nevil: 1")

    assert "the key contains characters that are not allowed in a key" in refused("http://127.0.0.1:1", path)


def test_a_model_that_no_provider_serves_needs_an_address(path: Path) -> None:
    assert "no address is known for" in refused("", path, api="auto")


def test_a_models_file_that_is_wrong_is_reported_with_its_place(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path.write_text("endpoints: 7\n", encoding="utf-8")
    with service() as there, pytest.raises(SpecError, match=r"models.yaml:1:12"):
        ask(there.url, path, capsys)

    assert path.read_text(encoding="utf-8") == "endpoints: 7\n"


def test_the_command_takes_every_option(
    path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with service(hoist) as there:
        given = ["--base-url", there.url, "--api", "openai", "--role", "developer", "--file", str(path), "--json"]
        monkeypatch.setattr("sys.argv", ["cuecard", "probe", MODEL, *given, "--timeout", "30", "--dry-run"])
        with pytest.raises(SystemExit) as ended:
            main()
    told = json.loads(capsys.readouterr().out)

    assert ended.value.code in {0, None}
    assert (told["found"], told["written"], path.exists()) == ("moved to the front", False, False)
    assert {message["role"] for message in there.requests[1]["messages"]} == {"user", "assistant", "developer"}


def test_a_file_that_cannot_be_one_is_reported_before_anything_is_asked(tmp_path: Path) -> None:
    with service() as there, pytest.raises(CuecardError, match="not a regular file"):
        probe(MODEL, Options(base_url=there.url, api="openai", file=tmp_path))

    assert there.requests == []
