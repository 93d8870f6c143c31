"""Whom the agent talks to: what the shop's website knows when a chat begins."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Customer:
    """A customer who is logged in."""

    id: str = "c-7"
    name: str = "Jana"
    today: str = "2026-11-20"
    vip: bool = False
    language: str = "English"
