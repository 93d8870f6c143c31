"""The tools of completions: checked and copied once, however many requests offer them."""

from __future__ import annotations

import pickle
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from cuecard.adapters.placing import Body, is_offered, tool_name
from cuecard.adapters.replays import copied
from cuecard.model import Step

_ORDERS = 64
"""For how many baselines the tools are kept in their order."""


@dataclass(frozen=True, slots=True, eq=False)
class Offer:
    """The tools of a conversation, the search tool included.

    Attributes:
        names: their names, in the order of the host.
    """

    names: tuple[str, ...]
    _given: list[Any]
    _packed: bytes
    _orders: dict[tuple[str, ...], tuple[list[str], bytes]] = field(default_factory=dict)

    @classmethod
    def of(cls, given: Sequence[Mapping[str, Any]], search: Body) -> Offer:
        """The tools that a host offers; where the search tool is not among them, it is in front."""
        named = {tool_name(each) for each in given}
        tools = [dict(each) for each in given]
        tools = tools if tool_name(search) in named else [search, *tools]
        packed = pickle.dumps(tools)
        return cls(tuple(map(tool_name, tools)), copied(list(given)), packed)

    def is_of(self, given: Sequence[Any]) -> bool:
        """Whether it was made of these tools."""
        return self._given == given

    def copies(self) -> list[Body]:
        """The tools, which whoever gets them may change: LiteLLM does."""
        return cast("list[Body]", pickle.loads(self._packed))  # noqa: S301 - our own

    def sent(self, step: Step, catalogue: Collection[str] | None) -> list[Body]:
        """What a request shows, in an order that neither discovery, nor a withdrawal, nor the host changes.

        Args:
            step: what is to be sent.
            catalogue: the names of which only those are shown that are active; None to show all.
        """
        names, packed = self._ordered(step.base_tools or step.initial_tools)
        tools = cast("list[Body]", pickle.loads(packed))  # noqa: S301 - our own
        if catalogue is None and step.offers_search:
            return tools
        hidden = {*catalogue} - {*step.active_tools} if catalogue is not None else set[str]()
        named = zip(names, tools, strict=True)
        return [tool for name, tool in named if name not in hidden and is_offered(name, step)]

    def _ordered(self, base: tuple[str, ...]) -> tuple[list[str], bytes]:
        if base not in self._orders:
            first = {name: place for place, name in enumerate(base)}
            named = zip(self.names, self.copies(), strict=True)
            ordered = sorted(named, key=lambda each: (first.get(each[0], len(first)), each[0]))
            if len(self._orders) >= _ORDERS:
                self._orders.clear()
            self._orders[base] = [name for name, _ in ordered], pickle.dumps([tool for _, tool in ordered])
        return self._orders[base]
