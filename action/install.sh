#!/usr/bin/env bash
# Installs the cuecard of this very revision, apart from the packages of the job.
set -euo pipefail
python3 -m venv "$RUNNER_TEMP/cuecard"
"$RUNNER_TEMP/cuecard/bin/python" -m pip install --quiet --disable-pip-version-check "$GITHUB_ACTION_PATH"
printf '%s\n' "$RUNNER_TEMP/cuecard/bin" >> "$GITHUB_PATH"
