"""The pages for contributors and the files for the hosting platform: what they name exists, and their figures agree."""

from __future__ import annotations

import re
import shutil
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

ROOT = Path(__file__).parents[2]
PAGES = ("CONTRIBUTING.md", "SECURITY.md", "CODE_OF_CONDUCT.md", ".github/pull_request_template.md")
GUIDE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
TARGETS = re.findall(r"^([a-z-]+):.*## ", MAKEFILE, re.MULTILINE)
YAML_FILES = [ROOT / ".pre-commit-config.yaml", *sorted((ROOT / ".github").rglob("*.yml"))]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PYTHONS = [name.rpartition(" ")[2] for name in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", name)]
OWN = re.compile(r"`([\w./-]+/[\w./-]+|[\w-]+\.(?:md|toml|yaml))`")
"""A path in a page; names in capitals stand for what a contributor makes."""

OF_A_CASE = {"agent.yaml", "turn.yaml"}


def text_of(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def read(path: Path) -> Any:
    return YAML(typ="safe", pure=True).load(path.read_text(encoding="utf-8"))


def jobs(name: str) -> dict[str, Any]:
    found = read(ROOT / ".github" / "workflows" / name)["jobs"]
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize("page", PAGES)
def test_every_path_that_a_page_names_exists(page: str) -> None:
    named = [path for path in OWN.findall(text_of(page)) if "NAME" not in path and path not in OF_A_CASE]
    linked = [link for link in re.findall(r"\]\(([^)#]+)[^)]*\)", text_of(page)) if "://" not in link]
    beside = {path.name for path in (ROOT / "engine" / "cuecard").rglob("*.py")}

    assert [path for path in [*named, *linked] if not (ROOT / path).exists()] == []
    assert [name for name in re.findall(r"`(\w+\.py)`", text_of(page)) if name not in beside] == []


@pytest.mark.parametrize("page", PAGES)
def test_every_heading_that_a_page_links_to_exists(page: str) -> None:
    for target, anchor in re.findall(r"\]\(([\w./-]+)#([\w-]+)\)", text_of(page)):
        titles = re.findall(r"^#+ (.*)$", text_of(target), re.MULTILINE)

        assert anchor in {re.sub(r"[^\w -]", "", title).lower().replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", [*PAGES, ".github/workflows/ci.yml", ".github/workflows/release.yml"])
def test_every_make_target_that_is_named_exists(page: str) -> None:
    assert set(re.findall(r"(?:`|run: |\$ )make ([a-z-]+)", text_of(page))) <= {*TARGETS}


def test_the_guide_lists_every_make_target() -> None:
    assert [target for target in TARGETS if f"`make {target}`" not in GUIDE] == []


def test_the_guide_follows_a_source_through_every_file_that_registers_it() -> None:
    chapter = GUIDE.partition("## Add a section source")[2].partition("\n## ")[0]
    registering = {"sections/section_spec.py", "sections/section_source.py", "sections/elements.py"}
    package = ROOT / "engine" / "cuecard"
    found = {
        "/".join(path.parts[-2:])
        for path in package.rglob("*.py")
        if re.search(r"\bspec\.rows\b|: RowsSpec \|", path.read_text(encoding="utf-8"))
    }

    assert found == registering
    assert [path for path in found if path not in chapter] == []


def test_the_names_that_the_guide_uses_are_in_the_code() -> None:
    package = ROOT / "engine" / "cuecard"
    code = "\n".join(path.read_text(encoding="utf-8") for path in package.rglob("*.py"))
    names = set(re.findall(r"`(_?[A-Za-z]+(?:_[A-Za-z]+)*|_[a-z]+)`", GUIDE)) & {
        *("FileModel", "SOURCES", "SectionPatch", "Fill", "Given", "Content", "Cut", "Problem", "WrongValueError"),
        *("as_of", "printed", "inputs", "_compiled", "_LOCAL", "Engine", "Step"),
    }

    assert len(names) > 14
    assert [name for name in names if not re.search(rf"\b{name}\b", code)] == []


def test_the_example_of_a_check_is_one_of_ours() -> None:
    (shown,) = re.findall(r"```yml\n(.*?)```", GUIDE, re.DOTALL)
    ((code, example),) = YAML(typ="safe", pure=True).load(shown).items()
    ours = [read(path) for path in (ROOT / "tests" / "cases" / "checks" / "examples").glob("*.yaml")]

    assert example in [examples.get(code) for examples in ours]


@pytest.mark.parametrize("path", YAML_FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_file_is_yaml(path: Path) -> None:
    assert isinstance(read(path), dict)


def test_every_supported_python_is_tested_on_three_systems() -> None:
    assert PYTHONS[0] == PROJECT["requires-python"].removeprefix(">=")

    tested = {
        (system, version)
        for job in jobs("ci.yml").values()
        for matrix in [job.get("strategy", {}).get("matrix", {})]
        for version in matrix.get("python", [])
        for system in matrix.get("os", [job["runs-on"]])
    }

    systems = ("ubuntu-latest", "macos-latest", "windows-latest")
    assert tested == {(system, version) for system in systems for version in PYTHONS}


def test_windows_runs_the_commands_of_make_test() -> None:
    commands = [step["run"] for step in jobs("ci.yml")["windows"]["steps"] if "run" in step]
    recipe = MAKEFILE.partition("\ntest:")[2].partition("\n\n")[0].replace("$(WORKERS)", "auto")

    assert commands[-1].removeprefix("python ") in recipe
    for command in commands[:-1]:
        options = command.partition("install ")[2]
        assert all(option in MAKEFILE for option in options.replace("-r ", "").split())
    assert [line for line in commands if line.replace("python -m ", "") not in GUIDE] == []


def test_a_release_needs_the_tests_and_stores_no_token() -> None:
    release = jobs("release.yml")

    assert release["ci"]["uses"] == "./.github/workflows/ci.yml"
    assert (release["build"]["needs"], release["publish"]["needs"]) == ("ci", "build")
    assert release["publish"]["permissions"] == {"id-token": "write"}
    assert "secrets." not in text_of(".github/workflows/release.yml")


def test_every_job_has_a_time_limit() -> None:
    every = [*jobs("ci.yml").values(), *jobs("release.yml").values()]

    assert all("timeout-minutes" in job for job in every if "uses" not in job)


def test_the_hooks_run_what_the_set_up_installs() -> None:
    (repository,) = read(ROOT / ".pre-commit-config.yaml")["repos"]
    programs = [hook["entry"].split()[0] for hook in repository["hooks"]]

    assert repository["repo"] == "local"
    assert {hook["language"] for hook in repository["hooks"]} == {"system"}
    assert [name for name in programs if not shutil.which(name, path=str(Path(sys.executable).parent))] == []


@pytest.mark.parametrize("form", ["bug.yml", "feature.yml"])
def test_an_issue_form_has_what_the_platform_asks_for(form: str) -> None:
    told = read(ROOT / ".github" / "ISSUE_TEMPLATE" / form)
    questions = [part for part in told["body"] if part["type"] != "markdown"]

    assert told["name"]
    assert told["description"]
    assert all(part["attributes"]["label"] for part in questions)
    assert len({part["id"] for part in questions}) == len(questions)
    assert any(part.get("validations", {}).get("required") for part in questions)
