"""Splitting a fence into commands, held against the real `sh` and `bash`: it is what decides what a gate runs."""

from __future__ import annotations

import subprocess
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_skillbench.shell import split
from pytest_skillbench.shellwords import Shell

SHELLS = st.sampled_from(["sh", "bash"])


def accepts(shell: str, text: str) -> bool:
    """Ask the real shell whether it takes `text` for whole commands, here-documents included."""
    done = subprocess.run([shell, "-n", "-c", text], capture_output=True, text=True, timeout=30, check=False)
    return done.returncode == 0 and "here-document" not in done.stderr


def commands(text: str, shell: Shell = "sh") -> list[str]:
    """Split a script that is right."""
    got, error = split(text, shell)
    assert error is None, error
    return [command.text for command in got]


BOTH = [
    "test -f x",
    "a; b",
    "a && b || c",
    "a &&\n\n# why\n b",
    "a |\nb",
    'echo \'it\nis\' "so\n\\"it" is',
    "echo a\\\n b",
    'echo "$(a\nb)" `c\nd` ${x:-\n}',
    'echo "${x#\'}\'}" "${x%"}"}" ${x##*/} ${#x} $# $((1 + (2 * 3))) a#b # c \' "',
    "if a\nthen b\nelif c; then d\nelse e\nfi",
    "for x in a b\ndo c\ndone",
    "for x\nin a\ndo c; done",
    "for x do c; done",
    'while read -r x; do echo "$x"; done <<E\nx\nE',
    "until a\ndo b\ndone > fi",
    "case $x in a) b ;; (c|d)\n e\n ;;\nesac",
    "case $x\nin esac",
    "echo $(case x in a) b;; esac)",
    "{ a\nb\n} | c",
    "( a\nb )",
    "( ( a ) )",
    "f() {\na\n}",
    "f()\n\n(a)",
    "! a | b",
    "cat <<E\n) ' \"\nE",
    "cat <<-'E F' > x\n\ta\n\tE F",
    'cat <<A <<"B"\na\nA\nb\\\nB',
    "cat <<E\nfoo\\\nE\nE",
    "x=$(cat <<E\n)\nE\n)",
    "a & b",
    "2>&1 a 3>x >&2 <&- <>y >|z",
    "x=1 if",
    "echo if then fi { }",
    "echo 'if' \\if; \\if",
    "[ a = b ] || exit 1",
    "if { a; } then b; fi",
]
BASH = [
    "[[ a =~ ^(b|c)$ &&\n ( -f x || a < b ) ]]",
    "x=(a b # ) \n c)",
    "x+=( $(a\nb) ); y[1]=2",
    "diff <(a\nb) >(c)",
    "(( x < 2 || (y) ))",
    "for ((i = 0; i < 2; i++))\ndo a; done",
    "select x in a\ndo b; done",
    "function f {\na\n}",
    "function f()\n{ a; }",
    "echo $'it\\'s \n' $\"a\nb\"",
    "a |&\nb &>> c",
    "case x in a) b ;& c) d ;;& esac",
    'cat <<< "a\nb"',
    "echo $(( 1 << 2 )) $((a); (b))",
    "time {\na\n}",
    "echo \"${x:-'}'}\"",
]


@pytest.mark.parametrize("text", BOTH)
@pytest.mark.parametrize("shell", ["sh", "bash"])
def test_one_command_in_either_shell(text: str, shell: Shell) -> None:
    """Each of these is one command, the shell agrees that it is whole, and what stands around it stays apart."""
    assert accepts(shell, text), "the example itself is wrong"
    assert commands(f"before\n\n{text}\n# after\nend", shell) == ["before", text, "end"]


@pytest.mark.parametrize("text", BASH)
def test_one_command_in_bash(text: str) -> None:
    """The same for what only bash knows."""
    assert accepts("bash", text), "the example itself is wrong"
    assert commands(f"before\n{text}\nend", "bash") == ["before", text, "end"]


@pytest.mark.parametrize("text", [*BOTH, *BASH])
def test_a_command_cut_short_is_never_taken_for_whole(text: str) -> None:
    """Every first part of a command that the real shell calls incomplete is an error here, never fewer commands."""
    lines = text.split("\n")
    for count in range(1, len(lines)):
        part = "\n".join(lines[:count])
        if not accepts("bash", part):
            assert split(part, "bash")[1] is not None, part


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("a\nif b; then\nc", 1, "no fi for it"),
        ("while a; do b", 0, "no done for it"),
        ("case x in a) b", 0, "no esac for it"),
        ("{ a;", 0, "no } for it"),
        ("(a", 0, "no ) for it"),
        ("f()", 0, "nothing after the head of a function"),
        ("a &&\n\n", 0, "nothing after &&"),
        ("a\n| b", 1, "can't begin with |"),
        ("echo $(a", 0, "no ) for a substitution"),
        ('a\necho "b\n\n', 1, 'a " is never closed'),
        ("echo 'b", 0, "a ' is never closed"),
        ("echo `b", 0, "a ` is never closed"),
        ("echo ${b", 0, "a ${ is never closed"),
        ("cat <<E\nx\n E", 0, "no line E"),
        ("cat <<E", 0, "no line E"),
        ("x=$(cat <<E)\nx\nE", 0, "no line E"),
        ("fi", 0, "fi closes nothing"),
        ("a; )", 0, ") closes nothing"),
        ("if a; done", 0, "done closes nothing"),
        ("then a", 0, "then belongs to nothing"),
        ("a && ; b", 0, "nothing between && and ;"),
        ("a ;; b", 0, ";; outside a case"),
        ("echo $'a\\'b'", 0, "a bash fence is needed"),
        ("for x y", 0, "for without in or do"),
        ("case x y", 0, "case without in"),
        ("a b (c)", 0, "a ( in the middle of a command"),
        ("a >", 0, "nothing after >"),
        ("cat <<E $(a\nE\n)", 0, "begin on one line"),
    ],
)
def test_what_is_not_complete_names_its_line(text: str, line: int, says: str) -> None:
    """The author is sent to the line where the command begins that never ends, or to what closes nothing."""
    got, error = split(text, "sh")
    assert error is not None
    assert (error.line, says in error.what) == (line, True), error.what
    assert all(command.line < line for command in got)


