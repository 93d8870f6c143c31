"""The TypeScript client: its types, its own tests with the real AI SDK on Node, its example, and what is packed.

Skipped where Node or npm is missing, or the packages cannot be installed.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import pytest

import server
from cuecard import watch
from cuecard.server.agents import open_agents
from cuecard.server.app import create_app
from cuecard.server.service import Envelopes, Service
from npm import Unavailable, install
from once import once
from property.seeded_services import AiSdk, player
from property.seeded_talks import play
from unit.adapters.results.shell_agent import AGENT
from unit.server.pilot_agent import AGENT as PILOT
from unit.server.served import KEY, in_thread, notes_agent, options, replica

ROOT = Path(__file__).parents[2]
CLIENT = ROOT / "clients" / "typescript"
PAGES = (ROOT / "docs" / "hosts" / "ai-sdk.md", CLIENT / "README.md")
TEXT = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
SNIPPETS = re.findall(r"^```ts\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
SECONDS = 180
FINDER = """\
agent: finder
sections: [{id: role, text: You run a shop.}, {id: tools, text: '{{{activeProtocols}}}'}]
tools: {instructions: tools.yaml, ahead: {limit: 1}}
delivery: append
"""
FOUND = """\
category: shop
tools:
  create_order: {description: Create an order., before: Ask how many., gotcha: Prices are in cents.}
  delete_order: {description: Delete an order., before: Ask whether it is paid., gotcha: It is gone for good.}
"""
SHOP = """\
agent: shop
sections: [{id: role, text: You run a %s.}, {id: tools, text: '{{{activeProtocols}}}'}]
tools: {instructions: tools.yaml}
delivery: append
"""
SOLD = """\
category: shop
tools:
  create_order: {description: create one order., before: B, after: A, next: N, gotcha: G}
  delete_order: {description: delete one order., before: B, after: A, next: N, gotcha: G}
"""
HOST = """\
import { Conversation, Cuecard, type Entity, type Result, type Turn } from "cuecard-client";
import { aiSdk } from "cuecard-client/ai-sdk";

