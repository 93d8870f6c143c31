"""Models files and their endpoints."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import field
from fnmatch import fnmatchcase
from typing import Annotated, Any, get_args

from pydantic import Field

from cuecard.config.documents.document import Document
from cuecard.config.documents.validation import FileModel
from cuecard.config.figures import Figures, Truth
from cuecard.config.model_profile import Interface, ModelProfile, interface_of, names_to_try
from cuecard.errors import Problem, did_you_mean
from cuecard.records import dataclass, replace

_URL = re.compile(
    r"(?:(?P<scheme>[a-z][a-z0-9+.-]*)://)?(?:[^/?#]*@)?(?P<host>\[[0-9a-f:.]+\]|[^\[\]:/?#@]+)(?::(?P<port>\d{0,5}))?"
    r"(?P<path>/[^?#]*)?(?:[?#].*)?",
    re.IGNORECASE,
)
_ODD = re.compile(r"[\s\\\x00-\x1f\x7f]")
_USUAL = {"https": "443", "http": "80"}


def endpoint_name(url: str) -> str:
    """Host, port and path of a base URL, without scheme, user and password, in lower case where case does not matter.

    An address that cannot be parsed is returned without its user and password, so it matches no known one.
    """
    url = url.strip()
    parts = _URL.fullmatch(url)
    if not parts or _ODD.search(url) or int(parts["port"] or 0) > 65535:
        return url.rpartition("@")[2]
    port = parts["port"] or ""
    shown = f":{port}" if port and port != _USUAL.get((parts["scheme"] or "").lower()) else ""
    return f"{parts['host'].lower().rstrip('.')}{shown}{(parts['path'] or '').rstrip('/')}"


def find_endpoint(url: str, known: Iterable[str]) -> str | None:
    """The entry for a base URL: its own, otherwise the longest one whose host matches and whose path is a prefix of its
    path.

    A `*` in the host of an entry matches any part of it, so `*.openai.azure.com` covers every resource.
    """
    name = endpoint_name(url)
    fitting = [entry for entry in known if name and _fits(name, endpoint_name(entry))]
    return max(fitting, key=lambda entry: len(endpoint_name(entry)), default=None)


def _fits(name: str, entry: str) -> bool:
    host, _, path = name.partition("/")
    wanted, _, prefix = entry.partition("/")
    return fnmatchcase(host, wanted) and (not prefix or f"{path}/".startswith(f"{prefix}/"))


SHIPPED_PROVIDERS = ("anthropic", "openai", "google", "deepseek", "xai", "mistral", "qwen", "meta", "amazon", "vllm")
"""The providers that `prompts/models.yaml` describes."""

_VERSION = re.compile(r"[-@]\d{4}-?\d{2}-?\d{2}$|@(?:default|latest)$")


class ModelEntry(Figures):
    """One model, or all models whose names begin alike."""

    provider: str = Field(description="the provider of these models; one of `providers`")


class EndpointEntry(FileModel):
    """A service at an address: models there may behave differently from what their names suggest."""

    in_place: Truth = Field(
        description="whether messages of this role stay in place mid-conversation; if not, or if unknown, "
        "instructions are sent as reminders in the user's turn"
    )
    models: dict[str, Figures] = Field(
        default_factory=dict,
        description="facts about models at this endpoint, by name; they override the models' own entries",
    )


class ModelsFile(FileModel):
    """A file with facts about models: providers, models and endpoints."""

    providers: dict[str, Figures] = Field(
        default_factory=dict, description="facts that apply to all models of a provider"
    )
    models: dict[Annotated[str, Field(pattern=r"^[^*]+\*?$")], ModelEntry] = Field(
        default_factory=dict, description="by name; a trailing `*` matches any ending, and the longest match wins"
    )
    endpoints: dict[str, EndpointEntry] = Field(
        default_factory=dict,
        description="by host, with port and path if they matter; a `*` in the host matches any part of it",
    )


_NOTHING_IN_PLACE: Mapping[str, Any] = {"mid_conversation": "user", "adds_tools": False}
"""The figures for endpoints where messages may not stay in place."""


def _without_items(figures: Mapping[str, Any]) -> dict[str, Any]:
    """Where definitions stand if they cannot be messages of their own, as they are on the Responses interface."""
    if figures.get("definitions") != "deferred":
        return {}
    late = tuple(name for name in figures.get("interfaces") or get_args(Interface) if name != "responses")
    return {"definitions": "deferred" if late else "all", "interfaces": late}


@dataclass(frozen=True, slots=True)
class ModelProfiles:
    """Every profile that the files state."""

    providers: Mapping[str, Figures] = field(default_factory=dict)
    models: Mapping[str, ModelEntry] = field(default_factory=dict)
    endpoints: Mapping[str, EndpointEntry] = field(default_factory=dict)

    def merged(self, file: ModelsFile) -> ModelProfiles:
        """These profiles merged with another file, which overrides them figure by figure."""
        providers = {name: _over(self.providers.get(name), entry) for name, entry in file.providers.items()}
        models = {name: _over(self.models.get(name), entry) for name, entry in file.models.items()}
        endpoints = {name: _endpoint_over(self.endpoints.get(name), entry) for name, entry in file.endpoints.items()}
        return ModelProfiles(
            {**self.providers, **providers}, {**self.models, **models}, {**self.endpoints, **endpoints}
        )

    def find(self, model: str, provider: str = "", endpoint: str = "") -> ModelProfile:
        """The profile of a model: its own entry, otherwise the longest matching pattern, otherwise the provider's,
        otherwise the default.

        Never raises; the profile's `known` says whether anything was found.

        Args:
            model: its name; a provider prefix (`anthropic:`, `openai/`) and a date suffix (`-20260801`, `@2026-08-01`)
                are optional.
            provider: the provider whose figures apply to a model without an entry.
            endpoint: the base URL of the service; empty for the provider's own. Instructions get a role
                mid-conversation only if the endpoint's entry says that messages stay in place.
        """
        entry = self._entry(model)
        owner = entry.provider if entry else provider
        figures = {**self.providers.get(owner, Figures()).values(), **(entry.values() if entry else {})}
        if endpoint:
            figures |= self._here(model, endpoint, figures)
        known = bool(entry or figures.keys() - _NOTHING_IN_PLACE.keys())
        found = ModelProfile(model, owner, **figures, endpoint=endpoint_name(endpoint), known=known)
        stated = interface_of(model)
        lacks = found.interfaces and stated and not found.defers(stated)
        return replace(found, definitions="all", interfaces=()) if lacks else found

    def _here(self, model: str, endpoint: str, figures: Mapping[str, Any]) -> dict[str, Any]:
        """The figures of a model at this address, which override all others."""
        moved = {**_NOTHING_IN_PLACE, **_without_items(figures)}
        name = find_endpoint(endpoint, self.endpoints)
        if name is None:
            return moved
        there = self.endpoints[name]
        own = next((there.models[each] for each in names_to_try(model) if each in there.models), Figures())
        return {**({} if there.in_place.value else moved), **own.values()}

    def _entry(self, model: str) -> ModelEntry | None:
        """The entry with exactly this name, in any spelling, otherwise the longest pattern that matches its shortest
        form.
        """
        names = [each for name in names_to_try(model) for each in (name, _VERSION.sub("", name))]
        if exact := next((name for name in names if name in self.models), None):
            return self.models[exact]
        for name in reversed(names):
            if patterns := [each for each in self.models if each.endswith("*") and name.startswith(each[:-1])]:
                return self.models[max(patterns, key=len)]
        return None


def unknown_providers(document: Document, file: ModelsFile, known: Iterable[str]) -> list[Problem]:
    """An error for each model whose provider is neither in this file nor known before."""
    providers = {*known, *file.providers}
    return [
        document.problem(
            ("models", name, "provider"),
            "unknown-provider",
            f"there is no provider `{entry.provider}`",
            did_you_mean(entry.provider, providers),
        )
        for name, entry in file.models.items()
        if entry.provider not in providers
    ]


def _over(below: Any, entry: Any) -> Any:
    return (
        entry
        if below is None
        else below.model_copy(update={key: getattr(entry, key) for key in entry.model_fields_set})
    )


def _endpoint_over(below: EndpointEntry | None, entry: EndpointEntry) -> EndpointEntry:
    if below is None:
        return entry
    models = {name: _over(below.models.get(name), figures) for name, figures in entry.models.items()}
    return EndpointEntry(in_place=entry.in_place, models={**below.models, **models})