def test_titles() -> None:
    """The comment on the line directly above is the title; a shebang, a distant or a trailing comment is none."""
    got, _ = split("#!/bin/sh\na\n# one\n# two\nb # no\nc\n# far\n\nd\n##\ne\n  #  in  #\n  f", "sh")
    assert [(c.text, c.title) for c in got] == [
        ("a", None),
        ("b # no", "two"),
        ("c", None),
        ("d", None),
        ("e", None),
        ("f", "in"),
    ]


WORD = st.sampled_from(
    ["a", "'b\nc'", '"d\n$x"', "\\#e", "${y:-'z'}", "$((1+2))", "f#g", '"$(h\ni)"', "`j`", "\\\n k", "fi", "}", "'<<E'"]
)
SIMPLE = st.lists(WORD, min_size=1, max_size=3).map(lambda words: " ".join(["run", *words]))
END = st.sampled_from([";", "\n", "\n# c '\n", ' # d "\n'])


def compound(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Wrap commands in every kind of compound command."""
    two = st.tuples(inner, END, inner, END)
    return st.one_of(
        two.map(lambda t: f"if {t[0]}{t[1]}then {t[2]}{t[3]}fi"),
        two.map(lambda t: f"while {t[0]}{t[1]}do {t[2]}{t[3]}done"),
        two.map(lambda t: f"for x in a\ndo\n{t[0]}{t[1]}{t[2]}{t[3]}done"),
        two.map(lambda t: f"case x in\n(a|b) {t[0]}\n;;\n*)\n{t[2]}\n\nesac"),
        two.map(lambda t: f"{{ {t[0]}{t[1]}{t[2]}{t[3]}}} >x"),
        two.map(lambda t: f"( {t[0]}{t[1]}{t[2]}\n)"),
        st.tuples(inner, st.sampled_from(["&&", "||", "|"]), inner).map(lambda t: f"{t[0]} {t[1]} # e\n{t[2]}"),
        inner.map(lambda text: f"run $({text}\n)"),
        inner.map(lambda text: f"run <<'E' <<-F\n{text} if (\nE\n\t\\$(\n\tF"),
    )


COMMAND = st.recursive(SIMPLE, compound, max_leaves=5)


@settings(max_examples=150, deadline=None)
@given(st.lists(COMMAND, min_size=1, max_size=3), SHELLS)
def test_generated_commands_come_apart_where_they_were_joined(parts: list[str], shell: Shell) -> None:
    """Whatever is nested in whatever: where the real shell accepts each part, the parts come back as they went in."""
    # bash is asked as well: dash does not mind a here-document that never ends.
    whole = [part for part in parts if accepts("bash", part) and accepts(shell, part)]
    assert commands("\n\n".join(whole), shell) == whole


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.sampled_from([*"'\"`\\$(){}#;&|<>\n aE=!", "if ", "then ", "fi\n", "case ", "esac", "<<E\n", "$((", "do "])
    ).map("".join),
    SHELLS,
)
def test_any_text_is_split_or_refused(text: str, shell: Shell) -> None:
    """No text crashes the reader; its commands are in the text, in order, and whole where the shell takes the text."""
    got, error = split(text, shell)
    at = 0
    for command in got:
        at = text.index(command.text, at) + len(command.text)
    if error is None and accepts(shell, text):
        for command in got:
            assert accepts(shell, command.text), command.text


@pytest.mark.parametrize(
    "text",
    [
        "$((" * 3000,
        "$(" * 3000,
        "((" * 3000,
        "((" * 3000 + "))",
        '"$(' * 3000,
        "if a; then\n" * 20000,
        "${" * 3000,
        "a=(" * 3000,
        "a\n" * 30000,
    ],
)
def test_hostile_nesting_ends(text: str) -> None:
    """Backtracking is bounded and recursion is an error, not a crash."""
    begun = time.perf_counter()
    got, error = split(text, "bash")
    assert (error is None) == (text == "a\n" * 30000)
    assert time.perf_counter() - begun < 20  # a hang, not a speed
    assert len(got) in (0, 30000)
