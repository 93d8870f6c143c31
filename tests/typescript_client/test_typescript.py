"""The TypeScript client: its types, its own tests with the real AI SDK on Node, its example, and what is packed.

Skipped where Node or npm is missing, or the packages cannot be installed.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from npm import Unavailable, install
from once import once
from unit.results.shell_agent import AGENT
from unit.server.served import Replica, replica

ROOT = Path(__file__).parents[2]
CLIENT = ROOT / "clients" / "typescript"
PAGE = (ROOT / "docs" / "hosts" / "ai-sdk.md").read_text(encoding="utf-8")
SNIPPETS = re.findall(r"^```ts\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
SECONDS = 180


def run(*command: str, **environment: str) -> str:
    path = f"{CLIENT}/node_modules/.bin:{os.environ['PATH']}"
    env = {**os.environ, "PYTHON": sys.executable, "PATH": path, **environment}
    done = subprocess.run(command, cwd=CLIENT, capture_output=True, text=True, timeout=SECONDS, check=False, env=env)

    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def build(_folder: Path) -> None:
    install(CLIENT)
    run("tsc")


@pytest.fixture(scope="module")
def _built(tmp_path_factory: pytest.TempPathFactory) -> None:
    """The packages, and the client compiled."""
    try:
        once(tmp_path_factory, "typescript", build)
    except Unavailable as reason:
        pytest.skip(f"the AI SDK is not to be had: {reason}")


@pytest.fixture(scope="module")
def service(_built: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Replica]:
    with replica("cms", states=tmp_path_factory.mktemp("states")) as served:
        yield served


@pytest.fixture(scope="module")
def shell(_built: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Replica]:
    """A service of the agent that tells results by templates."""
    agent = tmp_path_factory.mktemp("shell") / "agent.yaml"
    agent.write_text(AGENT, encoding="utf-8")
    with replica(str(agent), states=tmp_path_factory.mktemp("shell-states")) as served:
        yield served


@pytest.mark.usefixtures("_built")
def test_the_types_are_those_of_the_service(tmp_path: Path) -> None:
    run("openapi-typescript", str(ROOT / "schemas/openapi.json"), "--output", str(tmp_path / "api.ts"))
    made = (tmp_path / "api.ts").read_text(encoding="utf-8")

    assert made == (CLIENT / "src/api.ts").read_text(encoding="utf-8"), "run `npm run types` in clients/typescript"


@pytest.mark.parametrize("name", sorted(path.name for path in (CLIENT / "test").glob("*.test.mjs")))
def test_its_own_tests_pass(service: Replica, shell: Replica, name: str) -> None:
    addresses = {"CUECARD_URL": service.address, "CUECARD_SHELL_URL": shell.address}
    told = run("node", "--test", "--test-reporter=tap", f"test/{name}", **addresses)

    assert re.search(r"^# fail 0$", told, re.MULTILINE)
    assert not re.search(r"^# pass 0$", told, re.MULTILINE)


def test_the_example_plays_the_cms_assistant(service: Replica, tmp_path: Path) -> None:
    told = run("node", "examples/cms.mjs", CUECARD_URL=service.address, CMS_DATA=str(tmp_path))
    server = ROOT / "examples/cms/server.py"
    shown = subprocess.run(
        [sys.executable, server, "--data", tmp_path, "--snapshot"], capture_output=True, text=True, check=True
    )
    content = json.loads(shown.stdout)

    assert "The page About Us is there." in told
    assert "It is in the menu." in told
    assert "about" in [page["slug"] for page in content["pages"].values()]
    assert '"label": "About"' in shown.stdout
    assert len((CLIENT / "examples/cms.mjs").read_text(encoding="utf-8").splitlines()) <= 60


@pytest.fixture(scope="module")
def snippets(service: Replica) -> Iterator[Path]:
    """A folder with the snippets of the page, compiled with the types of the AI SDK in one go."""
    with tempfile.TemporaryDirectory(dir=CLIENT, prefix=".snippet-") as made:
        folder = Path(made)
        (folder / "node_modules").mkdir()
        (folder / "node_modules/cuecard-client").symlink_to(CLIENT)  # as `npm install` of a folder does
        (folder / "package.json").write_text('{"type": "module"}', encoding="utf-8")
        files = [f"snippet{number}.ts" for number in range(len(SNIPPETS))]
        for name, snippet in zip(files, SNIPPETS, strict=True):
            text = snippet.replace('"http://127.0.0.1:8765"', json.dumps(service.address))
            (folder / name).write_text(text, encoding="utf-8")
        options = {"module": "NodeNext", "target": "ES2022", "strict": True, "skipLibCheck": True, "types": ["node"]}
        settings = {"compilerOptions": options, "files": files}
        (folder / "tsconfig.json").write_text(json.dumps(settings), encoding="utf-8")
        run("tsc", "-p", made)
        yield folder


@pytest.mark.parametrize("number", range(len(SNIPPETS)))
def test_every_snippet_of_the_page_runs(snippets: Path, number: int) -> None:
    """What asks for a model gets the SDK's own mock."""
    run("node", str(snippets / f"snippet{number}.js"))


@pytest.mark.usefixtures("_built")
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


def test_the_version_is_that_of_cuecard() -> None:
    import cuecard  # noqa: PLC0415 - only this test asks

    assert json.loads((CLIENT / "package.json").read_text(encoding="utf-8"))["version"] == cuecard.__version__
