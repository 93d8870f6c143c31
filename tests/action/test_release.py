"""The way to a release: what each job may do, whose code it runs, and what is known of the packages it installs."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").iterdir())
USES = re.compile(r"^\s*(?:- )?uses: (\S+)(?: # (v[0-9.]+))?$", re.MULTILINE)
BY_TAG = {"pypa/gh-action-pypi-publish@release/v1"}
"""Those of which no commit could be read."""


def jobs(workflow: Path) -> dict[str, Any]:
    read: dict[str, Any] = YAML(typ="safe").load(workflow)
    assert read["permissions"] == {}
    found: dict[str, Any] = read["jobs"]
    return found


@pytest.mark.parametrize("file", [*WORKFLOWS, ROOT / "action.yml"], ids=lambda file: file.name)
def test_other_peoples_actions_are_pinned_by_commit_with_their_version_beside(file: Path) -> None:
    found = [each for each in USES.findall(file.read_text(encoding="utf-8")) if not each[0].startswith("./")]

    assert found
    assert {name for name, version in found if not version} <= BY_TAG
    for name, _ in found:
        assert name in BY_TAG or re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", name)


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda file: file.name)
def test_a_job_reads_the_repository_and_only_the_publishing_one_may_say_who_it_is(workflow: Path) -> None:
    for name, job in jobs(workflow).items():
        expected = {"id-token": "write"} if name == "publish" else {"contents": "read"}
        assert job["permissions"] == expected, name


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda file: file.name)
def test_no_checkout_keeps_credentials_and_the_publishing_job_checks_nothing_out(workflow: Path) -> None:
    for name, job in jobs(workflow).items():
        checkouts = [step for step in job.get("steps", []) if "actions/checkout" in step.get("uses", "")]
        assert all(step["with"]["persist-credentials"] is False for step in checkouts), name
        assert not (checkouts and name == "publish")


def locked(lock: Path) -> dict[str, list[str]]:
    """The packages of a lock, and the hashes of each."""
    entries = re.split(r"\n(?=\S)", lock.read_text(encoding="utf-8"))
    found = {}
    for entry in entries:
        if name := re.match(r"([A-Za-z0-9._-]+)==", entry):
            found[name[1].lower().replace("_", "-").replace(".", "-")] = re.findall(
                r"--hash=sha256:[0-9a-f]{64}", entry
            )
    return found


def test_what_the_action_installs_is_hashed_and_nothing_is_missing() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wanted = [*project["project"]["dependencies"], *project["build-system"]["requires"]]
    names = {re.split(r"[^A-Za-z0-9._-]", each)[0].lower().replace(".", "-") for each in wanted}
    packages = locked(ROOT / "requirements" / "action.lock")
    script = (ROOT / "action" / "install.sh").read_text(encoding="utf-8")

    assert names <= {*packages}
    assert all(packages.values())
    assert '--require-hashes --requirement "$GITHUB_ACTION_PATH/requirements/action.lock"' in script
    assert '--no-index --no-deps --no-build-isolation "$GITHUB_ACTION_PATH"' in script


def test_the_action_installs_what_the_tests_ran_with() -> None:
    def versions(name: str) -> set[str]:
        text = (ROOT / "requirements" / name).read_text(encoding="utf-8")
        return {*re.findall(r"^[A-Za-z0-9._-]+==[^ ;\\]+", text, re.MULTILINE)}

    assert versions("action.lock") <= versions("dev.lock")


PIP_AUDIT = """
import json, os, sys
lock = os.path.basename(sys.argv[-1])
said = json.loads(os.environ["SAID"])[lock]
if isinstance(said, str):
    sys.exit(said)
print(json.dumps({"dependencies": said, "fixes": []}))
"""
FINE = [{"name": "a", "version": "1", "vulns": []}]
BAD = [{"name": "a", "version": "1", "vulns": [{"id": "PYSEC-1", "fix_versions": ["2"]}]}, *FINE]
UNKNOWN = [{"name": "a", "skip_reason": "Dependency not found"}]


@pytest.mark.parametrize(
    ("said", "code", "told"),
    [
        (FINE, 0, "audited: x.lock: 1 packages\n"),
        (BAD, 1, "audited: x.lock: 2 packages\n  a 1: PYSEC-1, fixed in 2\n"),
        ([*FINE, *UNKNOWN], 1, "audited: x.lock: 2 packages\n  a : Dependency not found\n"),
        (UNKNOWN, 0, "skipped: x.lock: the database of pip-audit cannot be reached\n"),
        (
            "requests.exceptions.ConnectionError: no",
            0,
            "skipped: x.lock: the database of pip-audit cannot be reached\n",
        ),
        ("invalid requirement", 1, ""),
    ],
)
def test_an_audit_fails_for_what_it_finds_and_skips_by_name_without_its_database(
    tmp_path: Path, said: object, code: int, told: str
) -> None:
    """The script as it is, with another pip-audit, whose answers are those of the real one."""
    for folder in (".ci", "requirements"):
        (tmp_path / folder).mkdir()
    script = tmp_path / ".ci" / "audit.py"
    script.write_bytes((ROOT / ".ci" / "audit.py").read_bytes())
    (tmp_path / "requirements" / "x.lock").write_text("", encoding="utf-8")
    (tmp_path / "pip_audit.py").write_text(PIP_AUDIT, encoding="utf-8")
    env = {**os.environ, "PYTHONPATH": str(tmp_path), "SAID": json.dumps({"x.lock": said})}
    done = subprocess.run([sys.executable, script], env=env, capture_output=True, text=True, check=False)

    assert (done.returncode, done.stdout) == (code, told), done.stderr
