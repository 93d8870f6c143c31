"""The manifest of the last step of each live call, to compare the next step with."""

from __future__ import annotations

import weakref
from threading import Lock

from cuecard.model import Call, Manifest


class LastSteps:
    """Manifests by call, for as long as the call is in use. Thread-safe."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._known: dict[int, tuple[weakref.ref[Call], Manifest]] = {}

    def get(self, call: Call | None) -> Manifest | None:
        """The manifest of the call's last step; None if there was none, or another process prepared the call."""
        if call is None:
            return None
        with self._lock:
            reference, manifest = self._known.get(id(call), (None, None))
        return manifest if reference is not None and reference() is call else None

    def put(self, call: Call, manifest: Manifest | None) -> None:
        """Record the manifest of the call's last step."""
        if manifest is None:
            return
        key = id(call)
        reference = weakref.ref(call, lambda gone: self._forget(key, gone))
        with self._lock:
            self._known[key] = (reference, manifest)

    def __len__(self) -> int:
        return len(self._known)

    def _forget(self, key: int, gone: weakref.ref[Call]) -> None:
        # No lock: the collector may call this while the lock is held by the same thread.
        if (known := self._known.get(key)) and known[0] is gone:
            self._known.pop(key, None)
