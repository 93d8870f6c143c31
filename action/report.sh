#!/usr/bin/env bash
# Checks and tests the agent, compares it with the base, and writes the report. What is wrong is an output, not the exit.
set -euo pipefail

case "$CUECARD_FAIL_ON" in
  error) strict=() ;;
  warning) strict=(--strict) ;;
  never) strict=() ;;
  *) echo "::error title=cuecard::fail-on is error, warning or never"; exit 2 ;;
esac

turns=()
while IFS= read -r line; do
  [[ -z "$line" ]] || turns+=("$line")
done <<< "$CUECARD_TURNS"
folder=$CUECARD_AGENT
[[ -d "$folder" ]] || folder=$(dirname -- "$CUECARD_AGENT")
if [[ ${#turns[@]} -eq 0 && -d "$folder/turns" ]]; then
  turns=("$folder/turns")
fi

failed=0
checked=passed
cuecard check --format github "${strict[@]}" -- "$CUECARD_AGENT" || { checked=failed; failed=1; }
tested="no turns"
if [[ ${#turns[@]} -gt 0 ]]; then
  tested=passed
  cuecard test --format github -- "$CUECARD_AGENT" "${turns[@]}" || { tested=failed; failed=1; }
fi

# The commit that a pull request is tried as has the base as its first parent, also in a clone of depth 1.
base=$CUECARD_BASE
if [[ -z "$base" && -n "${GITHUB_EVENT_PATH:-}" ]]; then
  known=$(python3 -c 'if True:
    import json, os
    pull = json.load(open(os.environ["GITHUB_EVENT_PATH"], encoding="utf-8")).get("pull_request") or {}
    print(pull.get("base", {}).get("sha", ""), pull.get("head", {}).get("sha", ""))')
  read -r base head <<< "$known" || true
  parents=$(git cat-file -p HEAD | awk '/^$/ {exit} /^parent / {print $2}' | tr '\n' ' ')
  if [[ -n "$head" && "$parents" == *" $head " ]]; then
    base=${parents%% *}
  fi
fi

report=$RUNNER_TEMP/cuecard-report.md
mark=$(printf '%s' "$CUECARD_AGENT" | sha256sum | cut -c 1-16)
printf '<!-- cuecard %s -->\n### Prompts\n\ncheck: %s, test: %s\n\n' "$mark" "$checked" "$tested" > "$report"
if [[ -n "$base" ]]; then
  git cat-file -e "$base^{commit}" 2> /dev/null || git fetch --quiet --no-tags --depth=1 -- origin "$base" || true
  options=()
  [[ -z "$CUECARD_MODEL" ]] || options+=("--model=$CUECARD_MODEL")
  [[ -z "$CUECARD_PRICE" ]] || options+=("--price=$CUECARD_PRICE")
  for turn in "${turns[@]}"; do options+=("--turn=$turn"); done
  cuecard diff --format markdown "${options[@]}" -- "$base:./$CUECARD_AGENT" "$CUECARD_AGENT" >> "$report" ||
    echo "Not every prompt can be compared; the job's log says why." >> "$report"
fi
cat "$report" >> "$GITHUB_STEP_SUMMARY"

[[ "$CUECARD_FAIL_ON" != never ]] || failed=0
printf 'report=%s\nfailed=%s\n' "$report" "$failed" >> "$GITHUB_OUTPUT"
