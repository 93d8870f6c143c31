"""The GitHub Action: its shell scripts over a real repository of two commits; only `gh` is a stub that records."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from shell import cuecard_in

ROOT = Path(__file__).parents[2]
ACTION = ROOT / "action.yml"
AGENT = "agent: bakery\nsections:\n  - {id: identity, text: You answer the mail of a bakery.}\n"
MORE = AGENT + "  - {id: rules, text: Promise nothing.}\n"
GH = """#!/bin/sh
printf '%s\\n' "$@" >> "$GH_LOG"
case "$*" in *--paginate*) cat "$GH_FOUND"; exit "$GH_READ";; esac
exit "$GH_WRITE"
"""

Done = subprocess.CompletedProcess[str]


@dataclass
class Job:
    """A job of a pull request: its folder, and the files that a runner gives to a step."""

    top: Path
    agent: str

    @property
    def folder(self) -> Path:
        return self.top / "work"

    def git(self, *arguments: str) -> str:
        own = ["-c", "user.name=Kim", "-c", "user.email=kim@example.org", "-c", "commit.gpgsign=false"]
        return subprocess.run(
            ["git", *own, *arguments], cwd=self.folder, check=True, capture_output=True, text=True
        ).stdout.strip()

    def commit(self, text: str) -> str:
        path = self.folder / self.agent / "agent.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        turns = path.parent / "turns"
        turns.mkdir(exist_ok=True)
        (turns / "$(touch pwned).yaml").write_text("expect: {contains: bakery}\n", encoding="utf-8")
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "A change")
        return self.git("rev-parse", "HEAD")

    def run(self, script: str, **given: str) -> Done:
        runner = {
            "RUNNER_TEMP": str(self.top),
            "GITHUB_STEP_SUMMARY": str(self.top / "summary.md"),
            "GITHUB_OUTPUT": str(self.top / "output"),
            "GITHUB_EVENT_PATH": str(self.top / "event.json"),
            "GITHUB_REPOSITORY": "kim/bakery",
            "PATH": f"{self.top / 'bin'}:{Path(sys.executable).parent}:{os.environ['PATH']}",
        }
        inputs = dict.fromkeys(("TURNS", "MODEL", "PRICE", "BASE"), "") | {"AGENT": self.agent, "FAIL_ON": "error"}
        environment = {**os.environ, **runner, **{f"CUECARD_{name}": value for name, value in inputs.items()}, **given}
        command = ["bash", str(ROOT / "action" / script)]
        return subprocess.run(
            command, cwd=self.folder, env=environment, capture_output=True, text=True, check=False, timeout=120
        )

    @property
    def summary(self) -> str:
        return (self.top / "summary.md").read_text(encoding="utf-8")

    @property
    def outputs(self) -> dict[str, str]:
        lines = (self.top / "output").read_text(encoding="utf-8").splitlines()
        return dict(line.split("=", 1) for line in lines)


def pull_request(top: Path) -> Job:
    """A pull request that adds a section; its branch and its agent's folder have names that a shell would run."""
    made = Job(top, "a; touch pwned `touch pwned`")
    made.folder.mkdir()
    (top / "bin").mkdir()
    (top / "bin" / "gh").write_text(GH, encoding="utf-8")
    (top / "bin" / "gh").chmod(0o755)
    made.git("init", "--quiet", "--initial-branch=main")
    base = made.commit(AGENT)
    made.git("checkout", "--quiet", "-b", "x$(touch${IFS}pwned)")
    head = made.commit(MORE)
    event = {"pull_request": {"number": 7, "base": {"sha": base}, "head": {"sha": head, "ref": "x$(touch${IFS}pwned)"}}}
    (top / "event.json").write_text(json.dumps(event), encoding="utf-8")
    return made


@pytest.fixture
def job(tmp_path: Path) -> Iterator[Job]:
    """A pull request of one test, in which this process is `cuecard`."""
    made = pull_request(tmp_path)
    with cuecard_in(tmp_path / "bin"):
        yield made


@pytest.fixture(scope="module")
def reported(tmp_path_factory: pytest.TempPathFactory) -> tuple[Job, Done]:
    """A pull request with its report: what reads that, as a comment does, changes nothing."""
    made = pull_request(tmp_path_factory.mktemp("reported"))
    with cuecard_in(made.top / "bin"):
        return made, made.run("report.sh", CUECARD_MODEL="gpt-4o", CUECARD_PRICE="2.5")


