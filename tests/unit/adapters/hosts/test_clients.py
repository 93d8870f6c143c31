"""Clients that are too old for a body: the error says which version works."""

from __future__ import annotations

import re
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import boto3
import pytest
from anthropic import Anthropic
from openai import OpenAI

from cuecard import Engine, InputError, Turn
from cuecard.adapters import anthropic, bedrock, openai
from cuecard.adapters.clients import TRIED, check_client

ROOT = Path(__file__).parents[4]
SAID: Any = [{"role": "user", "content": "Hi"}]


def step(model: str = "") -> Any:
    engine = Engine.open(ROOT / "prompts" / "cms")
    return engine.prepare_step(engine.prepare_call(Turn(model=model)))


def test_the_clients_of_today_take_every_body() -> None:
    blocks: Any = [{"role": "user", "content": [{"text": "Hi"}]}]
    with Anthropic(api_key="none") as claude, OpenAI(api_key="none") as gpt:
        check_client(claude.messages.create, anthropic.request(step(), SAID, model="claude-opus-4-8", compare_with=""))
        body = openai.responses_request(step(), SAID, model="gpt-5.6", compare_with="resp_1")
        check_client(gpt.responses.create, body)
        check_client(gpt.chat.completions.create, openai.chat_request(step(), SAID, model="gpt-5.6"))
    keys = {"aws_access_key_id": "none", "aws_secret_access_key": "none"}
    client = boto3.client("bedrock-runtime", region_name="us-east-1", **keys)
    check_client(client.converse, bedrock.request(step(), blocks, model="us.anthropic.claude-opus-4-8"))
    with pytest.raises(InputError) as caught:
        check_client(client.converse, {"modelId": "a", "mesages": []})
    assert "boto3 1.44.5" in caught.value.problems[0].message
    check_client(client.can_paginate, {"operation_name": "converse"})  # which is no operation of the service
    client.close()


def test_an_older_client_is_reported_with_the_version_that_works() -> None:
    def create(*, model: str, messages: Any, system: Any, max_tokens: int) -> None: ...

    create.__module__ = "anthropic.resources.messages"
    body = anthropic.request(step(), SAID, model="claude-opus-4-8", compare_with="msg_1")
    with pytest.raises(InputError) as caught:
        check_client(create, body)
    (problem,) = caught.value.problems

    assert problem.name == "body.diagnostics"
    assert problem.message.startswith(f"`create` of anthropic {version('anthropic')} does not take")
    assert problem.hint == "install anthropic 2.11.0 or later, or leave `diagnostics` out of the body"

    others: dict[str, Any] = {"the client": partial(step, "gpt-5.6"), "append": [].append}
    for name, other in others.items():
        with pytest.raises(InputError) as caught:
            check_client(other, {"user": "ada"})
        (problem,) = caught.value.problems
        assert problem.message == f"`{name}` of this client does not take `user`"
        assert problem.hint == "install a newer one, or leave `user` out of the body"


def test_anything_but_a_client_is_refused() -> None:
    with pytest.raises(InputError) as caught:
        check_client("create", [])  # type: ignore[arg-type]

    assert [problem.name for problem in caught.value.problems] == ["create", "body"]
    check_client(lambda **_: None, {"anything": 1})


def test_the_versions_that_are_named_are_those_that_the_tests_run() -> None:
    pages = "".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs" / "hosts").glob("*.md"))

    for package, tried in TRIED.items():
        assert version(package) == tried
        assert any(tried.startswith(said) for said in re.findall(rf"tried with {package} ([\d.]+\d)", pages))
