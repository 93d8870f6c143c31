#!/usr/bin/env bash
# Installs the cuecard of this very revision, apart from the packages of the job. What it needs comes with hashes.
set -euo pipefail
python3 -m venv "$RUNNER_TEMP/cuecard"
install=("$RUNNER_TEMP/cuecard/bin/python" -m pip install --quiet --disable-pip-version-check)
"${install[@]}" --only-binary :all: --require-hashes --requirement "$GITHUB_ACTION_PATH/requirements/action.lock"
"${install[@]}" --no-index --no-deps --no-build-isolation "$GITHUB_ACTION_PATH"
printf '%s\n' "$RUNNER_TEMP/cuecard/bin" >> "$GITHUB_PATH"
