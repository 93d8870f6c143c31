"""An agent of four tools, for tests of what ranks them."""

from __future__ import annotations

from pathlib import Path

TOOLS = """\
tools:
  tool_search: {description: Find tools, before: Ask, after: Tell, next: None, gotcha: None}
  weather: {description: Tell the weather forecast of a city, before: Ask, after: Tell, next: None, gotcha: None}
  pay: {description: Charge the card of a customer, before: Ask, after: Tell, next: None, gotcha: None}
  sing: {description: Play some music, before: Ask, after: Tell, next: None, gotcha: None}
  mail: {description: Send a letter by electronic mail, before: Ask, after: Tell, next: None, gotcha: None}
"""


def write_agent(folder: Path, search: str = "{}") -> Path:
    """An agent file that says this of its search."""
    (folder / "tools.yaml").write_text(TOOLS, encoding="utf-8")
    agent = folder / "agent.yaml"
    agent.write_text(
        "agent: helper\n"
        'sections: [{id: role, text: You help.}, {id: tools, text: "{{{activeProtocols}}}"}]\n'
        "tools:\n"
        "  instructions: tools.yaml\n"
        "  core: [tool_search]\n"
        f"  search: {search}\n",
        encoding="utf-8",
    )
    return agent
