"""Files by pattern: globs, inputs in paths, folders and their parents; values reach only what a pattern names."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuecard import Engine, FileText, SpecError, Step, Turn
from cuecard.config.sections.file_patterns import Exclusion, FilePattern, filled, parts_of
from cuecard.config.sections.files_spec import folders_between
from cuecard.files.folder import read_agent
from cuecard.reload.files import AgentFiles
from cuecard.types import Json

ITEM = 'item: "[{{{path}}}={{{content}}}]", separator: ""'


def agent(folder: Path, entries: str, keys: str = "", inputs: str = "{}", **files: str) -> Path:
    for path, text in files.items():
        put(folder, path, text)
    file = folder / "agent.yaml"
    file.write_text(
        f"agent: x\ninputs: {inputs}\nsections:\n  - id: notes\n    files: {{entries: [{entries}], {ITEM}{keys}}}\n"
    )
    return file


def put(folder: Path, path: str, text: str) -> None:
    file = folder / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def shown(file: Path, turn: Turn | None = None) -> str:
    return made(Engine.open(file), turn or Turn()).system


def made(engine: Engine, turn: Turn) -> Step:
    return engine.prepare_step(engine.prepare_call(turn), ())


TREE = {
    "r/b.md": "B",
    "r/a.txt": "no",
    "r/d/a.md": "A",
    "r/d/old/c.md": "C",
    "r/.h.md": "no",
    "r/e.md~": "no",
    "r/z[.txt": "Z",
}


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ('glob: "./r/**", exclude: ["*.txt", old]', "[r/b.md=B][r/d/a.md=A]"),
        ('glob: "**/*.md", sort: name', "[r/d/a.md=A][r/b.md=B][r/d/old/c.md=C]"),
        ('glob: ["r/[ab].md", "r/*/?.md"], sort: -path', "[r/d/a.md=A][r/b.md=B]"),
        ('glob: "r/.*.md"', "[r/.h.md=no]"),
        ('glob: "r/z[.txt"', "[r/z[.txt=Z]"),
    ],
)
def test_a_glob_shows_what_matches_in_order(tmp_path: Path, entry: str, expected: str) -> None:
    assert shown(agent(tmp_path, f"{{{entry}}}", **TREE)) == expected


def test_a_file_that_was_shown_is_not_shown_again_and_the_manifest_says_so(tmp_path: Path) -> None:
    call = made(Engine.open(agent(tmp_path, '{path: r/d/a.md}, {glob: "r/**/*.md"}', **TREE)), Turn())

    assert call.system == "[r/d/a.md=A][r/b.md=B][r/d/old/c.md=C]"
    assert [row.path for row in call.manifest.sources] == ["r/d/a.md", "r/b.md", "r/d/old/c.md"]
    assert any(cut.reason == "already shown by an earlier entry" for cut in call.manifest.cuts)


MODES = {"modes/plan.md": "P", "modes/ask.md": "Q", "modes/.secret.md": "S", "key.md": "K"}


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("ask", "[modes/ask.md=Q]"),
        ("none", "[modes/plan.md=P]"),
        ("../key", "[modes/plan.md=P]"),
    ],
)
def test_an_input_picks_a_file_and_nothing_else(tmp_path: Path, mode: str, expected: str) -> None:
    file = agent(tmp_path, '{path: ["modes/{{mode}}.md", modes/plan.md]}', inputs="{mode: {}}", **MODES)

    assert shown(file, Turn({"mode": mode})) == expected


def test_without_a_file_the_default_counts(tmp_path: Path) -> None:
    file = agent(tmp_path, '{path: "modes/{{m.name}}.md", default: D}', inputs="{m: {type: object}}", **MODES)

    assert shown(file, Turn({"m": {"name": "ask"}})) == "[modes/ask.md=Q]"
    assert shown(file, Turn({"m": {"name": ["ask"]}})) == "[modes/{{m.name}}.md=D]"
    assert shown(file, Turn({"m": {}})) == "[modes/{{m.name}}.md=D]"


def test_an_input_in_a_glob_is_not_a_wildcard(tmp_path: Path) -> None:
    file = agent(tmp_path, '{glob: "modes/{{mode}}*.md"}', inputs="{mode: {}}", **MODES)

    assert shown(file, Turn({"mode": "a"})) == "[modes/ask.md=Q]"
    assert shown(file, Turn({"mode": "*"})) == ""


NESTED = {"AGENTS.md": "0", "a/AGENTS.md": "1", "a/b/c/AGENTS.md": "3", "a/b/c/CLAUDE.md": "no", "a/b/CLAUDE.md": "2"}


@pytest.mark.parametrize(
    ("keys", "cwd", "expected"),
    [
        ("name: AGENTS.md", "a/b/c", "[AGENTS.md=0][a/AGENTS.md=1][a/b/c/AGENTS.md=3]"),
        ("name: [AGENTS.md, CLAUDE.md], to: a", "./a/b/c/", "[a/AGENTS.md=1][a/b/CLAUDE.md=2][a/b/c/AGENTS.md=3]"),
        ("name: AGENTS.md", "", "[AGENTS.md=0]"),
        ("name: AGENTS.md", "..", ""),
    ],
)
def test_upward_goes_from_the_outermost_folder_to_the_innermost(
    tmp_path: Path, keys: str, cwd: str, expected: str
) -> None:
    file = agent(tmp_path, f'{{upward: {{{keys}, from: "{{{{cwd}}}}"}}}}', inputs="{cwd: {}}", **NESTED)

    assert shown(file, Turn({"cwd": cwd})) == expected


def test_upward_of_a_base_goes_up_to_the_folder_of_the_base(tmp_path: Path) -> None:
    base = tmp_path / "base"
    for cwd in ("{{cwd}}", "a/b"):
        put(tmp_path, "AGENTS.md", "above")
        base.mkdir(exist_ok=True)
        agent(base, f'{{upward: {{name: AGENTS.md, from: "{cwd}"}}}}', inputs="{cwd: {default: a/b}}", **NESTED)
        put(tmp_path, "tenants/agent.yaml", "extends: ../base\nagent: y\n")

        assert shown(tmp_path / "tenants") == "[../base/AGENTS.md=0][../base/a/AGENTS.md=1]"


def test_upward_between_known_folders_reads_no_others(tmp_path: Path) -> None:
    file = agent(tmp_path, "{upward: {name: AGENTS.md, from: a/b}}", **NESTED)

    assert shown(file) == "[AGENTS.md=0][a/AGENTS.md=1]"
    assert [source.path for source in read_agent(file).files] == ["AGENTS.md", "a/AGENTS.md"]


def test_supplied_files_match_and_those_next_to_the_agent_do_not(tmp_path: Path) -> None:
    upward = '{upward: {name: AGENTS.md, from: "{{cwd}}", to: "/w"}}'
    file = agent(tmp_path, f'{{glob: "*.md"}}, {upward}', ", supplied: true", "{cwd: {}}", **NESTED)
    files = {path: FileText(path, path) for path in ("x.md", "/w/AGENTS.md", "/w/s/AGENTS.md", "/AGENTS.md")}

    assert (
        shown(file, Turn({"cwd": "/w/s"}, files=files))
        == "[x.md=x.md][/w/AGENTS.md=/w/AGENTS.md][/w/s/AGENTS.md=/w/s/AGENTS.md]"
    )


def test_upward_goes_up_to_the_root_and_names_files_below_it(tmp_path: Path) -> None:
    file = agent(tmp_path, '{upward: {name: A.md, from: "{{cwd}}", to: "/"}}', ", supplied: true", "{cwd: {}}")
    step = made(
        Engine.open(file),
        Turn({"cwd": "/w/s"}, files={f"{at}/A.md": FileText(f"{at}/A.md", "x") for at in ("", "/w/s")}),
    )

    assert step.system == "[/A.md=x][/w/s/A.md=x]"
    assert [row.name for row in step.manifest.sources] == ["A.md", "w/s/A.md"]


def test_supplied_files_do_not_pose_as_the_agents_own(tmp_path: Path) -> None:
    file = agent(tmp_path, '{glob: "r/*.md"}', **TREE)

    assert (
        shown(file, Turn(files={"r/z.md": FileText("r/z.md", "evil"), "r/b.md": FileText("r/b.md", "evil")}))
        == "[r/b.md=B]"
    )


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ('{glob: "q/*.md"}', "`q/*.md` matches no file"),
        ('{glob: ["r/*.md", "r/*.mdc"]}', "`r/*.mdc` matches no file"),
        ('{path: "r/{{mode}}.mdx"}', "`r/{{mode}}.mdx` matches no file"),
        ('{path: "r/{{mode}}.md"}', "`r/{{mode}}.md` matches no file"),
        ("{upward: {name: X.md, from: r}}", "no `X.md` from `r` up to `.`"),
        ("{upward: {name: b.md, from: r, to: q}}", "no `b.md` from `r` up to `q`"),
    ],
)
def test_a_pattern_that_nothing_can_match_is_an_error_at_its_place(tmp_path: Path, entry: str, told: str) -> None:
    inputs = "{mode: {values: [plan, ask]}}" if "mode" in entry else "{}"
    file = agent(tmp_path, entry, inputs=inputs, **TREE)

    with pytest.raises(SpecError) as caught:
        Engine.open(file)

    [problem] = caught.value.problems
    assert (problem.code, problem.message) == ("no-match", told)
    assert problem.span is not None
    assert problem.span.line == 5
    allowed = entry.removesuffix("}") + ", optional: true}"
    assert shown(agent(tmp_path, allowed, inputs=inputs), Turn({"mode": "ask"} if inputs != "{}" else {})) in {
        "",
        "[r/b.md=B]",
    }


ONE_WAY = "; write exactly one of `path`, `glob` and `upward`"
GLOBS_OWN = "`sections.0.files.entries.0` has `exclude` or `sort`, which belong to a `glob`"
SHELLS = "begins with what only a shell replaces; write a path relative to this file, or an input"
ALONE = "has `**` next to other characters; write it alone between slashes, as in `a/**/*.md`"
BRACES = "can contain braces only to read an input, as in `{{name}}`"


@pytest.mark.parametrize(
    ("entry", "column", "told"),
    [
        ("{}", 23, f" names no file{ONE_WAY}"),
        ('{path: a, glob: "*"}', 23, f" has path and glob{ONE_WAY}"),
        ("{path: a, sort: name}", 23, GLOBS_OWN),
        ("{path: a, exclude: b}", 23, GLOBS_OWN),
        ('{glob: "*", name: x}', 23, " has one `name` for several files; remove it"),
        ("{path: a, optional: true}", 23, " has a plain `path`, which may always be missing; remove `optional`"),
        ('{glob: "a/*.{md,txt}"}', 30, ".glob` `a/*.{md,txt}` has alternatives in braces; write a list of globs"),
        ('{glob: "a/../*"}', 30, ".glob` `a/../*` has `..` after a name; write the path without it"),
        ('{glob: [a, ".."]}', 30, ".glob` `..` names no file"),
        ('{glob: "{{x}}/.."}', 30, ".glob` `{{x}}/..` has `..` after a name; write the path without it"),
        ('{path: "{{#if x}}a{{/if}}"}', 30, f".path` `{{{{#if x}}}}a{{{{/if}}}}` {BRACES}"),
        ('{path: "{{{{x}}{"}', 30, f".path` `{{{{{{{{x}}}}{{` {BRACES}"),
        ('{path: "{{x}}/../a"}', 30, ".path` `{{x}}/../a` has `..` after a name; write the path without it"),
        (
            '{path: "a/*.md"}',
            30,
            ".path` `a/*.md` has a wildcard, which only `glob` reads: write `glob` in place of `path`",
        ),
        (
            '{path: [a, "https://x/y"]}',
            30,
            ".path` `https://x/y` is an address; only files can be read, which your program may supply by a path",
        ),
        ('{path: "~/a"}', 30, f".path` `~/a` {SHELLS}"),
        ('{path: "${HOME}/a"}', 30, f".path` `${{HOME}}/a` {SHELLS}"),
        ('{path: "%HOME%/a"}', 30, f".path` `%HOME%/a` {SHELLS}"),
        (
            '{glob: "*", exclude: ["a", "m/{{x}}"]}',
            44,
            ".exclude` `m/{{x}}` has an input, which only `glob` and `path` can read",
        ),
        ('{glob: "*", exclude: "a/**b"}', 44, f".exclude` `a/**b` {ALONE}"),
        ('{upward: {name: "{{x}}", from: a}}', 39, ".upward.name` `{{x}}` should be a name without inputs"),
        ('{upward: {name: "..", from: a}}', 39, ".upward.name` `..` names no file"),
        ('{upward: {name: a, from: "{{"}}', 48, f".upward.from` `{{{{` {BRACES}"),
    ],
)
def test_what_cannot_be_meant_is_refused(tmp_path: Path, entry: str, column: int, told: str) -> None:
    with pytest.raises(SpecError) as caught:
        Engine.open(agent(tmp_path, entry, inputs="{x: {}}"))

    problem = caught.value.problems[0]
    whole = (
        told if told.startswith("`sections") else f"`sections.0.files.entries.0{'' if told[0] == '.' else '`'}{told}"
    )
    assert (problem.code, problem.message) == ("wrong-value", whole)
    assert problem.span is not None
    assert (problem.span.line, problem.span.column) == (5, column)


OF_PATH, OF_GLOB, BELOW = FilePattern.of_path, FilePattern.of_glob, FilePattern.below
IN_BRACKETS = "has an input in brackets, where it would stand for single characters; move it out"


@pytest.mark.parametrize(
    ("of", "written", "folder", "inputs", "path", "segments"),
    [
        (OF_PATH, "a/b*.md", "a", (), "a/b*.md", ("a", "b[*].md")),
        (OF_PATH, "./a//b/./c.md", "a/b", (), "a/b/c.md", ("a", "b", "c.md")),
        (OF_PATH, "../x/{{ y }}", "../x", ("y",), None, ("..", "x", "{{y}}")),
        (OF_PATH, "/a", "/", (), "/a", ("", "a")),
        (OF_PATH, "/a/{{{u.v}}}/b", "/a", ("u.v",), None, ("", "a", "{{u.v}}", "b")),
        (OF_PATH, "{{b}}{{a}}x{{b}}", "", ("b", "a"), None, ("{{b}}{{a}}x{{b}}",)),
        (OF_PATH, "a[b/c{d", "a[b", (), "a[b/c{d", ("a[[]b", "c[{]d")),
        (OF_GLOB, "a/**", "a", (), None, ("a", "**", "*")),
        (OF_GLOB, "../**/x.md", "..", (), None, ("..", "**", "x.md")),
        (OF_GLOB, "a/b/c.md", "a/b", (), "a/b/c.md", ("a", "b", "c.md")),
        (OF_GLOB, "a/[*]/[[]/c?.md", "a/*/[", (), None, ("a", "[*]", "[[]", "c?.md")),
        (OF_GLOB, "*/a", "", (), None, ("*", "a")),
        (OF_GLOB, "*{{a}}*[]x]", "", ("a",), None, ("*{{a}}*[]x]",)),
        (OF_GLOB, "[!]a]x{{a}}[b]/{{c}}", "", ("a", "c"), None, ("[!]a]x{{a}}[b]", "{{c}}")),
        (partial(BELOW, "."), "x.md", "", (), None, ("**", "x.md")),
        (partial(BELOW, "/"), "d/x", "/", (), None, ("", "**", "d", "x")),
        (partial(BELOW, "/a*/{b"), "x{", "/a*/{b", (), None, ("", "a[*]", "[{]b", "**", "x[{]")),
    ],
)
def test_a_pattern_says_where_it_looks_and_what_it_reads(
    of: Callable[[str], FilePattern],
    written: str,
    folder: str,
    inputs: tuple[str, ...],
    path: str | None,
    segments: tuple[str, ...],
) -> None:
    pattern = of(written)

    assert (pattern.folder, pattern.inputs, pattern.path(), pattern.segments) == (folder, inputs, path, segments)


@pytest.mark.parametrize(
    ("of", "written", "told"),
    [
        *((of, written, "names no file") for of in (OF_PATH, OF_GLOB) for written in ("", ".", "/", "..", "../..")),
        *((OF_GLOB, written, IN_BRACKETS) for written in ("[{{a}}", "[{{a}}]x", "{{a}}[b", "[a{{b}}]", "[a]{{b}}[")),
        (OF_GLOB, "a/**b", ALONE),
        (OF_GLOB, "{{a}}**", ALONE),
        (OF_GLOB, "{{a}}{", "has alternatives in braces; write a list of globs"),
        (OF_GLOB, "**/a/**/b/**/**/c", "has more than 3 `**`; write a list of globs"),
    ],
)
def test_what_is_no_pattern_says_why(of: Callable[[str], FilePattern], written: str, told: str) -> None:
    with pytest.raises(ValueError, match=rf"^{re.escape(told)}$"):
        of(written)


def test_paths_of_a_lower_file_stay_relative_to_it(tmp_path: Path) -> None:
    (tmp_path / "[low]").mkdir()
    for path, text in {**TREE, "AGENTS.md": "0", "r/AGENTS.md": "1", "m/x.md": "X"}.items():
        put(tmp_path / "[low]", path, text)
    glob, path = '{glob: "r/**/?.md", exclude: ["r/d/old/*", b.md]}', '{path: "m/{{cwd}}.md"}'
    entries = glob + ', {upward: {name: AGENTS.md, from: "{{cwd}}"}}, ' + path
    agent(tmp_path / "[low]", entries, inputs="{cwd: {default: r}}")
    (tmp_path / "agent.yaml").write_text('extends: "[low]/agent.yaml"\nagent: y\n')

    assert shown(tmp_path / "agent.yaml") == "[[low]/r/d/a.md=A][[low]/AGENTS.md=0][[low]/r/AGENTS.md=1]"
    assert shown(tmp_path / "agent.yaml", Turn({"cwd": "x"})).endswith("[[low]/AGENTS.md=0][[low]/m/x.md=X]")


def test_links_may_not_lead_out_and_only_those_on_the_way_matter(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    put(tmp_path / "out", "x.md", "secret")
    file = agent(tmp_path / "in", '{glob: "r/*.md"}', **{**TREE, "s/link-holder.md": ""})
    (tmp_path / "in/s/out").symlink_to(tmp_path / "out")
    (tmp_path / "in/r/folder").symlink_to(tmp_path / "out")
    assert shown(file) == "[r/b.md=B]"

    (tmp_path / "in/r/x.md").symlink_to(tmp_path / "out/x.md")
    with pytest.raises(SpecError, match="link-outside"):
        Engine.open(file)


def test_a_new_file_in_a_new_folder_is_looked_at_at_once(tmp_path: Path) -> None:
    files = AgentFiles(agent(tmp_path, '{glob: "r/**/*.md"}', **TREE))
    first = files.read()
    before = files.stamp()

    put(tmp_path, "r/new/n.md", "N")

    assert files.stamp() != before
    assert files.read().sha256 != first.sha256
    assert tmp_path / "r/new" in files.folders()


def test_an_unchanged_configuration_keeps_its_fingerprint_when_other_files_come(tmp_path: Path) -> None:
    files = AgentFiles(agent(tmp_path, '{glob: "r/**/*.md"}', **TREE))
    first = files.read()

    put(tmp_path, "r/other/n.txt", "N")

    assert files.read().sha256 == first.sha256


VALUES = st.one_of(
    st.text(st.characters(exclude_categories=["C"]), max_size=12),
    st.sampled_from(["..", ".", "../key", "a/../../key", "a\\..\\key", "/etc", "*", "**"]),
)


@given(VALUES, VALUES)
def test_no_value_reaches_what_was_not_read_for_the_pattern(first: str, second: str) -> None:
    pattern = FilePattern.of_path("m/{{a}}/x{{b}}.md")

    bound = pattern.bound({"a": first, "b": second})

    path = bound.path() if bound else None
    if path is not None and pattern.anything().matches(parts_of(path)):
        assert posixpath.normpath(path) == path
        assert path.startswith("m/")
        assert path.count("/") == 2
        assert path == f"m/{first}/x{second}.md"


@pytest.fixture(scope="module")
def reading(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    folder = tmp_path_factory.mktemp("agent")
    upward = '{upward: {name: AGENTS.md, from: "{{v}}", to: a}}'
    entries = '{path: "modes/{{v}}.md"}, {glob: "n/{{v}}*/*.md"}, {path: key.md}, ' + upward
    return Engine.open(
        agent(
            folder,
            entries,
            inputs="{v: {}}",
            **MODES,
            **NESTED,
            **{"n/one/x.md": "X", ".h/AGENTS.md": "no", "a/.h/AGENTS.md": "no"},
        )
    )


@given(v=st.one_of(VALUES, st.sampled_from(["a/b/c", "a/.h", "a/../.h", ".secret", "one", "plan", "a//b"])))
def test_whatever_a_value_says_only_files_of_its_patterns_are_shown(reading: Engine, v: str) -> None:
    call = made(reading, Turn({"v": v}))

    loaded = {row.path for row in call.manifest.sources if row.status == "loaded"}
    assert loaded <= {"modes/plan.md", "modes/ask.md", "n/one/x.md", "a/AGENTS.md", "a/b/c/AGENTS.md", "key.md"}


@given(
    st.lists(st.sampled_from(["a", "b", "..", ".", "", "/"]), max_size=5), st.sampled_from(["", "a", "a/b", "/", ".."])
)
def test_the_folders_between_two_lie_in_the_outer_one(parts: list[str], outer: str) -> None:
    folders = folders_between("/".join(parts), outer)

    assert list(folders) == sorted(folders, key=len)
    for folder in folders:
        assert not posixpath.relpath(folder, outer or ".").startswith("..") or outer == ".."


@pytest.mark.parametrize(
    ("inner", "outer", "folders"),
    [
        ("a/b/c", "a", ("a", "a/b", "a/b/c")),
        ("./a//b/", ".", (".", "a", "a/b")),
        ("a", "a", ("a",)),
        (".", ".", (".",)),
        ("/w/s", "/w", ("/w", "/w/s")),
        ("/w", "/", ("/", "/w")),
        ("../x", "..", ("..", "../x")),
        *(
            (inner, outer, ())
            for inner, outer in (("b", "a"), ("..", "."), ("/a", "."), ("a/../..", "a"), ("../..", ".."))
        ),
    ],
)
def test_the_folders_between_two_are_those_on_the_way(inner: str, outer: str, folders: tuple[str, ...]) -> None:
    assert folders_between(inner, outer) == folders


def test_a_layout_that_does_not_trim_prints_texts_unchanged_and_white_space_counts(tmp_path: Path) -> None:
    put(tmp_path, "a.md", "\n\n  a  \n\n")
    (tmp_path / "agent.yaml").write_text(
        "agent: x\nlayout: {trim: false, separator: '|'}\nsections:\n"
        "  - {id: one, files: {entries: [{path: a.md}], item: '{{{content}}}', trim: false}}\n"
        "  - {id: two, file: a.md}\n"
        '  - {id: three, text: "  b\\n"}\n'
        "  - {id: four, text: ' '}\n"
        "  - {id: five, text: ''}\n"
    )

    assert shown(tmp_path / "agent.yaml") == "\n\n  a  \n\n|\n\n  a  \n\n|  b\n| "


def test_the_name_of_a_supplied_file_is_data_as_its_text_is(tmp_path: Path) -> None:
    (tmp_path / "agent.yaml").write_text(
        "agent: x\nlayout: {heading: '## {{title}}\\n'}\nsections: [{id: n, files: {supplied: true,"
        " entries: [{glob: '**'}], item: '{{{name}}}{{{content}}}', separator: '|'}}]\n"
    )
    names = ("## Rules", "</system>")

    shows = shown(tmp_path / "agent.yaml", Turn(files={name: FileText(name, ".") for name in names}))

    assert "\n## Rules" not in f"\n{shows}"
    assert "&lt;/system>" in shows


def test_a_file_that_an_input_picks_is_called_by_its_own_name(tmp_path: Path) -> None:
    put(tmp_path, "modes/plan.md", "P")
    (tmp_path / "agent.yaml").write_text(
        "agent: x\ninputs: {mode: {}}\nsections: [{id: n, files: {entries: [{path: 'modes/{{mode}}.md', default: D}],"
        " item: '{{{name}}} {{{content}}}'}}]\n"
    )

    assert shown(tmp_path / "agent.yaml", Turn({"mode": "plan"})) == "plan.md P"
    assert shown(tmp_path / "agent.yaml", Turn({"mode": "<b>"})) == "{{mode}}.md D"


@pytest.mark.parametrize(
    ("written", "value", "expected"),
    [
        *(("m/{{x}}", value, None) for value in ("", "..", ".", ".h", "a~", "#a", "a/b", "a\\b", "a\nb", "\x7f")),
        *(("m/.{{x}}", value, None) for value in (".", "a~")),
        *(("m/{{x}}*", value, None) for value in (".", "..", ".h")),
        ("m/a{{x}}", "~", None),
        ("m/{{x}}", 3.5, None),
        ("m/{{x}}", ["a"], None),
        ("m/{{x}}", True, "m/true"),
        ("m/{{x}}", 3, "m/3"),
        ("m/{{x}}", " ", "m/ "),
        ("m/{{x}}", "{{x}}[*", "m/[{][{]x}}[[][*]"),
        ("m/.{{x}}", "h", "m/.h"),
        ("m/.{{x}}*", ".", "m/..*"),
        ("m/{{x}}*", "#a~", "m/#a~*"),
        ("m/[ab]{{x}}", ".h", "m/[ab].h"),
        ("{{x}}/{{y.z}}/{{x}}", "a", "a/{{y.z}}/a"),
    ],
)
def test_no_value_names_what_the_pattern_does_not(written: str, value: Json, expected: str | None) -> None:
    bound = FilePattern.of_glob(written).bound({"x": value})

    assert (bound and "/".join(bound.segments)) == expected
    assert bound is None or bound.written == written


def test_upward_takes_names_with_any_character(tmp_path: Path) -> None:
    file = agent(
        tmp_path, '{upward: {from: "{{x}}", name: "A{*.md", to: "f[{g"}}', inputs="{x: {}}", **{"f[{g/h/A{*.md": "1"}
    )

    assert shown(file, Turn({"x": "f[{g/h"})) == "[f[{g/h/A{*.md=1]"


@pytest.mark.parametrize("entry", ['glob: "m/[{{x}}]"', 'glob: "m/*", exclude: ["m/{{x}}"]'])
def test_an_input_where_it_would_mean_nothing_is_the_only_problem_reported(tmp_path: Path, entry: str) -> None:
    file = agent(tmp_path, f"{{{entry}}}", inputs="{x: {}}", **{"m/a": "A"})

    with pytest.raises(SpecError) as told:
        Engine.open(file)
    assert [(each.code, each.hint) for each in told.value.problems if each.severity == "error"] == [("wrong-value", "")]


def test_a_pattern_has_any_folders_three_times_at_most_and_a_path_a_number_of_names() -> None:
    pattern = FilePattern.of_glob("**/a/**/b/**/c").anything()

    assert pattern.matches((*["a"] * 62, "b", "c"))
    assert not pattern.matches((*["a"] * 63, "b", "c"))
    assert not pattern.matches_above((*["a"] * 200, "b", "c"))


@pytest.mark.parametrize(
    ("written", "path", "said"),
    [
        ("a/*.md", "a/b.md", "matches above"),
        ("a/*.md", "a/b.md/c", "above"),
        ("a/*.md", "a", "leads"),
        ("a/*.md", "", "leads"),
        ("a/*.md", "b", ""),
        ("a/*.md", "a/.b.md", ""),
        ("a/*.md", "a/b/c.md", ""),
        ("a/*.md", "a/#b.md", ""),
        ("a/*", "a/b~", ""),
        ("a/#b~", "a/#b~", "matches above"),
        ("a/#b~", "a/#b~/c", "above"),
        ("{{x}}/b", "a/b", "matches above"),
        ("{{x}}/b", ".a/b", ""),
        (".{{x}}/b", ".a/b", "matches above"),
        ("**/b", "a/.a/b", ""),
        ("**/b", "a/b", "matches above leads"),
        ("A/b\\c", "A/b\\c", "matches above"),
        ("A/b\\c", "a/b\\c", ""),
        ("/a/b", "/a", "leads"),
        ("/a/b", "a/b", ""),
    ],
)
def test_what_a_pattern_matches_and_where_it_leads(written: str, path: str, said: str) -> None:
    matcher, parts = FilePattern.of_glob(written).anything(), parts_of(path)
    found = {"matches": matcher.matches(parts), "above": matcher.matches_above(parts), "leads": matcher.leads(parts)}

    assert " ".join(word for word, holds in found.items() if holds) == said


@pytest.mark.parametrize(
    ("globs", "path", "expected"),
    [
        ((), "a/b", False),
        (("x", "b"), "a/b", True),
        (("b",), "a/b/c.md", True),
        (("*.md",), "a/.c.md", True),
        (("B",), "a/b", False),
        (("b\\?",), "a/b\\c", True),
        (("b\\?",), "a/b\\", False),
        (("a/b",), "a/b/c", True),
        (("a/b",), "x/a/b", False),
    ],
)
def test_what_is_left_out(globs: tuple[str, ...], path: str, *, expected: bool) -> None:
    assert (parts_of(path) in Exclusion(globs)) is expected


@pytest.mark.parametrize(
    ("text", "value", "expected"),
    [
        ("a/{{x}}/b", "q/r", "a/q/r/b"),
        ("a/{{ x }}/b", "..", "b"),
        ("./{{x}}/{{x}}", "q", "q/q"),
        ("a", None, "a"),
        *(("a/{{x}}", value, None) for value in ("a\\b", "a\0", 3, None)),
    ],
)
def test_a_folder_is_filled_by_texts_alone(text: str, value: Json, expected: str | None) -> None:
    assert filled(text, {"x": value}) == expected
