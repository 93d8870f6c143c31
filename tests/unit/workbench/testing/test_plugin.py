"""The pytest plugin, as its users run it: a folder with an agent and tests."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from cms_agent import CMS, cms
from cuecard import Turn

QUICK_SERVER = Path(__file__).parents[1] / "run" / "quick_server.py"
AGENT = """\
agent: bakery
tokens: {encoding: cl100k_base}
inputs: {customer: {default: ""}}
sections:
  - {id: identity, text: You answer the mail of a bakery.}
  - {id: customer, text: "{{{customer}}}"}
"""
TESTS = """
import pytest
from cuecard import Turn

@pytest.mark.parametrize("name", ["Jana", "a/b", "a_b"])
def test_customer(render_turn, snapshot, name):
    prompt = render_turn("turns/first.yaml", inputs={"customer": name})
    assert name in prompt
    assert prompt == snapshot

def test_two(render_turn, cue_snapshot):
    assert render_turn() == cue_snapshot
    assert render_turn(Turn(inputs={"customer": "Max"})) == cue_snapshot
"""
SCENARIO = """\
title: The pages are shown
now: "2026-11-20T09:00:00+00:00"
turns:
  - user: Which pages are there?
    steps:
      - calls: [{tool: tool_search, args: {query: list pages}}]
      - calls: [{tool: cms_listPages}]
    answer: Here they are.
"""

Run = Callable[..., pytest.RunResult]


@pytest.fixture(scope="module", autouse=True)
def _imported() -> None:
    """A run in this process forgets the modules that it was the first to import: each would import the engine again."""
    cms().prepare_call(Turn())


@pytest.fixture(autouse=True)
def _without_other_plugins(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    """Most of the time would go into plugins of others. Asks for `pytester` because that removes a variable."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p cuecard")  # by the name of its entry point


@pytest.fixture
def run(pytester: pytest.Pytester) -> Run:
    pytester.makefile(".yaml", agent=AGENT)
    (pytester.path / "turns").mkdir()
    (pytester.path / "turns" / "first.yaml").write_text("inputs: {customer: Max}\n", encoding="utf-8")
    pytester.makepyfile(test_prompts=TESTS)
    return lambda *options: pytester.runpytest_inprocess("-p", "no:cacheprovider", *options)


def files(pytester: pytest.Pytester) -> list[str]:
    folder = pytester.path / "snapshots" / "test_prompts"
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def test_a_snapshot_is_missing_then_written_then_held(run: Run, pytester: pytest.Pytester) -> None:
    missing = run()
    missing.assert_outcomes(failed=4)
    missing.stdout.fnmatch_lines(["*there is no snapshot *test_two.txt", "*write it: pytest --cue-update*"])

    run("--cue-update").assert_outcomes(passed=4)
    assert len(files(pytester)) == 5  # also of the two names that are alike
    run().assert_outcomes(passed=4)


def test_a_failure_tells_section_lines_tokens_and_cache(run: Run, pytester: pytest.Pytester) -> None:
    run("--cue-update")
    pytester.makefile(".yaml", agent=AGENT.replace("the mail", "every mail"))

    result = run("-k", "Jana")

    result.assert_outcomes(failed=1, deselected=3)
    result.stdout.fnmatch_lines(
        [
            "*the prompt differs from *test_customer_Jana.txt",
            "*section `identity`: 8 -> 8 tokens",
            "*-You answer the mail of a bakery.",
            "*+You answer every mail of a bakery.",
            "*tokens are read again",
            "*if that is what you want: pytest --cue-update",
        ]
    )


@pytest.mark.parametrize("workers", [[], ["-p", "xdist", "-n", "1"]])
def test_unused_snapshots_are_reported_and_pruned(run: Run, pytester: pytest.Pytester, workers: list[str]) -> None:
    run("--cue-update")
    pytester.makepyfile(test_prompts=TESTS.partition("def test_two")[0])

    told = run(*workers).stdout
    told.fnmatch_lines(["unused snapshot: *test_two.txt", "delete them: pytest --cue-prune"])
    told.no_fnmatch_line("*test_customer*")
    run("-k", "Jana", "--cue-prune")
    assert len(files(pytester)) == 5  # tests that were not run may need theirs

    run("--cue-prune").stdout.fnmatch_lines(["removed: *test_two.txt"])
    assert len(files(pytester)) == 3


def test_nothing_is_pruned_where_a_test_fails(run: Run, pytester: pytest.Pytester) -> None:
    run("--cue-update")
    pytester.makepyfile(test_prompts=TESTS.replace("assert render_turn()", "assert 0\n    assert render_turn()"))

    run("--cue-prune").assert_outcomes(passed=3, failed=1)
    assert len(files(pytester)) == 5


