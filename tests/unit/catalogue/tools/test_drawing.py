from __future__ import annotations

from cuecard import ToolCard
from cuecard.catalogue.graph import tool_graph
from cuecard.types import ToolInstructions


def card(name: str, category: str, before: str = "", next_: str = "") -> ToolCard:
    return ToolCard(name, category=category, instructions=ToolInstructions(before, "", next_, ""))


GRAPH = tool_graph(
    [
        card("get", "pages", next_="update"),
        card("end", "posts"),
        card("update", "pages", before="get, end"),
        card('say "hi"', ""),
    ]
)


def test_mermaid_boxes_tools_by_category_and_draws_next_over_before() -> None:
    assert (
        GRAPH.mermaid()
        == """\
flowchart LR
  subgraph g0["pages"]
    t0["get"]
    t1["update"]
  end
  subgraph g1["posts"]
    t2["end"]
  end
  subgraph g2["tools"]
    t3["say #34;hi#34;"]
  end
  t0 --> t1
  t2 -.-> t1
"""
    )


def test_dot_is_the_same_drawing() -> None:
    assert (
        GRAPH.dot()
        == """\
digraph tools {
  rankdir=LR;
  node [shape=box];
  subgraph cluster_0 {
    label="pages";
    "get";
    "update";
  }
  subgraph cluster_1 {
    label="posts";
    "end";
  }
  subgraph cluster_2 {
    label="tools";
    "say \\"hi\\"";
  }
  "get" -> "update";
  "end" -> "update" [style=dashed];
}
"""
    )


def test_an_empty_catalogue_is_an_empty_drawing() -> None:
    assert tool_graph([]).mermaid() == "flowchart LR\n"
    assert tool_graph([]).dot() == "digraph tools {\n  rankdir=LR;\n  node [shape=box];\n}\n"
