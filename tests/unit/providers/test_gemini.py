"""Request bodies for Gemini."""

from cuecard.adapters.bodies import reminder
from cuecard.adapters.gemini import request
from unit.providers.talk import gemini_contents, schemas, two_turns


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