const row: { text?: string; user?: string; failed?: boolean } = {};
const client = new Cuecard({ url: "http://x", token: row.text });
const turn: Turn = { model: row.user, conversation: row.text, inputs: undefined, run: { first_tool: row.user } };
const result: Result = { tool: "a", call_id: "b", result: [row], is_error: row.failed, arguments: undefined };
const entity: Entity = { type: "a", id: "b", name: "c", key: row.user };
export const settings = aiSdk(client, { agent: row.user, turn: () => ({ ...turn, profile: row.user }) });
export const tools = { ...settings.tools };
export const asked = async (chat: Conversation) => {
  await chat.user(turn, [result], null, { messages: undefined, signal: undefined });
  await chat.remember([entity]);
  await client.prepareCall({ agent: row.user, turn, results: [result], conversation: row.text });
  const { step } = await client.prepareStep({ conversation: "", results: [result], inputs: undefined });
  await client.searchTools({ query: "x", limit: undefined, conversation: row.text });
  await client.remember({ entities: [entity], conversation: row.text });
  const text: string | undefined = step.appended[0]?.text;
  return text;
};
"""
"""A host's lines under strict options; they are compiled, and never run."""
TESTS = """\
process.argv.slice(1).forEach((file) => import(file));
"""
EACH = """\
import { customProvider } from "ai";
import { MockLanguageModelV4, simulateReadableStream } from "ai/test";

const failures = [], wrong = [];
const script = [["tool_search", { query: "save a note", limit: 1 }], ["add_note", { title: "Plants" }]];
const inputTokens = { total: 0, noCache: 0, cacheRead: 0, cacheWrite: 0 };
const usage = { inputTokens, outputTokens: { total: 0, text: 0 } };
let told = 0;
const answer = ({ prompt, tools }) => {
  const results = prompt.flatMap((each) => each.role === "tool" ? each.content : []);
  const number = results.filter((each) => each.type === "tool-result").length;
  const known = (tools ?? []).some((each) => each.name === "add_note");
  if (known && JSON.stringify(prompt).includes("<add_note>") !== number > 0) wrong.push("instructions: " + number);
  told += known && number > 0;
  const call = known ? script[number] : undefined;
  if (!call) return { content: [{ type: "text", text: "Done." }], reason: "stop" };
  const [toolName, input] = call;
  const made = { type: "tool-call", toolCallId: `call-${number}`, toolName, input: JSON.stringify(input) };
  return { content: [made], reason: "tool-calls" };
};
const model = new MockLanguageModelV4({
  doGenerate: async (asked) => {
    const { content, reason } = answer(asked);
    return { content, finishReason: { unified: reason }, usage, warnings: [] };
  },
  doStream: async (asked) => {
    const { content: [said], reason } = answer(asked);
    const parts = [["start"], ["delta", said.text], ["end"]];
    const text = parts.map(([at, delta]) => ({ type: `text-${at}`, id: "1", delta }));
    const end = { type: "finish", finishReason: { unified: reason }, usage };
    const chunks = [{ type: "stream-start", warnings: [] }, ...(said.text ? text : [said]), end];
    return { stream: simulateReadableStream({ chunks }) };
  },
});
globalThis.AI_SDK_DEFAULT_PROVIDER = customProvider({ languageModels: { "anthropic/claude-opus-4.8": model } });
for (const file of process.argv.slice(1)) {
  failures.push(await import(file).then(() => "", (error) => error.stack));
}
if (told < 3) wrong.push("the model was told of the tool " + told + " times");
console.log(JSON.stringify([...failures, ...wrong]));
"""
"""Runs modules one after another; all of them load the AI SDK, which takes longer than what they do. In the place of
the model's provider stands the SDK's own mock, which searches, saves a note, and sees what it is told of that.
"""


