# shellcheck shell=bash
# The packaged launcher at work: check-launcher.sh LAUNCHER PROGRAM PROJECT, in an empty folder that may be written to.
set -euo pipefail
launcher=$1 program=$2 project=$3

fail() {
    printf 'launcher: %s\n' "$*" >&2
    exit 1
}

# Another program of that name on the PATH is not the one that this skill was packaged with.
mkdir decoy
printf '#!/bin/sh\necho decoy\n' >decoy/skillbench
chmod +x decoy/skillbench

run() {
    env -i PATH="$PWD/decoy:$PATH" HOME="$PWD" TMPDIR="$PWD" "$launcher" "$@"
}

[ "$(run --version)" = "$("$program" --version)" ] || fail "it does not start $program"

# A run with a regression is red, one without is green, and both have their reports.
code=0
run -C "$project" score --runs "$project/checks/golden/runs" --reports "$PWD/reports" --all >said || code=$?
cat said
[ "$code" = 1 ] || fail "exit code $code for runs of which one has a regression; expected 1"
grep -q 'release-notes .*Regression FAIL' said || fail "no red verdict of release-notes"
grep -q 'decision-record .*Efficacy PASS' said || fail "no green verdict of decision-record"
for page in release-notes decision-record index; do
    grep -q '</html>' "reports/$page.html" || fail "no page $page.html"
done
run -C "$project" score decision-record --runs "$project/checks/golden/runs" --reports "$PWD/green" >said ||
    fail "exit code $? for a green run"
