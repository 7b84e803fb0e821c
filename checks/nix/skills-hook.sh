# shellcheck shell=bash
# Links skills of the Nix store into the project whose shell is entered: skills-hook.sh STORE [NAME DRV]…
#
#   .agents/skills/NAME      -> DRV
#   .agents/agents/FILE.md   -> DRV/agents/FILE.md     for skills that bring subagents
#   .claude/skills           -> ../.agents/skills      where it is a folder already: a link for each skill inside it
#   .claude/agents           -> ../.agents/agents      the same
#
# A block of the project's .gitignore lists these links, and that is the record of what is ours. Ours is a path that is
# listed there and is a link into the store, or to .agents. Nothing else is ever changed or removed: what is in the way
# is left alone and told. Skills that are no longer asked for are unlinked. The second run changes nothing.
set -u
export LC_ALL=C

begin='# BEGIN agent skills'
begin_line="$begin (linked by the Nix shell; what stands between these marks is remade)"
end='# END agent skills'
ignore=.gitignore

store=$1
shift
kept=()   # the links that are as they should be
listed=() # what the block lists so far

say() {
    printf 'skills: %s\n' "$*" >&2
}

contains() { # WORD LIST…
    local word=$1 one
    shift
    for one in "$@"; do
        [ "$one" = "$word" ] && return 0
    done
    return 1
}