def run(*command: str, **environment: str) -> str:
    path = f"{CLIENT}/node_modules/.bin:{os.environ['PATH']}"
    env = {**os.environ, "PYTHON": sys.executable, "PATH": path, **environment}
    done = subprocess.run(command, cwd=CLIENT, capture_output=True, text=True, timeout=SECONDS, check=False, env=env)

    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def build(folder: Path) -> None:
    """The packages, the client, and the snippets of the page with the types of the AI SDK, compiled in one go."""
    install(CLIENT)
    modules = folder / "node_modules"
    modules.mkdir()
    for package in (CLIENT / "node_modules").iterdir():
        (modules / package.name).symlink_to(package)
    (modules / "cuecard-client").symlink_to(CLIENT)  # as `npm install` of a folder does
    (folder / "package.json").write_text('{"type": "module"}', encoding="utf-8")
    files = [f"snippet{number}.ts" for number in range(len(SNIPPETS))]
    for name, snippet in zip(files, SNIPPETS, strict=True):
        text = snippet.replace('"http://127.0.0.1:8765"', "process.env.CUECARD_URL!")
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "host.ts").write_text(HOST, encoding="utf-8")
    chosen = {"module": "NodeNext", "target": "ES2022", "strict": True, "skipLibCheck": True, "types": ["node"]}
    chosen |= {"exactOptionalPropertyTypes": True, "noUncheckedIndexedAccess": True}
    settings = {"compilerOptions": chosen, "files": [*files, "host.ts"]}
    (folder / "tsconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    try:
        run("tsc", "--build", "--force", ".", str(folder))
    finally:
        (CLIENT / "tsconfig.tsbuildinfo").unlink(missing_ok=True)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the compiled snippets; the client is compiled, too."""
    try:
        return once(tmp_path_factory, "typescript", build)
    except Unavailable as reason:
        pytest.skip(f"the AI SDK is not to be had: {reason}")


@pytest.fixture(scope="module")
def service(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a service of the CMS assistant, of an agent that tells results by templates, of one with texts
    that live for one turn, of one that searches by the user's own words, and of that which `cuecard init` writes.
    """
    shell, pilot, finder, notes = (tmp_path_factory.mktemp(name) for name in ("shell", "pilot", "finder", "init"))
    (shell / "agent.yaml").write_text(AGENT, encoding="utf-8")
    (pilot / "agent.yaml").write_text(PILOT, encoding="utf-8")
    (finder / "agent.yaml").write_text(FINDER, encoding="utf-8")
    (finder / "tools.yaml").write_text(FOUND, encoding="utf-8")
    folders = [ROOT / "prompts/cms", shell, pilot, finder, notes_agent(notes)]
    agents = open_agents(folders, partial(watch, states=shell / "states"))
    chosen = options()
    try:
        with in_thread(create_app(Service(agents, Envelopes(KEY, 3600)), chosen), chosen) as address:
            yield address
    finally:
        agents.stop()


@pytest.mark.usefixtures("built")
def test_the_types_are_those_of_the_service(tmp_path: Path) -> None:
    run("openapi-typescript", str(ROOT / "schemas/openapi.json"), "--output", str(tmp_path / "api.ts"))
    made = (tmp_path / "api.ts").read_text(encoding="utf-8")

    assert made == (CLIENT / "src/api.ts").read_text(encoding="utf-8"), "run `npm run types` in clients/typescript"


@pytest.fixture
def deploy(tmp_path: Path) -> Iterator[str]:
    """Two replicas of a shop, of which a test kills the first, and one of a shop with another text."""
    with ExitStack() as running:
        served = []
        for name, states in (("shop", "one"), ("shop", "one"), ("small shop", "other")):
            folder = tmp_path / name
            folder.mkdir(exist_ok=True)
            (folder / "agent.yaml").write_text(SHOP % name, encoding="utf-8")
            (folder / "tools.yaml").write_text(SOLD, encoding="utf-8")
            served.append(running.enter_context(replica(str(folder), states=tmp_path / states)))
        told = dict(zip(("service", "next", "other"), [each.address for each in served], strict=True))
        yield json.dumps({**told, "pid": served[0].process.pid, "file": str(tmp_path / "shop" / "tools.yaml")})


def test_its_own_tests_pass(service: str, deploy: str) -> None:
    """In one process, since each that loads the AI SDK takes longer for that than for most of its tests."""
    files = sorted((CLIENT / "test").glob("*.test.mjs"))
    written = [line for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    addresses = [file.as_uri() for file in files]
    known = {"CUECARD_URL": service, "CUECARD_SHELL_URL": service, "CUECARD_DEPLOY": deploy}
    told = run("node", "--test-reporter=tap", "--input-type=module", "--eval", TESTS, *addresses, **known)
    (passed,) = re.findall(r"^# pass (\d+)$", told, re.MULTILINE)

    assert re.search(r"^# fail 0$", told, re.MULTILINE)
    assert int(passed) >= len([line for line in written if re.match(r" *test\(", line)]) > 50


def test_the_example_plays_the_cms_assistant(service: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = run("node", "examples/cms.mjs", CUECARD_URL=service, CMS_DATA=str(tmp_path))
    assert server.main(["--data", str(tmp_path), "--snapshot"]) == 0
    shown = capsys.readouterr().out
    content = json.loads(shown)

    assert "The page About Us is there." in told
    assert "It is in the menu." in told
    assert "about" in [page["slug"] for page in content["pages"].values()]
    assert '"label": "About"' in shown
    assert len((CLIENT / "examples/cms.mjs").read_text(encoding="utf-8").splitlines()) <= 60


@pytest.fixture(scope="module")
def failures(built: Path, service: str) -> list[str]:
    """How each snippet of the page fails, or nothing, and behind them what the model was not told."""
    files = [str(built / f"snippet{number}.js") for number in range(len(SNIPPETS))]
    told = run("node", "--input-type=module", "--eval", EACH, *files, CUECARD_URL=service)
    found: list[str] = json.loads(told.splitlines()[-1])
    return found


@pytest.mark.parametrize("number", range(len(SNIPPETS)))
def test_every_snippet_of_the_page_runs(failures: list[str], number: int) -> None:
    assert failures[number] == ""


def test_the_model_is_told_of_a_tool_once_it_has_found_it(failures: list[str]) -> None:
    assert failures[len(SNIPPETS) :] == []


def test_the_page_shows_the_whole_of_it_in_sixty_lines() -> None:
    assert len(SNIPPETS[0].splitlines()) <= 60


@pytest.mark.usefixtures("built")
def test_a_host_that_a_seed_plays_sends_what_was_promised(tmp_path: Path) -> None:
    with player(CLIENT, tmp_path) as host:
        play(AiSdk, range(25), host)


@pytest.mark.usefixtures("built")
def test_what_is_packed_needs_nothing_else() -> None:
    packed = json.loads(run("npm", "pack", "--dry-run", "--json", "--ignore-scripts"))
    (entry,) = packed if isinstance(packed, list) else packed.values()
    names = {file["path"] for file in entry["files"]}

    assert {"dist/index.js", "dist/index.d.ts", "dist/ai-sdk.js", "dist/ai-sdk.d.ts", "README.md"} <= names
    assert {name.partition("/")[0] for name in names} == {"dist", "README.md", "package.json"}
    manifest = json.loads((CLIENT / "package.json").read_text(encoding="utf-8"))
    assert not {"dependencies", "peerDependencies", "optionalDependencies"} & manifest.keys()
    assert '"resolved"' not in (CLIENT / "package-lock.json").read_text(encoding="utf-8")
    for source in (CLIENT / "dist").glob("*.js"):
        imports = re.findall(r"from \"(.*?)\"", source.read_text(encoding="utf-8"))
        assert [name for name in imports if not name.startswith("./")] == []


LARGEST = {("index",): 4096, ("ai-sdk",): 3712, ("index", "ai-sdk"): 7104}
"""The bytes of each entry as a bundler makes it, packed; of both in one bundle, too, since they share next to nothing.

What the bundle of both would save without the functions for it, of 7,010 bytes (with none of these, 1,340 are left):

    a whole answer, tries, deadline, signals, request ids  790    handling of a conversation         730
    only what is new travels, cut by size                  590    prepareCall, prepareStep           750
    calls with one id told apart, failures known           400    the search tool                    500
    texts at their places, thinking taken out              250    refusals, limits of a run          250
    the host's own tools, instructions, contexts           220    mistakes told with a code          260
    results as the texts of templates                      140    approvals                          180
    results in the SDK's stored order and form             160
"""


@pytest.mark.usefixtures("built")
def test_the_client_and_what_the_ai_sdk_needs_of_it_are_small(tmp_path: Path) -> None:
    programs = [tmp_path / f"{'-and-'.join(entries)}.js" for entries in LARGEST]
    for program, entries in zip(programs, LARGEST, strict=True):
        program.write_text("".join(f'export * from "{CLIENT}/dist/{each}.js";\n' for each in entries), encoding="utf-8")
    made = ["--bundle", "--minify", "--format=esm", "--target=es2022", f"--outdir={tmp_path / 'bundles'}"]
    run("esbuild", *map(str, programs), "--log-level=warning", *made)
    for program, (entries, most) in zip(programs, LARGEST.items(), strict=True):
        assert len(gzip.compress((tmp_path / "bundles" / program.name).read_bytes())) <= most, entries


def test_the_version_is_that_of_cuecard() -> None:
    import cuecard  # noqa: PLC0415 - only this test asks

    assert json.loads((CLIENT / "package.json").read_text(encoding="utf-8"))["version"] == cuecard.__version__
