# shellcheck shell=bash
# What the home module places: check-home-module.sh BENCHMARK-SKILL PATH=SOURCE… -- NAME=DRV…, the files that it declares
# and the skills that it was given. Places them in the folder it is started in, as Home Manager does, and looks.
set -euo pipefail
benchmark=$1
shift

fail() {
    printf 'home-module: %s\n' "$*" >&2
    exit 1
}

until [ "$1" = -- ]; do
    [ ! -e "${1%%=*}" ] || fail "${1%%=*} is placed twice"
    mkdir -p "$(dirname "${1%%=*}")"
    ln -s "${1#*=}" "${1%%=*}"
    shift
done
shift

for folder in .agents/skills .claude/skills; do
    for skill in "$@"; do
        place=$folder/${skill%%=*}
        [ -L "$place" ] && [ "$(readlink "$place")" = "${skill#*=}" ] || fail "$place does not lead to ${skill#*=}"
        [ -s "$place/SKILL.md" ] || fail "$place has no SKILL.md"
    done
    [ "$(find "$folder" -mindepth 1 | wc -l)" = $# ] || fail "$folder holds $(ls -A "$folder"); expected $*"
done
[ -x .claude/skills/benchmark-skill/scripts/skillbench ] || fail "the launcher can't be executed"
# Its subagents, and nothing else that lies beside them.
agents=0
for agent in "$benchmark"/agents/*.md; do
    cmp ".claude/agents/${agent##*/}" "$agent" || fail "the agent ${agent##*/} is not placed"
    agents=$((agents + 1))
done
[ "$agents" -ge 2 ] || fail "the skill has $agents agents; expected those of an arm and a judge"
[ "$(find .claude/agents -mindepth 1 | wc -l)" = "$agents" ] || fail ".claude/agents also holds $(ls -A .claude/agents)"
[ "$(ls -A | tr '\n' ' ')" = '.agents .claude ' ] || fail "it also places $(ls -A)"
