"""The description of the service: the committed copy is what the code says, and the service does what it says."""

from __future__ import annotations

import json
from typing import Any

import httpx2
import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis import Case, GenerationMode, checks
from schemathesis.core.result import Ok

from cuecard.server.app import openapi_text
from cuecard.server.guard import OPEN, PATHS
from unit.server.conftest import ROOT

pytestmark = pytest.mark.repeats

COPY = ROOT / "schemas" / "openapi.json"
TOLD = json.loads(COPY.read_text(encoding="utf-8"))
KEPT = schemathesis.openapi.from_dict(TOLD)
OPERATIONS = {each.label: each for each in (found.ok() for found in KEPT.get_all_operations() if isinstance(found, Ok))}
CHECKS = [
    checks.not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_schema_conformance,
]
EXAMPLES = settings().max_examples // 4  # drawing one takes long


def test_the_copy_is_up_to_date() -> None:
    assert COPY.read_text(encoding="utf-8") == openapi_text(), "run `make schemas` and read the difference"


def test_the_service_reports_the_same(client: httpx2.Client) -> None:
    assert client.get("/openapi.json").json() == TOLD


def test_the_guard_knows_every_path() -> None:
    assert {*TOLD["paths"]} | {"/", "/openapi.json"} == PATHS
    assert OPEN < PATHS


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE], ids=["valid", "invalid"])
@pytest.mark.parametrize("label", [label for label in OPERATIONS if "/v1/" in label])
def test_row_59_no_valid_or_invalid_request_makes_the_service_fail(
    client: httpx2.Client, label: str, mode: GenerationMode
) -> None:
    """Whatever is sent, the answer is one that the description has."""
    operation = OPERATIONS[label]
    if not operation.body and mode is GenerationMode.NEGATIVE:
        return  # nothing can be wrong in a request that says nothing

    @settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck))
    @given(case=operation.as_strategy(mode))
    def answers(case: Case[Any]) -> None:
        answer = case.call(base_url=str(client.base_url))
        case.validate_response(answer, checks=CHECKS)

    answers()


@settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_no_described_request_makes_the_service_fail(client: httpx2.Client, data: st.DataObject) -> None:
    """The same with an agent that is served, so that the engine gets to see what was drawn."""
    case = data.draw(OPERATIONS["POST /v1/prepare-call"].as_strategy())
    body = {**case.body, "agent": "cms", "conversation": None} if isinstance(case.body, dict) else case.body
    answer = client.post("/v1/prepare-call", content=json.dumps(body), headers={"Content-Type": "application/json"})

    assert answer.status_code in {200, 422}, answer.text
