# shellcheck shell=bash
# The produced hook at work: check-shell-hook.sh HOOK-ALL HOOK-ONE HOOK-NONE BENCHMARK-SKILL RELEASE-NOTES, each hook a
# file of shellHook text and each skill the store path of its package. Makes projects in the folder it is started in.
set -euo pipefail
all=$1 one=$2 none=$3 benchmark=$4 notes=$5
top=$PWD

fail() {
    printf 'shell-hook: %s: %s\n' "${PWD#"$top"/}" "$*" >&2
    exit 1
}

# Enters a shell with this hook: its text runs in a shell of its own, what it says goes to the file `said` above.
enter() {
    bash -eu -c "$(cat "$1")" 2>"$top/said" || fail "the hook ends with $?"
    cat "$top/said"
}

project() { # NAME
    mkdir -p "$top/$1"
    cd "$top/$1"
    git init -q .
}

state() {
    find . -path ./.git -prune -o -printf '%p %y %l %T@\n' | sort
    cat .gitignore
}

leads() { # LINK TARGET
    [ "$(readlink "$1")" = "$2" ] || fail "$1 leads to \"$(readlink "$1")\"; expected $2"
}

says() { # TEXT
    grep -qF -- "$1" "$top/said" || fail "it does not say \"$1\""
}

is_silent() {
    [ ! -s "$top/said" ] || fail "it says something about a project where all is well"
}

# A project with nothing yet, a space in its path, entered from below. Everything is linked, readable and ignored.
project 'a project'
printf 'node_modules/' >.gitignore
mkdir below
(cd below && enter "$all")
is_silent
leads .agents/skills/benchmark-skill "$benchmark"
leads .claude/skills ../.agents/skills
leads .claude/agents ../.agents/agents
cmp .claude/skills/release-notes/SKILL.md "$notes/SKILL.md"
cmp .claude/agents/skillbench-arm.md "$benchmark/agents/skillbench-arm.md"
[ -x .claude/skills/benchmark-skill/scripts/skillbench ] || fail "the launcher can't be executed"
[ ! -e .claude/agents/openai.yaml ] || fail "a file that is no agent of Claude Code is in .claude/agents"
[ "$(git status --porcelain)" = '?? .gitignore' ] || fail "git sees $(git status --porcelain)"
[ "$(head -n 1 .gitignore)" = node_modules/ ] || fail "the first line of .gitignore has changed"
[ "$(grep -c '^# BEGIN agent skills' .gitignore).$(grep -c '^# END agent skills' .gitignore)" = 1.1 ] || fail "no one block"

# The second time nothing changes, not even a time of change.
before=$(state)
enter "$all"
is_silent
[ "$(state)" = "$before" ] || fail "the second run changes something"

# Skills that are no longer asked for go, with what belonged to them.
enter "$one"
leads .agents/skills/release-notes "$notes"
[ ! -e .agents/skills/benchmark-skill ] && [ ! -e .claude/agents ] && [ ! -e .agents/agents ] || fail "dropped skills stay"
enter "$none"
[ "$(ls -A | tr '\n' ' ')" = '.git .gitignore below ' ] || fail "an empty list leaves $(ls -A)"
[ "$(cat .gitignore)" = node_modules/ ] || fail "an empty list leaves a block in .gitignore"

# What the project has of its own is kept and told.
project theirs
mkdir -p .claude/skills/mine .agents/skills
echo mine >.claude/skills/mine/SKILL.md
echo file >.agents/skills/release-notes
enter "$all"
says '.agents/skills/release-notes is there already'
says '.claude/skills is a folder of the project'
[ "$(cat .agents/skills/release-notes)" = file ] || fail "a file of the project is overwritten"
[ "$(cat .claude/skills/mine/SKILL.md)" = mine ] || fail "a skill of the project is overwritten"
leads .claude/skills/benchmark-skill "$benchmark"
before=$(state)
enter "$all"
says '.agents/skills/release-notes is there already'
[ "$(state)" = "$before" ] || fail "the second run changes something"

# A block that can't be read is left alone and told.
project torn
printf '# BEGIN agent skills\n/dist\n' >.gitignore
enter "$all"
says 'a BEGIN mark without its END'
[ "$(cat .gitignore)" = "$(printf '# BEGIN agent skills\n/dist')" ] || fail "a torn block is changed"
