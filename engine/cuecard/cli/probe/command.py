"""`cuecard probe`: what happens to an operator's message mid-conversation at an endpoint, and whether the model
follows it.
"""

from __future__ import annotations

import json
import os
import random
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from cuecard.cli.probe.questions import (
    COLOURS,
    MARKS,
    Api,
    answer_of,
    body_of,
    heed_question,
    order_question,
    plain_question,
)
from cuecard.cli.probe.verdict import Verdict, refused, verdict_of
from cuecard.config.endpoints import endpoint_name
from cuecard.config.model_name import wire_name
from cuecard.config.model_profile import MidConversation
from cuecard.config.models_edit import Finding, with_finding
from cuecard.errors import InputError, Problem
from cuecard.outside.asking import AskingError, Service
from cuecard.outside.clock import utc_now
from cuecard.outside.models import read_models
from cuecard.outside.paths import is_there
from cuecard.outside.reading import read_text
from cuecard.outside.rewriting import rewrite, write_new

_OWN = {"anthropic": "https://api.anthropic.com", "openai": "https://api.openai.com/v1"}
_PATH = {"anthropic": "/v1/messages", "openai": "/chat/completions"}
_KEY = {"anthropic": "ANTHROPIC_API_KEY", "openai": "OPENAI_API_KEY"}
_NOT_TAKEN = {400, 404, 405, 409, 415, 422}


@dataclass(frozen=True, slots=True)
class Options:
    """The options of the command."""

    base_url: str = ""
    api: Literal["auto", "anthropic", "openai"] = "auto"
    role: MidConversation | None = None
    file: Path = Path("models.yaml")
    timeout: float = 60.0
    dry_run: bool = False
    as_json: bool = False


def probe(model: str, options: Options) -> None:
    """Ask three tiny questions, print the verdict, and write it into a models file.

    Raises:
        InputError: when an option is wrong, or the model cannot be used.
        SpecError: with every problem of the models file.
    """
    api = _api(model, options)
    base = options.base_url or _OWN[api]
    service = _service(api, base, options)
    role = options.role or _role(model, api, options.base_url)
    name = wire_name(model, options.base_url)
    there = is_there(options.file)
    text = read_text(options.file).text if there else ""
    verdict = _asked(service, api, name, role)
    day = utc_now().date()
    finding = Finding(endpoint_name(base), name, verdict.in_place, verdict.role, verdict.why, day)
    written = with_finding(text, finding, str(options.file))
    if not options.dry_run and there:
        rewrite(options.file, written, text)
    elif not options.dry_run:
        write_new(options.file, written)
    if options.as_json:
        print(json.dumps(_as_json(finding, verdict, options), indent=2, ensure_ascii=False))
    else:
        print(_told(finding, verdict))
        print(f"\n{written}" if options.dry_run else f"written to {options.file}")


def _asked(service: Service, api: Api, model: str, role: MidConversation) -> Verdict:
    """The verdict; the plain question comes first, to tell an unavailable service from one that rejects the message."""
    colours, mark = random.sample(COLOURS, 4), random.choice(MARKS)  # noqa: S311 - only against answers from a cache
    ask = service.ask
    try:
        answer_of(api, ask(body_of(api, model, plain_question())))
    except AskingError as error:
        raise _no_model(model, str(error), error.status) from None
    try:
        order = answer_of(api, ask(body_of(api, model, order_question(role, colours))))
        heed = answer_of(api, ask(body_of(api, model, heed_question(role, mark))))
    except AskingError as error:
        if error.status in _NOT_TAKEN:
            return refused(str(error))
        raise _no_model(model, str(error), error.status) from None
    return verdict_of(role, colours, order, heed, mark)


def _no_model(model: str, why: str, status: int) -> InputError:
    hint = "check the address, the model name and --api"
    if status in {401, 403}:
        hint = "the key was rejected: set the API's environment variable to a valid key"
    elif status == 429 or status >= 500:
        hint = "try again later"
    return InputError(Problem("wrong-model", f"`{model}` does not answer: {why}", hint, "cuecard probe"))


def _api(model: str, options: Options) -> Api:
    """Anthropic's API for Claude, unless the address ends like OpenAI's; OpenAI's API for all others."""
    if options.api != "auto":
        return options.api
    profile = read_models().find(model)
    if not options.base_url and profile.provider not in _OWN:
        hint = "pass --base-url, and --api where it is not OpenAI's"
        message = f"no address is known for `{model}`"
        raise InputError(Problem("wrong-option", message, hint, "--base-url"))
    like_openai = options.base_url.rstrip("/").endswith(("/v1", "/openai"))
    return "anthropic" if profile.provider == "anthropic" and not like_openai else "openai"


def _role(model: str, api: Api, base_url: str) -> MidConversation:
    said = read_models().find(model).mid_conversation
    return "system" if api == "anthropic" or base_url or said == "user" else said


def _service(api: Api, base: str, options: Options) -> Service:
    problems = []
    if not _is_address(base):
        hint = "such as http://localhost:8000/v1; put keys into the environment"
        problems.append(Problem("wrong-option", "this is not an http or https address", hint, "--base-url"))
    if not 0 < options.timeout <= 3600:
        problems.append(
            Problem("wrong-option", "a timeout must be more than 0 and at most 3600 seconds", "", "--timeout")
        )
    key = os.environ.get(_KEY[api], "").strip()
    if not key and not options.base_url:
        hint = f"set the environment variable {_KEY[api]}"
        problems.append(Problem("wrong-model", f"there is no key for {api}", hint, "cuecard probe"))
    if key and not (key.isascii() and key.isprintable()):
        problems.append(
            Problem("wrong-option", "the key contains characters that are not allowed in a key", "", _KEY[api])
        )
    if problems:
        raise InputError(problems)
    kinds = {"anthropic": {"x-api-key": key}, "openai": {"authorization": f"Bearer {key}"}}
    headers = {**(kinds[api] if key else {}), **({"anthropic-version": "2023-06-01"} if api == "anthropic" else {})}
    return Service(f"{base.rstrip('/')}{_PATH[api]}", headers, options.timeout)


def _is_address(base: str) -> bool:
    try:
        parts = urlsplit(base)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0 and "@" not in base
    except ValueError:
        return False


def _as_json(finding: Finding, verdict: Verdict, options: Options) -> dict[str, object]:
    return {
        "endpoint": finding.endpoint,
        "model": finding.model,
        "found": verdict.found,
        "in_place": verdict.in_place,
        "heeded": verdict.heeded,
        "mid_conversation": verdict.role,
        "why": verdict.why,
        "cached_tokens": verdict.cached,
        "file": str(options.file),
        "written": not options.dry_run,
    }


def _told(finding: Finding, verdict: Verdict) -> str:
    where = f"`{finding.model}` at {finding.endpoint}"
    fate = f"an operator message mid-conversation is {verdict.found}"
    if verdict.found == "unclear":
        fate = "it is unclear where an operator message mid-conversation ends up"
    means = "a reminder in the user's turn" if verdict.role == "user" else f"a `{verdict.role}` message"
    cached = "" if verdict.cached is None else f"\ncached tokens reported: {verdict.cached:,}"
    return f"{where}: {fate}\n{verdict.why}\ninstructions become {means}{cached}"
