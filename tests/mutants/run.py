"""Mistakes on purpose, and who notices: `make mutate`; README.md beside this file says what it does and why so."""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from itertools import chain
from pathlib import Path
from queue import Queue

from mutants.contexts import FURTHER, MOST_SECONDS, TIMES, Contexts, function_of
from mutants.mutants import PACKAGE, ROOT, Mutant, mistakes, read_mutants

KEPT = ROOT / ".tools" / "mutate"
MAKER = KEPT / "bin" / "python"
HERE = Path(__file__).parent
TESTS = ("tests/unit", "tests/cases", "tests/property", "tests/scenarios")
"""What is measured (tests/conftest.py), so what can be chosen by what it runs."""

PATIENCE = 30.0
"""Seconds that the tests of a mistake may take beside ten times what they take without it."""


LISTED = 60.0
"""Seconds for the tests of a mistake of the list, which nobody measures."""


@dataclass(frozen=True)
class Mistake:
    """A module with a mistake in it, and the tests that are asked.

    Attributes:
        place: `file:line`.
        change: its lines before and after, with `-` and `+`.
        text: the module with the mistake.
        tests: what pytest calls them.
        further: those that are asked if none of these notices.
        seconds: what they take without it.
        functions: how many functions of them are to notice it before no more are asked.
        stated: why no test can notice it, as `mutants.toml` says.
    """

    place: str
    change: tuple[str, ...]
    text: str
    tests: tuple[str, ...]
    seconds: float
    stated: str = ""
    further: tuple[str, ...] = ()
    functions: int = 1

    @property
    def file(self) -> str:
        """The module, relative to the root."""
        return self.place.partition(":")[0]

    @property
    def room(self) -> str:
        """The room of the module, or its name."""
        return Path(self.file).relative_to(PACKAGE).parts[0]

    @property
    def name(self) -> str:
        """What is written down of it, so that an interrupted run goes on."""
        return hashlib.sha256("\n".join([self.place, *self.change]).encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Outcome:
    """What became of a mistake.

    Attributes:
        name: that of the mistake.
        noticed: what noticed it.
        seconds: what it took to ask them.
    """

    name: str
    noticed: tuple[str, ...]
    seconds: float


class RefusedError(Exception):
    """The run cannot begin."""


def git(*words: str) -> str:
    """What git says in the repository.

    Raises:
        RefusedError: with what it says when it fails.
    """
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RefusedError(done.stderr.strip())
    return done.stdout


def require_clean() -> str:
    """The tree of the last commit, which is what stands in the folder.

    Raises:
        RefusedError: when something is not committed: the mistakes are made in a copy of the commit.
    """
    if changed := git("status", "--porcelain").splitlines():
        raise RefusedError(f"commit or stash first: {len(changed)} files differ from the last commit: {changed[0][3:]}")
    return git("rev-parse", "HEAD^{tree}").strip()


def modules(since: str, within: Sequence[str]) -> list[str]:
    """The modules that are mistaken: all, or those that changed; of these rooms, if any is named.

    Raises:
        RefusedError: when there is none.
    """
    listed = (
        git("diff", "--name-only", "--diff-filter=d", since, "--", str(PACKAGE))
        if since
        else git("ls-files", str(PACKAGE))
    )
    chosen = [file for file in listed.splitlines() if file.endswith(".py")]
    if within:
        wanted = tuple(f"{PACKAGE.as_posix()}/{room}" for room in within)
        chosen = [file for file in chosen if file.startswith(wanted)]
    if not chosen:
        raise RefusedError("no module of engine/cuecard is chosen")
    return chosen


def contexts(root: Path, tree: str, tests: Sequence[str], jobs: int) -> Contexts:
    """Which tests run what in a copy; measured once for each commit and choice of tests, which takes minutes."""
    key = hashlib.sha256("\n".join([tree, *tests]).encode()).hexdigest()[:12]
    data, times = KEPT / f"contexts-{key}", KEPT / f"times-{key}"
    if not data.exists():
        print(f"measuring which tests run what: {' '.join(tests)}", flush=True)
        for old in (*KEPT.glob("contexts-*"), *KEPT.glob("times-*")):
            old.unlink()
        own = {"PYTHONPATH": paths_of(root), "COVERAGE_FILE": f"{data}-part", TIMES: str(times)}
        coverage = [sys.executable, "-m", "coverage"]
        options = ["-m", "pytest", "-q", "-n", str(jobs), "--dist", "loadfile", "-p", "mutants.contexts", *tests]
        subprocess.run([*coverage, "run", *options], cwd=root, env={**os.environ, **own}, check=False)
        parts = [str(part) for part in KEPT.glob(f"{data.name}-part*")]
        subprocess.run([*coverage, "combine", "--quiet", f"--data-file={data}", *parts], cwd=ROOT, check=True)
    return Contexts.read(data, times)


def drawn(root: Path, files: Sequence[str], seed: int, number: int, known: Contexts) -> list[Mistake]:
    """So many mistakes in these modules of a copy, the same for the same seed."""
    asked = json.dumps({"files": files, "seed": seed, "number": number})
    done = subprocess.run(
        [MAKER, HERE / "made.py"], cwd=root, input=asked, stdout=subprocess.PIPE, text=True, check=True
    )
    return [_mistake(made, known) for made in map(json.loads, done.stdout.splitlines())]


def _mistake(made: dict[str, object], known: Contexts) -> Mistake:
    file, line, text = str(made["file"]), int(str(made["line"])), str(made["text"])
    change = made["change"]
    assert isinstance(change, list)
    near, further = known.of(file, line)
    return Mistake(f"{file}:{line}", tuple(change), text, tuple(near), MOST_SECONDS, further=tuple(further))


def listed(names: Sequence[str]) -> list[Mistake]:
    """The mistakes of `mutants.toml`, or those of these names.

    Raises:
        RefusedError: when the list is wrong.
    """
    every = read_mutants()
    unknown = [f"there is no mutant `{name}`" for name in names if name not in {mutant.name for mutant in every}]
    if wrong := [*mistakes(every), *unknown]:
        raise RefusedError("\n".join(wrong))
    return [_listed(mutant) for mutant in every if not names or mutant.name in names]


def _listed(mutant: Mutant) -> Mistake:
    text = (ROOT / mutant.path).read_text(encoding="utf-8")
    line = text.partition(mutant.find)[0].count("\n") + 1
    change = (
        mutant.name,
        *(f"-{each}" for each in mutant.find.splitlines()),
        *(f"+{each}" for each in mutant.replace.splitlines()),
    )
    return Mistake(
        f"{mutant.path.as_posix()}:{line}", change, mutant.applied(text), mutant.tests, 60.0, mutant.survives
    )


@dataclass(frozen=True)
class Copy:
    """A copy of the last commit in which mistakes are made, and the processes that ask its tests.

    Attributes:
        root: its folder.
        collected: has collected the tests, and makes a mistake by exchanging code.
        bare: imports what stands in the files, for mistakes that only an import makes.
    """

    root: Path
    collected: subprocess.Popen[str]
    bare: subprocess.Popen[str]

    def outcome(self, mistake: Mistake, number: int) -> Outcome:
        """Make a mistake, and ask its tests."""
        began, noticed = time.monotonic(), list[str]()
        for tests, seconds in ((mistake.tests, mistake.seconds), (mistake.further, MOST_SECONDS * FURTHER)):
            if tests and len({*map(function_of, noticed)}) < mistake.functions:
                noticed += self._noticed(mistake, tests, seconds, number)
        return Outcome(mistake.name, tuple(noticed), round(time.monotonic() - began, 1))

    def _noticed(self, mistake: Mistake, tests: Sequence[str], seconds: float, number: int) -> list[str]:
        made = {"file": mistake.file, "text": mistake.text, "functions": mistake.functions}
        noticed = self._answer(self.collected, tests, seconds, made)
        if noticed is not None:
            return noticed
        module = self.root / mistake.file
        text = module.read_text(encoding="utf-8")
        module.write_text(mistake.text, encoding="utf-8")
        # Byte code is known by second and size: no two states of a module have one time.
        os.utime(module, (number, number))
        try:
            return self._answer(self.bare, tests, seconds, {"functions": mistake.functions}) or []
        finally:
            module.write_text(text, encoding="utf-8")
            os.utime(module, (0, 0))

    def fails(self, tests: Sequence[str]) -> list[str]:
        """Which of these tests fails first without any mistake, or what ended them."""
        return self._answer(self.collected, tests, LISTED, {}) or []

    @staticmethod
    def _answer(
        judge: subprocess.Popen[str], tests: Sequence[str], seconds: float, made: Mapping[str, object]
    ) -> list[str] | None:
        assert judge.stdin
        assert judge.stdout
        judge.stdin.write(json.dumps({"tests": tests, "seconds": PATIENCE + 10 * seconds, **made}) + "\n")
        judge.stdin.flush()
        noticed: list[str] | None = json.loads(judge.stdout.readline())["noticed"]
        return noticed


def paths_of(root: Path) -> str:
    """Before the working tree, which is installed: plugins of pytest import the package before its settings."""
    return os.pathsep.join(str(root / name) for name in ("engine", "tests"))


@contextmanager
def copies(number: int) -> Iterator[list[Path]]:
    """So many copies of the last commit, removed at the end; whoever commits meanwhile changes nothing."""
    roots = [KEPT / f"copy-{place}" for place in range(number)]
    with ExitStack() as stack:
        for root in roots:
            subprocess.run(["git", "worktree", "remove", "--force", root], cwd=ROOT, capture_output=True, check=False)
            git("worktree", "add", "--quiet", "--force", "--detach", str(root), "HEAD")
            stack.callback(git, "worktree", "remove", "--force", str(root))
        yield roots


@contextmanager
def judges(roots: Sequence[Path], tests: Sequence[str]) -> Iterator[Queue[Copy]]:
    """The copies, each with the processes that ask its tests."""
    waiting: Queue[Copy] = Queue()
    with ExitStack() as stack:

        def judge(root: Path, *tests: str) -> subprocess.Popen[str]:
            return stack.enter_context(
                subprocess.Popen(
                    [sys.executable, root / "tests" / "mutants" / "judge.py", *tests],
                    cwd=root,
                    env={**os.environ, "PYTHONPATH": paths_of(root)},
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    text=True,
                )
            )

        for root in roots:
            waiting.put(Copy(root, judge(root, *tests), judge(root)))
        yield waiting


def outcomes(asked: Sequence[Mistake], roots: Sequence[Path], tests: Sequence[str]) -> Iterator[Outcome]:
    """What becomes of each, in the order in which they are done.

    Raises:
        RefusedError: when one of the tests that noticed fails without any mistake: then its failing says nothing.
    """
    who = set[str]()
    with judges(roots, tests) as free, ThreadPoolExecutor(len(roots)) as pool:

        def one(number: int, mistake: Mistake) -> Outcome:
            copy = free.get()
            try:
                return copy.outcome(mistake, number)
            finally:
                free.put(copy)

        copy = free.get()
        if fails := copy.fails(next((mistake.tests for mistake in asked if mistake.tests), ())):
            raise RefusedError(f"fails without any mistake: {fails[0]}")
        free.put(copy)
        waiting = [pool.submit(one, number, mistake) for number, mistake in enumerate(asked, start=1)]
        for done in as_completed(waiting):
            who.update(done.result().noticed)
            yield done.result()
        tests = sorted(name for name in who if "::" in name)
        if tests and (fails := free.get().fails(tests)):
            raise RefusedError(f"fails without any mistake, so it says nothing: {fails[0]}")


def kept(file: Path) -> dict[str, Outcome]:
    """What a run that was interrupted has written down."""
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    told = (json.loads(line) for line in lines if line.endswith("}"))
    return {each["name"]: Outcome(each["name"], tuple(each["noticed"]), each["seconds"]) for each in told}


def run(asked: Sequence[Mistake], file: Path, roots: Sequence[Path], tests: Sequence[str]) -> dict[str, Outcome]:
    """Ask these tests for each mistake, and write down what became of it."""
    done = kept(file)
    left = [mistake for mistake in asked if mistake.name not in done]
    names = {mistake.name: mistake for mistake in asked}
    print(f"{len(asked)} mistakes, of which {len(asked) - len(left)} are done: {file.relative_to(ROOT)}", flush=True)
    for outcome in outcomes(left, roots, tests) if left else ():
        done[outcome.name] = outcome
        with file.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(asdict(outcome)) + "\n")
        more = f" and {len(outcome.noticed) - 1} more" if outcome.noticed[1:] else ""
        told = f"noticed by {outcome.noticed[0]}{more}" if outcome.noticed else "NOT NOTICED"
        print(f"[{len(done)}/{len(asked)}] {names[outcome.name].place}: {told} ({outcome.seconds} s)", flush=True)
    return done


