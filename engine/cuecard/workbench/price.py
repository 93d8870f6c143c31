"""The cost of a request with a different beginning than the previous one, and its cost once cached."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cuecard.config.model_profile import ModelProfile
from cuecard.errors import InputError, Problem, did_you_mean
from cuecard.files.content import read_models
from cuecard.model import Manifest
from cuecard.workbench.bill import BillBlock, Prices, Request, bill


@dataclass(frozen=True, slots=True)
class Price:
    """In uncached input tokens, as cuecard counts them; the prompt alone, without messages and tool definitions.

    Attributes:
        model: the model's name.
        cost: the cost of the later prompt directly after the earlier one.
        warm: the cost of the later prompt if the previous request was the same.
        minimum: shorter prompts are not cached at all, in tokens as cuecard counts them.
    """

    model: str
    cost: float
    warm: float
    minimum: int


def find_profile(model: str) -> ModelProfile:
    """The profile of a model.

    Raises:
        InputError: when the model is unknown.
    """
    models = read_models()
    profile = models.find(model)
    if not profile.known:
        hint = f"{did_you_mean(model, models.models)}\nprompts/models.yaml lists the known models"
        raise InputError(Problem("unknown-model", f"unknown model `{model}`", hint, "--model"))
    return profile


@dataclass(frozen=True, slots=True)
class SectionPrice:
    """A section for billing: what identifies its text, its place, its tokens, and its name for people."""

    digest: str
    tokens: int
    static: bool
    in_system: bool
    label: str = ""


def prompt_request(manifest: Manifest) -> Request:
    """The request of a prompt alone, as it can be billed: without messages and tool definitions."""
    return _request(_priced(manifest))


def price(before: Manifest, after: Manifest, profile: ModelProfile) -> Price:
    """The cost of the later prompt after the earlier one, with cache breakpoints where the adapters set them."""
    return price_of(_priced(before), _priced(after), profile)


def price_of(before: Sequence[SectionPrice], after: Sequence[SectionPrice], profile: ModelProfile) -> Price:
    """The same for sections from any source."""
    prices = Prices.of(profile)
    first, second = _request(before), _request(after)
    cost, warm = bill((first, second), prices).rows[1].cost, bill((second, second), prices).rows[1].cost
    return Price(profile.name, cost, warm, prices.minimum)


@dataclass(frozen=True, slots=True)
class Calls:
    """The cost of a call with a prompt, in uncached input tokens as cuecard counts them, for the prompt alone.

    Attributes:
        first: with an empty cache, including the price of writing to it.
        again: right after the same prompt.
    """

    first: float
    again: float


def price_of_calls(manifest: Manifest, profile: ModelProfile) -> Calls:
    """The cost of this prompt in its first call, and once cached."""
    request = prompt_request(manifest)
    first, again = bill((request, request), Prices.of(profile)).rows
    return Calls(first.cost, again.cost)


def dollars(tokens: float, profile: ModelProfile, per_million: float) -> float:
    """The price of a number of uncached input tokens, as cuecard counts them, on this model.

    Args:
        tokens: the number of tokens.
        profile: the model, whose tokenizer may count more tokens.
        per_million: the provider's price of 1,000,000 of its own uncached input tokens, in US dollars.
    """
    return tokens * profile.token_factor * per_million / 1_000_000


def _priced(manifest: Manifest) -> list[SectionPrice]:
    sections = manifest.sections
    return [
        SectionPrice(
            f"{r.sha256} {r.placement}", r.tokens, r.tier == "static", r.placement == "system", f"{r.placement}/{r.id}"
        )
        for r in sections
    ]


def _request(sections: Sequence[SectionPrice]) -> Request:
    """The sections as blocks: breakpoints after the static start, after the system prompt, and at the end."""
    system = sum(each.in_system for each in sections)
    static = next((at for at, each in enumerate(sections[:system]) if not each.static), system)
    blocks = tuple(BillBlock(each.digest, each.tokens, each.label) for each in sections)
    return Request(blocks, tuple(sorted({static, system, len(blocks)} - {0})))
