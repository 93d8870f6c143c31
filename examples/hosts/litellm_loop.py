"""LiteLLM: a loop of one's own, with the answers that LiteLLM gives in place of a model's."""

from __future__ import annotations

import os
from typing import Any

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # no network for its list of prices

import litellm

from cuecard import Engine, Turn
from cuecard.adapters.litellm import Cuecard

MODEL = "openai/gpt-5"
SCHEMA = {"type": "object", "properties": {"title": {"type": "string"}}}
CREATE = {"type": "function", "function": {"name": "cms_createPage", "description": "Create.", "parameters": SCHEMA}}


def calling(number: int, name: str, arguments: str) -> dict[str, Any]:
    """An answer as LiteLLM mocks it."""
    function = {"name": name, "arguments": arguments}
    return {"mock_tool_calls": [{"id": f"call-{number}", "type": "function", "function": function}]}


def main() -> None:
    script = [
        calling(1, "tool_search", '{"query": "create an empty page"}'),
        calling(2, "cms_createPage", '{"title": "About us"}'),
        {"mock_response": "The page is there."},
    ]
    card = Cuecard(engine=Engine.open("prompts/cms"), turn=Turn())
    messages: list[Any] = [{"role": "user", "content": "Make a page about us."}]
    for number, mocked in enumerate(script, 1):
        ready = card.prepare(MODEL, messages, [CREATE])
        print(f"step {number}: {ready.step.manifest.total_tokens} tokens, active: {', '.join(ready.step.active_tools)}")
        answer: Any = litellm.completion(**ready.arguments, **mocked, api_key="none").choices[0].message
        messages.append(answer)
        for call in answer.tool_calls or ():
            done = {
                "role": "tool",
                "tool_call_id": call.id,
                "content": '{"page": {"id": "page-1", "title": "About us"}}',
            }
            messages.append(ready.answer(call) or done)
    print(messages[-1].content)


if __name__ == "__main__":
    main()