def test_the_agent_is_the_nearest_the_setting_or_the_marker(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import pytest

        def test_nearest(cue_engine):
            assert cue_engine.agent.spec.agent == "cms"

        @pytest.mark.cuecard(agent="prompts/polyant", delivery="rewrite")
        def test_marked(cue_engine, render_turn):
            assert cue_engine.agent.spec.agent == "polyant"
            assert cue_engine.delivery == "rewrite"
        """
    )
    pytester.makeini("[pytest]\ncuecard_agent = prompts/cms\n")

    pytester.runpytest_inprocess().assert_outcomes(passed=2)


def test_what_does_not_exist_is_one_clear_error(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_agent(render_turn):\n    render_turn()\n")
    pytester.runpytest_inprocess().stdout.fnmatch_lines(["*error?no-agent?: no agent.yaml in the test*"])

    pytester.makefile(".yaml", agent=AGENT)
    pytester.makepyfile("def test_turn(render_turn):\n    render_turn('turns/none.yaml')\n")
    pytester.runpytest_inprocess().stdout.fnmatch_lines(["*error?missing-file?: there is no turns/none.yaml*"])


def test_a_scenario_is_played_and_its_prompts_are_kept(pytester: pytest.Pytester) -> None:
    server = f'command: ["{{python}}", {QUICK_SERVER}, cms_listPages]'
    pytester.makefile(".yaml", assistant=f"agent: {CMS}\nscenarios: plays\nserver: {{{server}}}\n")
    (pytester.mkdir("plays") / "pages.yaml").write_text(SCENARIO, encoding="utf-8")
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.cue_scenario("assistant.yaml", "pages")
        def test_played(played):
            assert played.ok
            first, *others = played.prompts
            assert "cms_listPages" not in first.active_tools
            assert any("cms_listPages" in prompt.active_tools for prompt in others)

        def test_not_marked(played):
            pass
        """
    )

    result = pytester.runpytest_inprocess()

    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*error?no-scenario?: the fixture `played` plays the scenario of a marker*"])


def test_the_plugin_imports_the_engine_only_when_a_test_asks(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("import sys\ndef test_light():\n    assert 'cuecard.engine' not in sys.modules\n")

    pytester.runpytest_subprocess("-p", "no:cacheprovider").assert_outcomes(passed=1)


def test_a_fixture_of_another_plugin_keeps_its_name(pytester: pytest.Pytester) -> None:
    pytester.syspathinsert()
    pytester.makepyfile(
        syrupy="import pytest\n\n@pytest.fixture\ndef snapshot():\n    return 'theirs'\n",
        test_theirs="def test_theirs(snapshot):\n    assert snapshot == 'theirs'\n",
    )

    pytester.runpytest_inprocess("-p", "syrupy").assert_outcomes(passed=1)


def test_what_means_nothing_is_told(run: Run, pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        test_prompts="""
        import pytest

        @pytest.mark.cuecard(agnt="agent.yaml")
        def test_marker(render_turn):
            pass

        def test_mapping(render_turn):
            render_turn({"inputs": {"customer": "Max"}})

        def test_one_name(render_turn):
            render_turn(discovered="tool_search")

        def test_no_tool(render_turn):
            render_turn(discovered=["tool_serch"])

        def test_text(render_turn, snapshot):
            assert render_turn().text == snapshot
        """
    )
    result = run()

    result.assert_outcomes(failed=4, errors=1)
    result.stdout.fnmatch_lines_random(
        [
            "*error?wrong-option?: the marker `cuecard` has no `agnt`",
            "*error?wrong-argument?: `turn` should be a text or a Turn or None, not a mapping of type dict",
            "*error?wrong-argument?: `discovered` should be a tuple or list, not a text",
            "*error?unknown-tool?: `tool_serch` is not a tool of this agent",
            "*a snapshot is of a whole prompt",
        ]
    )


def test_prompts_are_tested_without_another_extra_and_from_the_folder_of_the_tests(
    run: Run, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    tests = pytester.mkdir("tests")
    (pytester.path / "test_prompts.py").rename(tests / "test_prompts.py")
    (tests / "conftest.py").write_text(
        "import sys\nsys.modules |= dict.fromkeys(['pydantic_ai', 'mcp'])  # None hides a module\n", encoding="utf-8"
    )
    (tests / "test_played.py").write_text(
        'import pytest\n\n@pytest.mark.cue_scenario("a.yaml", "b")\ndef test_a(played):\n    pass\n', encoding="utf-8"
    )
    monkeypatch.chdir(tests)
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", "--cue-update")

    result.assert_outcomes(passed=4, errors=1)
    result.stdout.fnmatch_lines(["*error?not-installed?: `played` needs pydantic-ai and mcp"])
