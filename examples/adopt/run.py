"""Runs a step: `python run.py 2_entries`, or with a delivery of your choice: `python run.py 2_entries frozen`."""

from __future__ import annotations

import importlib
import runpy
import sys
from pathlib import Path
from typing import Any

from cuecard import Engine
from talk import Meter
from tools import JOURNAL

HERE = Path(__file__).parent


def main(step: str, *delivery: Any) -> None:
    host = runpy.run_path(str(HERE / step / "host.py"))
    engines = [Engine.open(host["FILES"], delivery=each) for each in delivery]
    meter = Meter()
    framework = importlib.import_module("on_langchain" if "langchain" in step else "on_pydantic_ai")
    for answer in framework.converse(host, meter, *engines):
        print(answer)
    print("done:", ", ".join(f"{each['done']} {each['of']}" for each in JOURNAL))
    print(meter.told(Engine.open(HERE / "1_prompt").count))


if __name__ == "__main__":
    main(*sys.argv[1:])