# Goes to the top of the repository, else stays. A home folder under version control is not the project of what is in it.
enter_project() {
    local here folder
    here=$(pwd -P) && folder=$here || return 1
    until [ -e "${folder%/}/.git" ]; do
        if [ -z "$folder" ] || [ "$folder" = / ]; then
            folder=$here
            break
        fi
        folder=${folder%/*}
    done
    if [ "$folder" != "$here" ] && [ "${folder:-/}" -ef "${HOME:-/}" ]; then
        folder=$here
    fi
    root=${folder:-/}
    cd -- "$root" || return 1
}

# --- .gitignore: reading ---

# Reads it into before, after and listed; content: all of it; has_block: there is one; line_end: how its lines end;
# broken: why it is left alone.
read_ignore() {
    local line bare state=before newline=$'\n'
    before='' after='' content='' has_block='' line_end=$'\n' broken=''
    if [ ! -e "$ignore" ] && [ ! -L "$ignore" ]; then
        return
    fi
    if [ -L "$ignore" ] || [ ! -f "$ignore" ]; then
        broken='is not a plain file'
        return
    fi
    { content=$(cat -- "$ignore" && printf x); } 2>/dev/null # x: the shell drops line ends at the end
    content=${content%x}
    if [ ${#content} != "$(($(wc -c <"$ignore" || echo -1)))" ]; then
        broken="can't be read as text"
        return
    fi
    while IFS= read -r line || { newline='' && [ -n "$line" ]; }; do
        bare=${line%$'\r'}
        [ "$bare" = "$line" ] || line_end=$'\r\n'
        case $state:$bare in
        before:"$begin"*) state=inside has_block=1 ;;
        inside:"$end"*) state=after ;;
        *:"$begin"*) broken=${broken:-has a second BEGIN mark} ;;
        *:"$end"*) broken=${broken:-has an END mark without its BEGIN} ;;
        inside:*) listed+=("$bare") ;;
        before:*) before+=$line$newline ;;
        after:*) after+=$line$newline ;;
        esac
    done <"$ignore"
    if [ "$state" = inside ] && [ -z "$broken" ]; then
        broken='has a BEGIN mark without its END'
    fi
    if [ -n "$broken" ]; then
        listed=()
    fi
}

# --- links ---

# Is the link at $1 ours, by the record and by where it leads?
is_ours() {
    local target
    contains "/$1" ${listed[@]+"${listed[@]}"} && [ -L "$1" ] || return 1
    target=$(readlink -- "$1") || return 1
    case $target in
    "$store"/* | ../.agents/skills | ../.agents/agents) return 0 ;;
    esac
    return 1
}

# Sets `place` to where folder $1 really is below the root, and makes it; fails, with a word, where it can't be used.
open_folder() {
    if [ ! -d "$1" ] && { [ -e "$1" ] || [ -L "$1" ]; }; then
        say "$1 is there already and no folder: left alone, nothing is linked in it"
        return 1
    fi
    if ! mkdir -p -- "$1" 2>/dev/null || ! place=$(cd -P -- "$1" && pwd -P); then
        say "$1 can't be made: nothing is linked in it"
        return 1
    fi
    case $place in
    "${root%/}"/*) place=${place#"${root%/}"/} ;;
    *)
        say "$1 leads out of the project, to $place: left alone, nothing is linked in it"
        return 1
        ;;
    esac
}

# Makes path $1 a link to $2, unless what is there is not ours. Sets `made` where it was not so before.
link() {
    local path=$1 target=$2 now
    made=''
    if [ -L "$path" ]; then
        now=$(readlink -- "$path")
        if [ "$now" = "$target" ]; then
            :
        elif contains "/$path" ${kept[@]+"${kept[@]}"}; then
            say "$path: two skills bring it; the first has it, $target is not linked"
            return 1
        elif ! is_ours "$path"; then
            say "$path is a link to $now that was not made here: left alone (remove it to have $target)"
            return 1
        fi
    elif [ -e "$path" ]; then
        say "$path is there already and was not made here: left alone (move it to have $target)"
        return 1
    fi
    if [ ! -L "$path" ] || [ "$now" != "$target" ]; then
        if ! ln -sfn -- "$target" "$path"; then
            say "$path can't be linked"
            return 1
        fi
        made=1
    fi
    contains "/$path" ${kept[@]+"${kept[@]}"} || kept+=("/$path")
}

# Shows NAMES, links in folder PLACE, also in .claude/KIND: by one link, or, where that is a folder already, inside it.
show_claude() { # KIND PLACE NAMES…
    local kind=$1 from=$2 theirs=.claude/$1 name any=''
    shift 2
    if is_ours "$theirs" || { [ ! -e "$theirs" ] && [ ! -L "$theirs" ] && [ ! -L .claude ]; }; then
        open_folder .claude && link "$theirs" "../.agents/$kind"
    elif [ "$theirs" -ef ".agents/$kind" ]; then
        : # one folder, by the project's own arrangement
    elif [ -d "$theirs" ] || { [ -L .claude ] && [ ! -e "$theirs" ]; }; then
        open_folder "$theirs" || return
        theirs=$place
        for name in "$@"; do
            if link "$theirs/$name" "$(readlink -- "$from/$name")" && [ -n "$made" ]; then
                any=1
            fi
        done
        if [ -n "$any" ]; then
            say ".claude/$kind is a folder of the project: kept as it is, with links inside it for $*"
        fi
    else
        link "$theirs" "../.agents/$kind"
    fi
}

place_skills() { # [NAME DRV]…
    local name drv file skills=() agents=() skills_place='' agents_place=''
    while [ $# -ge 2 ]; do
        name=$1 drv=$2
        shift 2
        if [ ! -f "$drv/SKILL.md" ]; then
            say "$name: no SKILL.md in $drv: not linked"
            continue
        fi
        if [ -z "$skills_place" ]; then
            open_folder .agents/skills || return
            skills_place=$place
        fi
        link "$skills_place/$name" "$drv" && skills+=("$name")
        for file in "$drv"/agents/*.md; do
            [ -f "$file" ] || continue
            if [[ ! ${file##*/} =~ ^[A-Za-z0-9_][A-Za-z0-9\ ._-]*$ ]]; then
                say "$file: expected a name of letters, digits and hyphens: not linked"
                continue
            fi
            if [ -z "$agents_place" ]; then
                open_folder .agents/agents || break
                agents_place=$place
            fi
            link "$agents_place/${file##*/}" "$file" && agents+=("${file##*/}")
        done
    done
    if [ ${#skills[@]} -gt 0 ]; then
        show_claude skills "$skills_place" "${skills[@]}"
    fi
    if [ ${#agents[@]} -gt 0 ]; then
        show_claude agents "$agents_place" "${agents[@]}"
    fi
}

# Unlinks what the block lists, is ours and was not asked for any more, and the folders that this leaves empty.
drop_rest() {
    local entry path folder real
    for entry in ${listed[@]+"${listed[@]}"}; do
        path=${entry#/}
        if contains "$entry" ${kept[@]+"${kept[@]}"} || ! is_ours "$path"; then
            continue
        fi
        folder=${path%/*}
        # Through a link it is another path, which may be one of those just made.
        real=$(cd -P -- "$folder" 2>/dev/null && pwd -P)
        if [ "$real" != "${root%/}/$folder" ]; then
            continue
        fi
        if rm -f -- "$path"; then
            rmdir -- "$folder" "${folder%/*}" 2>/dev/null
        else
            say "$path can't be removed"
            kept+=("$entry")
        fi
    done
}

# --- .gitignore: writing ---

write_ignore() {
    local entry block='' new temporary
    if [ ${#kept[@]} -gt 0 ]; then
        block=$begin_line$line_end
        for entry in "${kept[@]}"; do
            block+=$entry$line_end
        done
        block+=$end$line_end
    fi
    if [ -n "$block" ] && [ -n "$before" ] && [ "${before%$'\n'}" = "$before" ]; then
        before+=$line_end
    fi
    new=$before$block$after
    if [ -z "$new" ] && [ -n "$has_block" ]; then
        rm -f -- "$ignore"
        return
    fi
    if [ "$new" = "$content" ]; then
        return
    fi
    if temporary=$(mktemp "$ignore.XXXXXX" 2>/dev/null); then
        if [ -e "$ignore" ]; then
            cp -p -- "$ignore" "$temporary" # for its permissions
        else
            chmod "$(printf '%o' $((0666 & ~$(umask))))" "$temporary"
        fi && printf '%s' "$new" >"$temporary" && mv -f -- "$temporary" "$ignore" && return
        rm -f -- "$temporary"
    fi
    say "$root/$ignore can't be written: the links are not listed in it"
}

enter_project || exit 1
read_ignore
if [ -n "$broken" ]; then
    say "$root/$ignore $broken: left alone. Mend it, so that the links can be listed in it and kept up to date"
fi
place_skills "$@"
if [ -z "$broken" ]; then
    drop_rest
    write_ignore
fi
