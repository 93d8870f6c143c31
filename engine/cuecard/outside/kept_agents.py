"""Compiled agents that outlive the process: a command that shows an unchanged agent compiles nothing.

A stored agent contains code as well as values, as Python's own compiled files do, and is trusted under similar
conditions: it comes from a file of this user that nobody else may write (`Cache`), was made from exactly these texts,
and by exactly these sources of cuecard.
"""

from __future__ import annotations

import io
import os
import pickle
import sys
from collections.abc import Iterator
from functools import cache as once
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Any

from cuecard.agent.agent import Agent
from cuecard.agent.helpers import LoadHelpers, refuse_helpers
from cuecard.config.documents.texts import AgentSources
from cuecard.outside.cache import Cache, fingerprint
from cuecard.outside.kept_specs import kept

_PACKAGE = Path(__file__).parents[1]
_OTHERS = frozenset(
    {("builtins", name) for name in ("frozenset", "set", "str", "getattr")}
    | {("functools", "partial"), ("re", "_compile")}
)
"""What a stored agent consists of besides cuecard's own classes and functions."""


def kept_agent(sources: AgentSources, cache: Cache, load: LoadHelpers = refuse_helpers) -> Agent:
    """The agent made from these texts: compiled by an earlier process, or compiled now and stored for the next.

    An agent with the host's own helpers is compiled each time, since their code is not cuecard's to store.

    Raises:
        SpecError: with every problem of every file; an agent with errors is never stored.
    """
    if cache.folder is None:
        return _built(sources, load)
    key = fingerprint(("agent", *_code(), repr(sources)))
    found = _read(cache.get(key))
    if found is not None and found.sha256 == sources.sha256():
        return found
    made = _built(sources, load)
    data = None if made.spec.helpers else _written(made)
    if data is not None:
        cache.put(key, data)
    return made


def _built(sources: AgentSources, load: LoadHelpers) -> Agent:
    from cuecard.agent.build import build_agent  # noqa: PLC0415 - loads the compiler, which is what keeping agents saves

    return build_agent(sources, load=load)


class _Writer(pickle.Pickler):
    def __init__(self, stream: io.BytesIO, models: type) -> None:
        super().__init__(stream, pickle.HIGHEST_PROTOCOL)
        self._models = models

    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, MappingProxyType):
            return _view, (dict(value),)
        return kept(value) if isinstance(value, self._models) else NotImplemented


class _Reader(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if module.partition(".")[0] == "cuecard" or (module, name) in _OTHERS:
            return super().find_class(module, name)
        raise pickle.UnpicklingError(f"{module}.{name} is not part of an agent")


def _view(values: dict[Any, Any]) -> MappingProxyType[Any, Any]:
    return MappingProxyType(values)


def _written(agent: Agent) -> bytes | None:
    """The agent as bytes; None if another process could not restore it, for example because of another backend."""
    from cuecard.config.documents.validation import FileModel  # noqa: PLC0415 - loads pydantic

    stream = io.BytesIO()
    try:
        _Writer(stream, FileModel).dump(agent)
    except (pickle.PicklingError, AttributeError, TypeError, RecursionError):
        return None
    return stream.getvalue()


def _read(data: bytes | None) -> Agent | None:
    if data is None:
        return None
    try:
        found = _Reader(io.BytesIO(data)).load()
    except Exception:  # noqa: BLE001 - whatever is wrong with what was kept, it is made anew
        return None
    return found if isinstance(found, Agent) else None


@once
def _code() -> tuple[str, ...]:
    """The code that compiles agents here: Python, pydantic, and each module of cuecard, by size and time."""
    pydantic = find_spec("pydantic")
    home = Path(pydantic.origin).parent if pydantic and pydantic.origin else Path()
    known = (home / name for name in ("__init__.py", "version.py"))
    return (
        sys.version,
        *(_module(str(file), file.stat()) for file in known if file.is_file()),
        *sorted(_modules(str(_PACKAGE))),
    )


def _modules(folder: str) -> Iterator[str]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir() and entry.name not in {"__pycache__", "_bundled", "data"}:
                yield from _modules(entry.path)
            elif entry.name.endswith(".py"):
                yield _module(entry.path, entry.stat())


def _module(path: str, about: os.stat_result) -> str:
    return f"{path} {about.st_size} {about.st_mtime_ns}"
