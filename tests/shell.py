"""The command `cuecard` for shell scripts: what it is asked, this process does, which has everything imported."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from dataclasses import astuple
from pathlib import Path
from socketserver import StreamRequestHandler, TCPServer
from threading import Thread
from unittest.mock import patch

from command_line import run

PROGRAM = """#!%s -IS
import json, os, socket, sys
with socket.create_connection(("127.0.0.1", %d)) as there, there.makefile("rw", encoding="utf-8") as lines:
    print(json.dumps([os.getcwd(), dict(os.environ), sys.argv[1:]]), file=lines, flush=True)
    code, out, err = json.loads(lines.readline())
sys.stdout.write(out)
sys.stderr.write(err)
sys.exit(code)
"""


class _Answer(StreamRequestHandler):
    def handle(self) -> None:
        folder, environment, words = json.loads(self.rfile.readline())
        with chdir(folder), patch.dict(os.environ, environment, clear=True):
            done = run(*words)
        self.wfile.write(json.dumps(astuple(done)).encode() + b"\n")


@contextmanager
def cuecard_in(folder: Path) -> Iterator[None]:
    """Put the command into a folder of `PATH`; it works until the end of the block."""
    with TCPServer(("127.0.0.1", 0), _Answer) as server:
        program = folder / "cuecard"
        program.write_text(PROGRAM % (sys.executable, server.server_address[1]), encoding="utf-8")
        program.chmod(0o755)
        thread = Thread(target=server.serve_forever, args=[0.02])
        thread.start()
        try:
            yield
        finally:
            server.shutdown()
            thread.join()
