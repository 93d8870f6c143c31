"""Request bodies for Gemini."""

from cuecard.adapters.bodies import reminder
from cuecard.adapters.gemini import request
from unit.adapters.providers.talk import Json, gemini_contents, schemas, two_turns
from unit.adapters.providers.test_places import step_with


def test_blocks_are_contents_of_the_user_after_the_responses_they_belong_to() -> None:
    moment = two_turns()
    body = request(moment.step, gemini_contents(moment.events), tools=schemas())
    kinds = [
        (content["role"], *sorted({kind for part in content["parts"] for kind in part})) for content in body["contents"]
    ]
    blocks = [reminder(block.text) for block in moment.step.appended]
    found = [("user", "text")] * (len(blocks) - 1)
    first = [("user", "text"), ("model", "functionCall"), ("user", "functionResponse")]

    assert kinds == [*first, *found, ("model", "text"), ("user", "text"), ("user", "text")]
    assert [text for content in body["contents"] if (text := content["parts"][0].get("text")) in blocks] == blocks
    assert body["systemInstruction"] == {"parts": [{"text": moment.step.system}]}
    assert body["tools"][0]["functionDeclarations"][0]["name"] == "tool_search"


def test_names_with_underscores_are_understood() -> None:
    moment = two_turns()
    contents = gemini_contents(moment.events)
    contents[2]["parts"] = [{"function_response": part["functionResponse"]} for part in contents[2]["parts"]]
    body = request(moment.step, contents)

    assert body["contents"][3]["parts"][0]["text"] == reminder(moment.step.appended[0].text)


def test_a_text_of_one_turn_leaves_the_contents_of_a_host_that_keeps_what_was_sent() -> None:
    def said(role: str, *texts: str) -> Json:
        return {"role": role, "parts": [{"text": text} for text in texts]}

    hello, more = [said("user", "hello")], [said("model", "yes"), said("user", "more"), said("user")]
    stored = request(step_with(["W:0~"], "-"), hello)["contents"]
    own = [said("user", reminder("W"), "mine"), said("model", reminder("W"))]
    first = [said("user", reminder("W"))]

    assert stored == [*hello, *first]
    ended = request(step_with([], "- -", ["W:0~"]), [*first, *stored, *own, *more])["contents"]
    assert ended == [*first, *hello, *own, *more[:2]]