def report(asked: Sequence[Mistake], done: dict[str, Outcome]) -> Iterator[str]:
    """The mistakes that nobody noticed, and the table by room."""
    made, noticed = Counter(mistake.room for mistake in asked), Counter[str]()
    for mistake in asked:
        if done[mistake.name].noticed:
            noticed[mistake.room] += 1
            continue
        if mistake.stated:
            yield f"{mistake.place}: nobody can notice {mistake.change[0]}: {mistake.stated}"
            continue
        nearest = ", ".join(mistake.tests[:3]) or "no test runs it"
        yield "\n".join([f"{mistake.place}", *(f"    {line}" for line in mistake.change), f"    nearest: {nearest}"])
        if "GITHUB_ACTIONS" in os.environ:
            file, _, line = mistake.place.partition(":")
            yield f"::warning file={file},line={line}::no test notices: {' '.join(mistake.change)}"
    yield "| room | made | noticed |\n|---|---|---|"
    yield from (f"| {room} | {made[room]} | {noticed[room]} |" for room in sorted(made))
    share = 100 * noticed.total() / max(made.total(), 1)
    yield f"| all | {made.total()} | {noticed.total()} ({share:.1f} %) |"


def spare(asked: Sequence[Mistake], done: Mapping[str, Outcome]) -> Iterator[str]:
    """The functions of tests without which as many mistakes are noticed, those that were asked most often first.

    Those that stay are chosen one by one: each notices most of what the ones before it do not.
    """
    asks, notice = Counter[str](), defaultdict[str, set[str]](set)
    for mistake in asked:
        noticed, tests = done[mistake.name].noticed, [*mistake.tests, *mistake.further]
        last = max((place for place, test in enumerate(tests, start=1) if test in noticed), default=0)
        enough = len({*map(function_of, noticed)}) >= mistake.functions
        asks.update({*map(function_of, tests[: last if enough else None])})
        for function in {*map(function_of, noticed)} & asks.keys():
            notice[function].add(mistake.name)
    left, stay = {*chain(*notice.values())}, set[str]()
    while left:
        most = max(notice, key=lambda function: (len(notice[function] & left), function))
        stay.add(most)
        left -= notice[most]
    yield f"{len(stay)} of {len(asks)} functions of tests notice what all of them do; the others, with what they notice"
    yield "of what they were asked:"
    for function, times in sorted(asks.items(), key=lambda each: (-each[1], each[0])):
        if function not in stay:
            yield f"{len(notice[function]):5} of {times:<5} {function}"


