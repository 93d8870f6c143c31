"""Roles have to alternate, so hosts join two messages of the user that nobody has answered between: a block stays with
the words that it was sent behind, and what was sent is not sent otherwise.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

from cuecard import Conversation, Engine, Entity, Step, ToolResult, Turn
from cuecard.adapters import anthropic, bedrock, gemini, openai

Json = dict[str, Any]
Join = Callable[[Json, str], None]

CLAUDE = ("claude-sonnet-5", "claude-opus-5")
"""With reminders, and with messages of the system."""


def blocks(message: Json, text: str) -> None:
    message["content"].append({"type": "text", "text": text})


def one_string(message: Json, text: str) -> None:
    message["content"][-1]["text"] += f"\n\n{text}"


def parts(message: Json, text: str) -> None:
    (message.get("content") or message["parts"]).append({"text": text})


def claude(model: str) -> Callable[[Step, list[Json]], list[Json]]:
    return lambda step, messages: list(anthropic.request(step, messages, model=model)["messages"])


def converse(step: Step, messages: list[Json]) -> list[Json]:
    return list(bedrock.request(step, messages, model="anthropic.claude-sonnet-5")["messages"])


def contents(step: Step, messages: list[Json]) -> list[Json]:
    return list(gemini.request(step, messages)["contents"])


def chat(step: Step, messages: list[Json]) -> list[Json]:
    body = openai.chat_request(step, messages, model="llama-3.3-70b")
    return [{**message, "content": as_list(message["content"])} for message in body["messages"][1:]]


def as_list(content: Any) -> list[Json]:
    return content if isinstance(content, list) else [{"type": "text", "text": content}]


def typed(text: str) -> Json:
    return {"type": "text", "text": text}


def plain(text: str) -> Json:
    return {"text": text}


HOSTS = {
    **{f"{model}, blocks": (claude(model), "content", typed, blocks) for model in CLAUDE},
    "bedrock, parts": (converse, "content", plain, parts),
    "gemini, parts": (contents, "parts", plain, parts),
    "chat, blocks": (chat, "content", typed, blocks),
}


def texts(messages: list[Json]) -> list[str]:
    return [
        block["text"] for message in messages for block in message.get("content") or message["parts"] if "text" in block
    ]


class Host:
    def __init__(self, send: Any, key: str, block: Callable[[str], Json]) -> None:
        self.chat: Conversation = Engine.open("prompts/cms").conversation()
        self.send, self.key, self.block = send, key, block
        self.messages: list[Json] = []
        self.sent: list[list[str]] = []

    def says(self, words: str, join: Join | None = None) -> None:
        self.chat.user(Turn())
        if join:
            join(self.messages[-1], words)
        else:
            self.messages.append({"role": "user", self.key: [self.block(words)]})
        self.ask()

    def ask(self) -> None:
        self.sent.append(texts(self.send(self.chat.step(), json.loads(json.dumps(self.messages)))))

    def answered(self) -> None:
        self.messages.append({"role": "model" if self.key == "parts" else "assistant", self.key: [self.block("ok")]})

    def works(self, call: str, *remarks: str) -> None:
        """Calls a tool, as Claude does; the host may say something beside its result."""
        used = {"type": "tool_use", "id": call, "name": "x", "input": {}}
        self.messages.append({"role": "assistant", "content": [typed(f"looking for {call}"), used]})
        result = {"type": "tool_result", "tool_use_id": call, "content": "ok"}
        self.messages.append({"role": "user", "content": [result, *map(typed, remarks)]})
        self.chat.step([ToolResult("x", "ok", call)])

    def remembers(self, name: str) -> None:
        """What the next message has a block for."""
        self.chat.remember([Entity("page", name, name)])

    @property
    def updates(self) -> list[int]:
        return [at for at, text in enumerate(self.sent[-1]) if "<context-update" in text]


@pytest.mark.parametrize("host", HOSTS)
def test_a_block_stays_with_its_words_when_later_messages_are_joined(host: str) -> None:
    send, key, block, join = HOSTS[host]
    talk = Host(send, key, block)
    talk.says("one")
    talk.answered()
    talk.remembers("p1")
    talk.says("two")
    talk.answered()
    talk.says("three")  # nobody answers
    before = talk.sent[-1]
    talk.says("four", join=join)
    assert talk.updates == [3]
    assert talk.sent[-1][: len(before) - 1] == before[:-1]
    said = " ".join(talk.sent[-1])
    assert all(said.count(words) >= 1 for words in ("one", "two", "three", "four"))
    talk.answered()
    talk.says("five")
    assert talk.updates == [3]


@pytest.mark.parametrize("stored", [True, False], ids=["stored as sent", "bare"])
@pytest.mark.parametrize("send", [claude("claude-sonnet-5"), converse], ids=["anthropic", "bedrock"])
def test_a_host_that_joins_to_what_was_sent_sends_nothing_twice(send: Any, *, stored: bool) -> None:
    block, join = (plain, parts) if send is converse else (typed, blocks)
    talk = Host(send, "content", block)
    talk.says("one")
    talk.answered()
    talk.remembers("p1")
    talk.says("two")
    if stored:
        talk.messages = [_unmarked(message) for message in send(talk.chat.step(), talk.messages)]
    talk.remembers("p2")
    talk.says("three", join=join)
    assert [text for text in talk.sent[-1] if "<" not in text] == ["one", "ok", "two", "three"]
    assert talk.updates == [3, 5]
    assert all(later[: len(earlier)] == earlier for earlier, later in pairwise(talk.sent))
    talk.answered()
    talk.says("four")
    assert talk.updates == [3, 5]


@pytest.mark.parametrize("pages", [("p1", "p2"), ("", "p2")], ids=["a block behind them", "none"])
def test_bedrock_counts_words_that_it_has_joined_with_results_as_a_message_of_their_own(pages: tuple[str, ...]) -> None:
    talk = Host(converse, "content", plain)
    talk.says("one")
    talk.messages.append({"role": "assistant", "content": [{"toolUse": {"toolUseId": "c0", "name": "x", "input": {}}}]})
    talk.messages.append({"role": "user", "content": [{"toolResult": {"toolUseId": "c0", "content": [plain("ok")]}}]})
    talk.chat.step([ToolResult("cms_listPages", "ok", "c0")])
    for page in pages:
        talk.chat.remember([Entity("page", page, page)] if page else [])
        talk.says(f"with {page}")
        talk.answered()
    bare = list(talk.messages)
    stored = [_unmarked(message) for message in converse(talk.chat.step(), bare)]
    later = [{"role": "user", "content": [plain(n)]} for n in "ab"]
    talk.remembers("p3")
    talk.chat.user(Turn())
    step = talk.chat.step()

    assert converse(step, [*stored, *later]) == converse(step, [*bare, *later])


def test_a_block_stays_with_its_words_where_results_have_no_ids() -> None:
    talk = Host(contents, "parts", plain)
    talk.says("one")
    for page, words in (("p1", "two"), ("p2", "three")):
        talk.messages.append({"role": "model", "parts": [{"functionCall": {"name": "x", "args": {}}}]})
        talk.messages.append({"role": "user", "parts": [{"functionResponse": {"name": "x", "response": {}}}]})
        talk.chat.step([ToolResult("x", "ok")])
        talk.answered()
        talk.remembers(page)
        talk.says(words)
    assert talk.updates == [3, 6]
    assert all(later[: len(earlier)] == earlier for earlier, later in pairwise(talk.sent))


def _unmarked(message: Json) -> Json:
    bare = [
        {k: v for k, v in block.items() if k != "cache_control"}
        for block in message["content"]
        if "cachePoint" not in block
    ]
    return {**message, "content": bare}


def test_a_host_with_two_texts_in_each_message_is_understood() -> None:
    send = claude("claude-sonnet-5")
    talk = Host(send, "content", typed)

    def says(words: str, *, joined: bool) -> None:
        talk.chat.user(Turn())
        said = [typed("It is noon."), typed(words)]
        if joined:
            talk.messages[-1]["content"] += said
        else:
            talk.messages.append({"role": "user", "content": said})
        talk.ask()

    says("one", joined=False)
    talk.answered()
    talk.remembers("p1")
    says("two", joined=False)
    talk.remembers("p2")
    says("three", joined=True)
    assert talk.updates == [5, 8]
    assert all(later[: len(earlier)] == earlier for earlier, later in pairwise(talk.sent))


@pytest.mark.parametrize("host", HOSTS)
def test_a_message_with_nothing_but_a_picture_is_one_message(host: str) -> None:
    send, key, block, join = HOSTS[host]
    talk = Host(send, key, block)
    talk.says("one")
    talk.answered()
    talk.remembers("p1")
    talk.says("two")
    talk.says("three", join=join)
    before = talk.sent[-1]
    talk.answered()
    talk.chat.user(Turn())
    talk.messages.append({"role": "user", key: [{"type": "image"} if block is typed else {"image": {}}]})
    talk.ask()

    assert talk.sent[-1] == [*before, "ok"]


def test_messages_joined_to_one_text_are_told_from_a_window_by_a_result_before_them() -> None:
    talk = Host(claude("claude-sonnet-5"), "content", typed)
    talk.says("one")
    talk.messages.append({"role": "assistant", "content": [{"type": "tool_use", "id": "c0", "name": "x", "input": {}}]})
    talk.messages.append({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c0", "content": "ok"}]})
    talk.chat.step([ToolResult("x", "ok", "c0")])
    talk.answered()
    talk.remembers("p1")
    talk.says("two")
    [place] = talk.updates
    talk.answered()
    talk.says("three")
    talk.says("four", join=one_string)
    assert talk.updates == [place]


def test_words_that_a_host_leaves_out_leave_their_block_behind_the_result_in_front_of_them() -> None:
    talk = Host(claude("claude-opus-5"), "content", typed)
    talk.says("one")
    talk.works("c0")
    talk.answered()
    talk.remembers("p1")
    talk.says("two")
    talk.works("c1")
    talk.answered()
    talk.says("three")
    talk.messages = [each for each in talk.messages if each["content"] != [typed("two")]]
    talk.ask()

    assert [text for text in talk.sent[-1] if "<" not in text] == [
        "one", "looking for c0", "ok", "looking for c1", "ok", "three",
    ]  # fmt: skip
    assert talk.updates == [2]


@pytest.mark.parametrize("model", CLAUDE)
def test_a_block_stays_with_its_words_whatever_stands_behind_them(model: str) -> None:
    talk = Host(claude(model), "content", typed)
    talk.says("one")
    talk.works("c0")
    talk.answered()
    talk.remembers("p1")
    talk.says("two")
    talk.says("three")  # nobody has answered
    talk.works("c1", "a remark")
    talk.ask()

    assert talk.sent[-1][: len(talk.sent[-2])] == talk.sent[-2]


@pytest.mark.parametrize("model", CLAUDE)
def test_a_block_stays_with_its_words_where_a_model_repeats_the_id_of_a_call(model: str) -> None:
    talk = Host(claude(model), "content", typed)
    talk.says("one")
    for name, words in (("p1", "two"), ("p2", "three")):
        talk.works("c0")
        talk.answered()
        talk.remembers(name)
        talk.says(words)

    assert [talk.sent[-1][place - 1] for place in talk.updates] == ["two", "three"]


@pytest.mark.parametrize("host", [name for name in HOSTS if not name.startswith("chat")])
def test_empty_texts_and_empty_answers_do_not_reach_a_provider_that_refuses_them(host: str) -> None:
    send, key, block, _ = HOSTS[host]
    talk = Host(send, key, block)
    talk.says("one")
    model = "model" if key == "parts" else "assistant"
    talk.messages += [{"role": model, key: []}]
    talk.remembers("p1")
    talk.says("two")
    talk.messages += [{"role": model, key: [block("")]}]
    talk.says("three")

    assert all(talk.sent[-1])
    assert [text for text in talk.sent[-1] if len(text) < 20] == [
        "one",
        *["(no answer)", "two"],
        "(no answer)",
        "three",
    ]
    assert all(message[key] for message in send(talk.chat.step(), talk.messages))


def anthropic_result(told: Any) -> tuple[Json, Json]:
    call = {"type": "tool_use", "id": "c0", "name": "x", "input": {}}
    return call, {"type": "tool_result", "tool_use_id": "c0", "content": told}


def bedrock_result(told: Any) -> tuple[Json, Json]:
    named = {"toolUseId": "c0"}
    return {"toolUse": {**named, "name": "x", "input": {}}}, {"toolResult": {**named, "content": told}}


@pytest.mark.parametrize(
    ("host", "result", "told"),
    [
        *(
            ("claude-sonnet-5, blocks", anthropic_result, told)
            for told in ("", " \n", None, [], [typed(""), typed(" ")])
        ),
        *(("bedrock, parts", bedrock_result, told) for told in ([], [plain("")], [plain(" \n"), plain("")])),
    ],
)
def test_a_result_without_anything_to_read_says_so(
    host: str, result: Callable[[Any], tuple[Json, Json]], told: Any
) -> None:
    send, key, block, _ = HOSTS[host]
    talk, (call, answer) = Host(send, key, block), result(told)
    talk.says("one")
    talk.messages += [{"role": "assistant", key: [call]}, {"role": "user", key: [answer]}]
    sent = send(talk.chat.step([ToolResult("x", "", "c0")]), talk.messages)[-1][key][0]

    assert sent.get("toolResult", sent)["content"] in ("(no result)", [block("(no result)")])
