"""Settings that all tests share."""

import atexit
import gc
import itertools
import os
import re
import sys
import tempfile
import threading
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType

import certifi
import pytest
from hypothesis import HealthCheck, settings

from measuring import MEASURES, MEASURING

# The same few examples in every run, whatever the machine is busy with; `HYPOTHESIS_PROFILE=explore` (`make explore`)
# looks for new ones, and for many.
_SHARED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("same", _SHARED, derandomize=True, max_examples=25)
settings.register_profile("explore", _SHARED, print_blob=True, max_examples=400)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))

# Workers and the commands that tests start compile each module once, and not each of them all, whatever the shell says.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# What tests start is not measured, but for the studio, which is used from outside only: which modules a command imports
# is tested, and tracing doubles its start.
if "PYTEST_XDIST_WORKER" in os.environ:
    for _name in MEASURING:
        if _name in os.environ:
            os.environ[f"{MEASURES}{_name}"] = os.environ.pop(_name)

# Where there is room, the folders of tests are in memory: databases wait for the disk at every commit.
_MEMORY = "/dev/shm"  # noqa: S108 - pytest and tempfile make folders in it that only their owner reads
if "TMPDIR" not in os.environ and os.access(_MEMORY, os.W_OK):
    _ROOM = os.statvfs(_MEMORY)
    if _ROOM.f_bavail * _ROOM.f_frsize > 4 << 30 and not _ROOM.f_flag & os.ST_NOEXEC:
        os.environ["TMPDIR"], tempfile.tempdir = _MEMORY, None

# What tests keep for the next process, they keep in a folder of their own; the commands that they start inherit it.
_CACHE = tempfile.TemporaryDirectory(prefix="cuecard-tests-")
atexit.register(_CACHE.cleanup)
os.environ["XDG_CACHE_HOME"] = _CACHE.name

# No test speaks TLS, but each client of an SDK begins with all the certificates that there are.
_CERTIFICATE = Path(_CACHE.name) / "certificate.pem"
_CERTIFICATE.write_text("".join(certifi.contents().partition("-----END CERTIFICATE-----")[:2]), encoding="ascii")
os.environ["SSL_CERT_FILE"] = str(_CERTIFICATE)

# Modules of tests and of a dozen frameworks stay until the end, so the garbage collector need not visit them again and
# again.
gc.disable()


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop() -> None:
    """Let the collector look only at what the tests make, and only where they make much."""
    gc.freeze()
    gc.set_threshold(20_000)
    gc.enable()


_FOLDERS = itertools.count()


@pytest.fixture
def tmp_path(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Path:
    """A folder of its own: for each, pytest reads the names of all the others and moves a link to the newest."""
    folder = tmp_path_factory.getbasetemp() / f"{re.sub(r'[^A-Za-z0-9]', '_', request.node.name)[:30]}-{next(_FOLDERS)}"
    folder.mkdir()
    return folder


_TRACER, _THREADS_TRACER = sys.gettrace(), threading.gettrace()
_import = SourceFileLoader.exec_module


def _trace(*, on: bool) -> None:
    sys.settrace(_TRACER if on else None)
    threading.settrace(_THREADS_TRACER if on else None)


def _import_traced(loader: SourceFileLoader, module: ModuleType) -> None:
    """Import a module, and trace it only where it is one of the engine: frameworks take twice as long under it."""
    before = sys.gettrace()
    _trace(on=module.__name__.partition(".")[0] == "cuecard")
    try:
        _import(loader, module)
    finally:
        _trace(on=before is not None)


if _TRACER is not None:
    SourceFileLoader.exec_module = _import_traced  # type: ignore[assignment, method-assign]  # coverage has no setting for it
    _trace(on=False)


def pytest_runtest_setup() -> None:
    """Trace each test anew, because one that reaches the recursion limit removes the tracer."""
    if _TRACER is not None:
        _trace(on=True)
