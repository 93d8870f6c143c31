"""`cuecard serve --library`: `NAME@LABEL` over HTTP, read-only, in any number of replicas."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from sqlalchemy.engine import make_url

from command_line import run
from cuecard import Library, SpecError
from cuecard.library.serving import Removed
from cuecard.server.agents import LibraryAgents
from cuecard.server.service import Envelopes, Service
from unit.library.databases import away, new_database, running_server
from unit.library.test_serving import wait_until
from unit.server.served import KEY, notes_agent, serving
from unit.server.served import replica as process


@contextmanager
def replica(
    url: str, names: Sequence[str] = (), lifetime: float = 60.0, removed: Removed = "refuse"
) -> Iterator[httpx2.Client]:
    """One process of the service, as far as it knows."""
    agents = LibraryAgents(Library(url, lifetime=lifetime, removed=removed, timeout=2), names)
    try:
        with serving(Service(agents, Envelopes(KEY, 3600))) as client:
            yield client
    finally:
        agents.stop()


def call(client: httpx2.Client, agent: str, conversation: str | None = None) -> Any:
    body = {"agent": agent, "conversation": conversation, "manifest": True, "turn": {"host": "messages"}}
    if conversation is None:
        del body["conversation"]
    answer = client.post("/v1/prepare-call", json=body)
    told = answer.json()
    return told if answer.status_code == 200 else (answer.status_code, told["code"])


def version(told: Any) -> int:
    return int(told["manifest"]["configuration"]["library"]["version"])


def ready(client: httpx2.Client) -> Any:
    told = client.get("/readyz").json()
    return told["state"], told["agents"]


def test_a_conversation_keeps_its_version_over_a_label_move_in_every_replica(
    library: Library, url: str, agent: Path, tmp_path: Path
) -> None:
    library.publish(agent, "the first", author="Ann", label="production")
    library.publish(notes_agent(tmp_path), "another agent", author="Ann", label="production")
    with replica(url) as one, replica(url) as other:
        begun = call(one, "helper")
        library.write("helper", "notes", "Seen.")
        wait_until(lambda: version(call(one, "helper@production")) == 2)

        assert [version(call(each, "helper", begun["conversation"])) for each in (other, one)] == [1, 1]
        assert version(call(other, "helper")) == 2
        library.unlabel("helper@production", author="Ann")
        wait_until(lambda: call(other, "helper") == (404, "unknown-label"))
        with replica(url) as late:
            assert call(late, "helper") == (404, "unknown-label")
            assert version(call(late, "helper", begun["conversation"])) == 1
            step = {"agent": "helper", "conversation": begun["conversation"]}
            assert late.post("/v1/prepare-step", json=step).status_code == 200


def test_names_are_labels_or_numbers_and_what_is_not_there_has_a_code(library: Library, url: str, agent: Path) -> None:
    library.publish(agent, "the first", author="Ann", label="production")
    library.label("helper", "staging", author="Ann")
    library.write("helper", "notes", "Seen.", label="staging")
    two = ["helper@staging", "helper"]
    with replica(url) as client, replica(url, ["helper@staging"]) as named, replica(url, two) as both:
        assert [version(call(client, name)) for name in ("", "helper", "helper@staging", "helper@1")] == [1, 1, 2, 1]
        assert call(client, "helper@stagin") == (404, "unknown-label")
        assert call(client, "helper@7") == (404, "unknown-version")
        assert call(client, "stranger") == (404, "unknown-agent")
        assert call(client, "no name") == (422, "wrong-argument")
        assert version(call(named, "")) == version(call(named, "helper@staging")) == 2
        assert call(named, "helper") == (404, "unknown-agent")
        told = [each.post("/v1/prepare-call", json={"agent": name}).json() for each, name in ((both, ""), (named, "x"))]
        assert [(each["code"], each["detail"], each["problems"][0]["name"]) for each in told] == [
            ("unknown-agent", "several agents are served here; name one", "agent"),
            ("unknown-agent", "no agent `x@production` is served here; known here: `helper@staging`", "agent"),
        ]
        assert [each["version"] for each in named.get("/v1/agents").json()["agents"]] == [2]
        assert 'cuecard_agent_stale{agent="helper@staging"} 0.0' in named.get("/metrics").text


def test_who_is_asked_for_again_stays_of_the_most_that_are_followed(library: Library, url: str, agent: Path) -> None:
    library.publish(agent, "the first", author="Ann", label="production")
    library.label("helper", "staging", author="Ann")
    agents = LibraryAgents(Library(url), most=2)
    try:
        first = agents.find("helper")
        for name in ("helper@staging", "helper@production", "helper@1"):
            agents.find(name)

        assert [each.name for each in agents] == ["helper@production", "helper@1"]
        assert agents.find("helper") is first
    finally:
        agents.stop()


def test_readiness_says_since_when_a_label_is_stale_and_that_it_was_removed(
    library: Library, url: str, agent: Path
) -> None:
    library.publish(agent, "the first", author="Ann", label="production")
    with replica(url, ["helper"], removed="serve") as client:
        state, (told,) = ready(client)
        assert (state, told["name"], told["version"]) == ("ready", "helper@production", 1)
        assert told.keys().isdisjoint({"stale_since", "removed"})
        library.unlabel("helper@production", author="Ann")
        wait_until(lambda: ready(client)[0] == "stale")
        (told,) = ready(client)[1]
        assert told["removed"]
        assert told["stale_since"]
        assert call(client, "helper")["manifest"]["configuration"]["library"]["removed"]


def test_a_library_that_goes_away_is_told_and_what_is_cached_serves_on(tmp_path: Path, agent: Path) -> None:
    file = tmp_path / "prompts.db"
    library = Library(f"sqlite:///{file}")
    library.create()
    library.publish(agent, "the first", author="Ann", label="production")
    library.close()
    with replica(f"sqlite:///{file}") as client:
        assert version(call(client, "helper")) == version(call(client, "")) == 1
        file.rename(tmp_path / "away.db")
        wait_until(lambda: ready(client)[0] == "stale")

        assert call(client, "helper")["manifest"]["configuration"]["library"]["stale_since"]
        assert call(client, "helper@latest") == (503, "no-library")
        assert call(client, "")["step"]
        (tmp_path / "away.db").rename(file)
        wait_until(lambda: ready(client)[0] == "ready")


@pytest.fixture
def _never_listens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`cuecard serve` in an empty folder and in this process, which would not end if it started."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("cuecard.server.door.listen", lambda *_: pytest.fail("it would start"))


@pytest.mark.usefixtures("_never_listens")
def test_a_service_without_its_library_does_not_start_and_says_why(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/prompts.db"
    for words, code in ((["--library", url], "no-library"), ([], "wrong-option")):
        ran = run("serve", "--port", "0", *words)
        assert ran.exit_code in {1, 2}
        assert f"error[{code}]" in ran.stderr


@pytest.mark.usefixtures("_never_listens")
def test_options_that_would_change_nothing_are_refused_as_the_service_starts(tmp_path: Path, agent: Path) -> None:
    url = f"sqlite:///{tmp_path}/prompts.db"
    with closing(Library(url)) as library:
        library.create()
    options = ["--lifetime", "7", "--engines", "3", "--removed", "serve", "--fallback", "gone"]
    ran = run("serve", str(agent), "--port", "0", *options)
    assert re.findall(r"^(\S+): error\[wrong-option\]", ran.stderr, re.MULTILINE) == options[::2]

    ran = run("serve", "--port", "0", "--library", url, "--fallback", "gone")
    assert "gone: error[missing-file]" in ran.stderr
    with pytest.raises(SpecError):
        Library(url, fallback=tmp_path / "gone")


def test_every_option_of_the_command_reaches_the_library(
    tmp_path: Path, agent: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, made = f"sqlite:///{tmp_path}/prompts.db", list[dict[str, Any]]()
    with closing(Library(url)) as library:
        library.create()
        library.publish(agent, "the first", author="Ann", label="production")

    class Spy(Library):
        def __init__(self, url: str, **options: Any) -> None:
            made.append({"url": url, **options})
            super().__init__(url, **options)

    def run_app(app: Any, listening: Any, _options: Any) -> None:
        listening.close()
        assert app

    monkeypatch.setattr("cuecard.library.library.Library", Spy)
    monkeypatch.setattr("cuecard.server.process.run_app", run_app)
    monkeypatch.setattr("cuecard.server.monitoring.log_to_stderr", lambda: None)
    monkeypatch.setenv("CUECARD_SALT", "pepper")
    monkeypatch.setenv("CUECARD_CACHE", str(tmp_path / "cache"))
    words = ["--lifetime", "7", "--engines", "3", "--removed", "serve", "--fallback", str(agent), "--allow-code"]
    ran = run("serve", "helper", "--port", "0", "--library", url, *words, "--delivery", "append")
    (told,) = made

    assert ran.exit_code == 0, ran.stderr
    assert callable(told.pop("ready"))
    assert told == {
        "url": url,
        "lifetime": 7.0,
        "most": 3,
        "removed": "serve",
        "fallback": agent,
        "delivery": "append",
        "salt": "pepper",
        "cache": tmp_path / "cache",
        "allow_code": True,
    }

    monkeypatch.setenv("CUECARD_LIBRARY", url)
    monkeypatch.chdir(tmp_path)
    assert run("serve", "--port", "0").exit_code == 0
    assert [each["url"] for each in made[1:]] == [url]


@pytest.mark.usefixtures("_never_listens")
@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("postgresql://ann:geheim@127.0.0.1:1/prompts", "library-away"),
        ("postgresql://127.0.0.1:1/prompts?user=ann&password=geheim", "library-away"),
        ("postgresql://ann:geheim@127.0.0.1:port/prompts", "wrong-argument"),
        ("postgresql://ann:g@geheim@127.0.0.1:1/prompts", "wrong-argument"),
        ("mysql://ann:geheim@127.0.0.1/prompts", "wrong-argument"),
    ],
)
def test_a_service_that_does_not_start_prints_no_secret_of_the_url(
    url: str, code: str, caplog: pytest.LogCaptureFixture
) -> None:
    ran = run("serve", "--port", "0", "--library", url)

    assert ran.exit_code in {1, 2}
    assert f"error[{code}]" in ran.stderr
    assert "geheim" not in ran.stdout + ran.stderr + caplog.text


def test_the_log_of_a_service_whose_library_goes_away_has_no_secret_of_the_url(tmp_path: Path, agent: Path) -> None:
    with running_server() as server:
        url = make_url(new_database(server, "secrets")).set(password="geheim").render_as_string(hide_password=False)  # noqa: S106 - a secret that is looked for
        with closing(Library(url)) as library:
            library.create()
            library.publish(agent, "the first", author="Ann", label="production")
        with process("--library", url, states=tmp_path / "states") as served, served.client() as client:
            assert version(call(client, "helper")) == 1
            with away(server, "stopped"):
                wait_until(lambda: ready(client)[0] == "stale")
                assert call(client, "helper@latest") == (503, "library-away")
                shown = client.get("/readyz").text + client.get("/v1/agents").text + client.get("/metrics").text
            assert served.end() == 0

    assert any("stale" in str(line) for line in served.lines)
    assert "geheim" not in shown + str(served.lines)
