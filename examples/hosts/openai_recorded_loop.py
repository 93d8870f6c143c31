"""The loop of `openai_chat_loop` that keeps what happened: each request, each call and the summaries, in SQLite."""

import json
import sqlite3
import tempfile
from pathlib import Path
from typing import Any

from openai import OpenAI

from cuecard import Engine, Message, Recorder, Turn
from cuecard.adapters.functions import Functions
from loopback_models import AGENT, SCRIPT, WORDS, loopback_models, page_functions
from openai_chat_loop import say

HISTORY = "{policy: window, load: 3, keep: 2, on_overflow: 2, summarize: after}"


def store(database: sqlite3.Connection, record: dict[str, Any]) -> None:
    kind = next(key for key in ("manifest", "summary", "calls") if key in record)
    with database:  # a record may come twice
        row = (record["id"], record["conversation"], kind, json.dumps(record))
        database.execute("INSERT INTO records VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING", row)


def main(folder: Path) -> None:
    (folder / "agent.yaml").write_text(f"agent: cms\nextends: {AGENT}/agent.yaml\nhistory: {HISTORY}\n")
    database = sqlite3.connect(folder / "agent.db", check_same_thread=False)
    database.execute("CREATE TABLE records (id TEXT PRIMARY KEY, conversation TEXT, kind TEXT, record TEXT)")
    recorder = Recorder(folder / "records.jsonl", sink=lambda record: store(database, record))
    with loopback_models(SCRIPT) as service, OpenAI(base_url=f"{service.url}/v1", api_key="none") as client, recorder:
        tools = Functions(recorder.instrument(Engine.open(folder)), page_functions())
        chat, messages, turn = tools.engine.conversation(), list[Any](), Turn()
        for words in WORDS:
            print(say(client, tools, chat, messages, words))
            said = [Message(m["role"], m["content"]) for m in messages if m["role"] != "tool" and m.get("content")]
            turn = Turn(messages=tuple(said), summary=turn.summary)
            if chat.call and tools.engine.summary_due(turn):  # the reply is out: a model may take its time
                turn = tools.engine.summarize(turn, lambda due: f"Pages were made. {len(due.text)} characters.")
                recorder.summary("cms", chat.call.conversation, turn.summary)
    print(*database.execute("SELECT kind, count(*) FROM records GROUP BY kind"))
    database.close()


if __name__ == "__main__":
    main(Path(tempfile.mkdtemp()))