def options(arguments: Sequence[str]) -> argparse.Namespace:
    """What is asked for."""
    parser = argparse.ArgumentParser(prog="make mutate", description="Make mistakes on purpose, and see who notices.")
    parser.add_argument("names", nargs="*", help="mistakes of tests/mutants/mutants.toml; all without any option")
    parser.add_argument("--draw", type=int, default=0, help="so many that mutmut makes; 0 with --since: all")
    parser.add_argument("--seed", type=int, default=0, help="which of them")
    parser.add_argument("--since", default="", help="only in modules that changed since this revision")
    parser.add_argument("--within", action="append", default=[], help="only in this room or module of engine/cuecard")
    parser.add_argument("--tests", action="append", default=[], help="ask only these; all that are measured without it")
    parser.add_argument("--matrix", action="store_true", help="tell which tests nobody would miss")
    parser.add_argument("--floor", type=float, default=90.0, help="the share of drawn ones to notice (default 90)")
    parser.add_argument("--jobs", type=int, default=2, help="how many at once (default 2)")
    return parser.parse_args(arguments)


def main() -> int:
    """Make mistakes; the exit code tells whether one of the list, or too many of those drawn, went unnoticed."""
    chosen = options(sys.argv[1:])
    some, tests = bool(chosen.draw or chosen.since), chosen.tests or TESTS
    try:
        tree = require_clean()
        files = modules(chosen.since, chosen.within) if some else []
        asked = [] if some else listed(chosen.names)
        with copies(chosen.jobs) as roots:
            if some:
                known = contexts(roots[0], tree, tests, chosen.jobs)
                asked = drawn(roots[0], files, chosen.seed, chosen.draw, known)
            asked = [replace(mistake, functions=2 if chosen.matrix else 1) for mistake in asked]
            names = (mistake.name for mistake in asked)
            key = hashlib.sha256("\n".join([tree, str(chosen.matrix), *names]).encode()).hexdigest()[:12]
            collected = tests if some else sorted({test.partition("::")[0] for each in asked for test in each.tests})
            done = run(asked, KEPT / f"run-{key}.jsonl", roots, collected)
    except RefusedError as error:
        print(error, file=sys.stderr)
        return 2
    print(*report(asked, done), *(spare(asked, done) if chosen.matrix else ()), sep="\n")
    odd = [each for each in asked if bool(done[each.name].noticed) == bool(each.stated)]
    if stale := [each.change[0] for each in odd if each.stated]:
        print(f"noticed although the list says that nobody can: {', '.join(stale)}")
    if some:
        return int(100 * len(odd) > (100 - chosen.floor) * len(asked))
    return 1 if odd else 0


if __name__ == "__main__":
    sys.exit(main())
