"""Tools that a profile or a variant excludes: no gate of the host opens them."""

from __future__ import annotations

from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cuecard import Engine, Gates, Turn
from unit.agent.section_lists.agents import TOOLS, opened, step

AGENT = """\
agent: a
tools:
  instructions: t.yaml
  core: [tool_search]
  visibility: {harness: {h: [put_page]}}
sections:
  - {id: list, tools: {item: "{{{name}}}"}}
  - {id: how, text: "{{{activeProtocols}}}"}
profiles: {small: {exclude_tools: [put_page]}}
variants: {quiet: {exclude_tools: [get_page, lost_page]}}
"""
NAMES = ("tool_search", "get_page", "put_page")
SOME = st.lists(st.sampled_from(NAMES), unique=True).map(tuple)
GATES = st.builds(
    Gates, enabled=SOME, harness=st.sampled_from([(), ("h",)]), allowed=st.none() | SOME, blocked=st.just(())
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(GATES, st.none() | SOME, SOME, st.sampled_from(["", "small"]), st.sampled_from(["", "quiet"]))
def test_no_gates_open_what_the_profile_or_the_variant_excludes(
    tmp_path: Path,
    gates: Gates,
    tools: tuple[str, ...] | None,
    discovered: tuple[str, ...],
    profile: str,
    variant: str,
) -> None:
    engine = opened(tmp_path, AGENT, t_yaml=TOOLS) if not (tmp_path / "t.yaml").exists() else Engine.open(tmp_path)
    said = step(engine, Turn(tools=tools, discovered=discovered, gates=gates, profile=profile, variant=variant), *NAMES)
    out = {*(("put_page",) if profile else ()), *(("get_page",) if variant else ())}
    cuts = {cut.what: cut.reason for cut in said.manifest.cuts}

    assert out.isdisjoint(said.active_tools)
    assert all(name not in said.system + "".join(block.text for block in said.appended) for name in out)
    for name in out & {*(NAMES if tools is None else tools)}:
        assert cuts[f"tool {name}"].endswith(" excludes it")


def test_a_name_that_no_tool_has_is_a_warning_at_its_place(tmp_path: Path) -> None:
    engine = opened(tmp_path, AGENT, t_yaml=TOOLS)

    assert [(each.code, each.span.line if each.span else 0) for each in engine.warnings] == [("unknown-tool", 10)]