def comment(job: Job, found: str = "", read: str = "0", write: str = "0") -> Done:
    """The comment on a pull request of which `gh` finds these, and can read and write as its exit codes say."""
    (job.top / "log").unlink(missing_ok=True)
    (job.top / "found").write_text(found, encoding="utf-8")
    logs = {"GH_LOG": str(job.top / "log"), "GH_FOUND": str(job.top / "found"), "GH_READ": read, "GH_WRITE": write}
    return job.run("comment.sh", CUECARD_REPORT=job.outputs["report"], CUECARD_NUMBER="7", **logs)


def test_the_report_tells_what_the_pull_request_changes(reported: tuple[Job, Done]) -> None:
    job, done = reported

    assert (done.returncode, done.stderr, job.outputs["failed"]) == (0, "", "0")
    assert "check: passed, test: passed" in job.summary
    assert "**The prompt changes: +3 tokens.**" in job.summary
    assert "$0.02 → $0.03" in job.summary
    assert Path(job.outputs["report"]).read_text(encoding="utf-8") == job.summary
    assert not list(job.top.rglob("pwned"))


def test_a_merge_is_compared_with_what_it_goes_into(job: Job) -> None:
    job.git("checkout", "--quiet", "main")
    (job.folder / "other.txt").write_text("of somebody else", encoding="utf-8")
    job.git("add", "--all")
    job.git("commit", "--quiet", "--message", "Meanwhile")
    later = job.git("rev-parse", "HEAD")
    job.git("merge", "--quiet", "--no-ff", "--message", "Merge", "x$(touch${IFS}pwned)")
    job.run("report.sh")

    assert f"<code>{later}" in job.summary


def test_what_is_wrong_is_annotated_and_fails(job: Job) -> None:
    job.commit(MORE.replace("bakery.", "butcher.").replace("agent: bakery", "agent: butcher"))
    done = job.run("report.sh")
    (job.top / "event.json").write_text("{}", encoding="utf-8")  # without a base, nothing is compared a second time
    never = job.run("report.sh", CUECARD_FAIL_ON="never")

    assert "::error file=" in done.stdout
    assert "check: passed, test: failed" in job.summary
    assert (done.returncode, never.returncode, job.outputs["failed"]) == (0, 0, "0")
    assert "failed=1\n" in (job.top / "output").read_text(encoding="utf-8")


def test_without_a_base_there_is_nothing_to_compare(job: Job) -> None:
    (job.top / "event.json").write_text("{}", encoding="utf-8")
    done = job.run("report.sh")

    assert (done.returncode, "tokens" in job.summary) == (0, False)


@pytest.mark.parametrize(("found", "method"), [("", "POST"), ("41\n42\n", "PATCH")])
def test_there_is_one_comment(reported: tuple[Job, Done], found: str, method: str) -> None:
    job, _ = reported
    done = comment(job, found)
    asked = (job.top / "log").read_text(encoding="utf-8").splitlines()

    assert (done.returncode, done.stdout) == (0, "")
    assert method in asked
    assert f"body=@{job.outputs['report']}" in asked
    assert ("repos/kim/bakery/issues/comments/41" in asked) == (method == "PATCH")


@pytest.mark.parametrize(("read", "write"), [("1", "0"), ("0", "1")])
def test_a_fork_may_not_comment_and_does_not_fail(reported: tuple[Job, Done], read: str, write: str) -> None:
    job, _ = reported
    done = comment(job, read=read, write=write)

    assert done.returncode == 0
    assert "::notice title=cuecard::" in done.stdout


def test_no_expression_appears_in_a_shell_script() -> None:
    """What a pull request names would be run there; in the environment it is only read."""
    action = YAML(typ="safe").load(ACTION)
    scripts = [step["run"] for step in action["runs"]["steps"] if "run" in step]

    assert scripts
    assert [script for script in scripts if "${{" in script] == []
    assert [path.name for path in (ROOT / "action").iterdir() if "${{" in path.read_text(encoding="utf-8")] == []


def test_every_input_is_documented() -> None:
    action = YAML(typ="safe").load(ACTION)
    page = (ROOT / "docs" / "testing.md").read_text(encoding="utf-8")

    assert [name for name in action["inputs"] if f"| `{name}` |" not in page] == []
