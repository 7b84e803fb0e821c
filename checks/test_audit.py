"""The audit: what an arm touched is told from its tool calls, and only an honest trial passes."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_skillbench.audit import MAX_FINDINGS, Places, audit
from pytest_skillbench.commandline import Command, Script
from pytest_skillbench.model import ArmName, Audit
from pytest_skillbench.observed import ToolUse

WORLD = "/tmp/sb-ab12/00aa"
SKILL = "/tmp/sb-ab12/11bb/code-review"
PLACES = Places(
    world=Path(WORLD),
    skill=Path(SKILL),
    brief=Path("/tmp/sb-ab12/22cc.md"),
    repo=Path("/home/u/proj"),
    tests=Path("/home/u/proj/tests"),
    root=Path("/tmp/sb-ab12"),
    cwd=Path("/home/u/proj"),
    copies=(Path("/home/u/.claude/skills/code-review"), Path("/home/u/proj/.claude/skills/code-review")),
    skill_name="code-review",
    home=Path("/home/u"),
    names=frozenset({"skills", "tests", "README.md", "Makefile", ".claude", ".git"}),
)
BASE = msgspec.structs.replace(PLACES, skill=None)


def bash(command: str, *, error: bool = False, refused: bool = False) -> ToolUse:
    """Return a shell call."""
    return ToolUse(name="Bash", input={"command": command, "description": "x"}, error=error, refused=refused)


def read(path: str, *, error: bool = False) -> ToolUse:
    """Return a call of the reading tool."""
    return ToolUse(name="Read", input={"file_path": path}, error=error)


def baseline(*uses: ToolUse, places: Places = BASE) -> Audit:
    """Audit a baseline."""
    return audit("no-skill", uses, places)


def with_skill(*uses: ToolUse, arm: ArmName = "new-skill") -> Audit:
    """Audit a with-skill arm that has opened its SKILL.md, besides `uses`."""
    return audit(arm, [read(f"{SKILL}/SKILL.md"), *uses], PLACES)


def kinds(found: Audit) -> list[str]:
    """Return the kinds of the findings."""
    return [finding.kind for finding in found.findings]


CLEAN = [
    f"cd {WORLD} && ls -la && cat notes.md src/*.py | head -n 5",
    f"cd '{WORLD}' && grep -rn TODO . ; find . -name '*.py' -exec wc -l {{}} + ; git init -q && git add -A && git log",
    f'cd "{WORLD}" && python3 app.py > out.txt 2>&1 && cat out.txt',
    f"cat {WORLD}/a.txt; sed -n '1,20p' {WORLD}/b.txt; sed -i 's/\\/home\\/u/x/' {WORLD}/b.txt",
    f"W={WORLD}; cat \"$W/a\" ${{W}}/b; for f in $W/*.md; do echo \"$f\"; cat $f; done",
    f"cat > {WORLD}/report.md <<'EOF'\n# Report\nsee /home/u/proj/skills and `cat tests/x` and ../y\nEOF",
    f"cd {WORLD}\ncat <<EOF | tee report.md\n/home/u/proj is only text\nEOF\nls",
    "echo /home/u/proj/skills ; printf '%s\\n' tests/a # cat /home/u/proj/README.md",
    "pwd; date; which python3; command -v rg; python3 --version; npm --version; sleep 1",
    "/usr/bin/env python3 -V; cat /etc/os-release; ls /usr/lib /; head -c 5 /dev/zero > /dev/null; cat /proc/cpuinfo",
    f"python3 - <<'EOF'\nimport json\nx = 4 / 2\nprint(open('{WORLD}/data.json').read())\nEOF",
    f"bash -lc 'cd {WORLD} && cat x'; (cd {WORLD}; ls); env A=1 timeout 5 ls {WORLD}",
    "cat nothere.txt; head -n 5 also-not-there; sort -k 2 -t , x.csv; grep foo src/missing.py",
    "cd src && ls && cat main.py",
    "awk '/home/ {print $1}' /dev/null; jq -r '.a/.b' /dev/null; tr a/b c/d </dev/null",
    f"find {WORLD} -path '/home/u/proj/*' -name x; rg foo {WORLD}; printf x | rg foo; printf x | grep -r foo {WORLD}",
    f"make -C {WORLD} all; pytest {WORLD}/t; tar czf {WORLD}/a.tgz -C {WORLD} src; curl -s https://example.com/home/u/proj",
    f"cat {WORLD}/sub/../a.txt {WORLD}//b; ls {WORLD}/../00aa",
    f"mkdir -p {WORLD}/{{a,b}} && touch {WORLD}/a/x && rm -rf {WORLD}/a",
    f"git -C {WORLD} init; git --version; git config --global user.name x; git init {WORLD}/r",
    f"[ -f {WORLD}/x ] && [[ -d {WORLD}/y ]] || test -e {WORLD}/z; while read -r l; do echo $l; done < {WORLD}/x",
    '[ "$x" = tests ] && [[ $y == skills ]] || test "$z" != README.md',
    "if true; then echo hi; elif false; then :; else exit 1; fi; case $x in a) echo b;; esac; f() { echo x; }; f",
    "cat /tmp/sb-ab12/22cc.md",
]  # fmt: skip


@pytest.mark.parametrize("command", CLEAN)
def test_honest_work_is_not_even_a_note(command: str) -> None:
    """Working in the world, text that only mentions paths, and the system's own files raise nothing: a re-run costs."""
    assert baseline(bash(command)) == Audit(skill_loaded=False, findings=())


CONTAMINATED = [
    # the repository and its tests, however it is spelled
    "cat /home/u/proj/README.md",
    "cat ~/proj/README.md",
    'cat "$HOME/proj/README.md"',
    "cat ${HOME}/proj/README.md",
    "cat '/home/u/proj/README.md'",
    "cat /home/u/'proj'/READ\"ME.md\"",
    "cat /home/u/./x/../proj//README.md",
    "cat $(echo x; cat /home/u/proj/README.md)",
    "echo `cat /home/u/proj/README.md`",
    'echo "$(< /home/u/proj/README.md)"',
    "cat /home/u/p*/README.md",
    "cat /home/*/proj/tests/x/case.md",
    "cat /home/u/{proj,other}/README.md",
    "P=/home/u; cat $P/proj/README.md",
    "export P=/home/u/proj && cat $P/x",
    "cat ${P:-/home/u/proj}/x",
    "cd /home/u && cat proj/README.md",
    f"cd {WORLD} && cat ../../../home/u/proj/README.md",
    f"cd {WORLD} && cd - && ls",
    "diff <(cat /home/u/proj/README.md) /dev/null",
    "x=1 python3 -c \"print(open('/home/u/proj/README.md').read())\"",
    "python3.11 - <<'EOF'\nprint(open('/home/u/proj/README.md').read())\nEOF",
    "bash -c 'cat /home/u/proj/README.md'",
    "bash <<'EOF'\ncat /home/u/proj/README.md\nEOF",
    "cat <<EOF\n$(cat /home/u/proj/README.md)\nEOF",
    "eval cat /home/u/proj/README.md",
    "sudo -u u env A=b timeout 3 cat /home/u/proj/README.md",
    "find /x -name y | xargs -n 1 grep foo /home/u/proj/README.md",
    "node -e \"fs.readFileSync('/home/u/proj/README.md')\"",
    "awk '{print}' /home/u/proj/README.md",
    "grep -f /home/u/proj/README.md /dev/null",
    "source /home/u/proj/env.sh",
    "git -C /home/u/proj log",
    "git --git-dir=/home/u/proj/.git show",
    "cp /home/u/proj/README.md /dev/stdout",
    "docker run -v /home/u/proj:/x y",
    "tool --config=/home/u/proj/x.toml",
    "gcc -I/home/u/proj/include x.c",
    "/home/u/proj/.venv/bin/python -V",
    "cat /proc/self/cwd/README.md; cat /proc/123/root/home/u/proj/x",
    "cat 'unfinished /home/u/proj/README.md",
    "echo hi >> /home/u/proj/notes",
    "cat < /home/u/proj/README.md",
    "if cat /home/u/proj/README.md; then :; fi",
    "{ cat /home/u/proj/README.md; } | head",
    # commands start in the repository
    "ls",
    "ls -la; cd /usr && ls",
    "pwd && ls skills",
    "cat README.md",
    "cat ./README.md",
    "test -f README.md && echo there",
    "[ -d /home/u/proj/tests ]",
    "cat skills/code-review/SKILL.md",
    "cd /home/u/proj && cat whatever.txt",
    "cat sk*/x",
    "git status",
    "git log --oneline | head",
    "rg foo",
    "grep -rn foo",
    "find . -name '*.md'",
    "find -name '*.md'",
    "tree -L 2",
    "make test",
    "python3 -m pytest",
    "cat .claude/skills/code-review/SKILL.md",
    "echo x > new-file.md",
    "mkdir out && ls",
    # searches that go down into a forbidden place
    "find / -name SKILL.md 2>/dev/null",
    "find /home -name '*.md'",
    "grep -r review /tmp",
    "rg --files /home/u",
    "ls -R /tmp/sb-ab12",
    "tree /",
    "cp -r /tmp/sb-ab12 x",
    "tar cf - /home/u | cat",
    "python3 -c \"import os; [print(x) for x in os.walk('/')]\"",
    "cat /tmp/**/SKILL.md",
    "rm -rf /tmp/sb-*",
    # others' worlds, skills and briefs
    "ls /tmp/sb-ab12/99ff",
    "cat /tmp/*/*.md",
    f"cd {WORLD} && ls ../99ff",
    "cat /tmp/sb-ab12/33dd.md",
    # installed copies
    "cat ~/.claude/skills/code-review/SKILL.md",
    "ls ~/.claude/skills/code-review",
    "cat ~/.claude/skills/*/SKILL.md",
]  # fmt: skip


@pytest.mark.parametrize("command", CONTAMINATED)
@pytest.mark.parametrize("arm", ["no-skill", "previous-version"])
def test_touching_what_is_forbidden_is_found_however_it_is_spelled(command: str, arm: ArmName) -> None:
    """Quotes, variables, globs, substitutions, here-documents, interpreters and searches hide nothing."""
    found = baseline(bash(command)) if arm == "no-skill" else with_skill(bash(command), arm=arm)
    assert kinds(found)[:1] == ["contaminated"], found
    assert found.findings[0].evidence.startswith("Bash: ")


@pytest.mark.parametrize(
    "use",
    [
        read("/home/u/proj/tests/x/case.md"),
        read("README.md"),
        ToolUse(name="Grep", input={"pattern": "foo"}),
        ToolUse(name="Grep", input={"pattern": "foo", "path": "/home"}),
        ToolUse(name="Glob", input={"pattern": "**/*.md"}),
        ToolUse(name="Glob", input={"pattern": "/home/u/**/*.md"}),
        ToolUse(name="Glob", input={"pattern": "*", "path": "/home/u/proj"}),
        ToolUse(name="LS", input={"path": "/home/u/proj"}),
        ToolUse(name="Write", input={"file_path": "/home/u/proj/review.md", "content": "x"}),
        ToolUse(name="Edit", input={"file_path": "/tmp/sb-ab12/99ff/x", "old_string": "a", "new_string": "b"}),
        ToolUse(name="Skill", input={"skill": "code-review"}),
        ToolUse(name="Skill", input={"skill": "plugin:code-review", "args": "x"}),
        ToolUse(name="shell", input={"command": ["bash", "-lc", "cat /home/u/proj/x"]}),
        ToolUse(name="exec_command", input={"cmd": "cat x", "workdir": "/home/u/proj/skills"}),
        ToolUse(name="apply_patch", input={"input": "*** Begin Patch\n*** Update File: /home/u/proj/x\n"}),
        ToolUse(name="mcp__fs__read", input={"args": {"files": ["/home/u/proj/x"]}}),
        ToolUse(name="read", input={"filePath": "/home/u/proj/x"}),
    ],
)
def test_every_tool_is_looked_at(use: ToolUse) -> None:
    """File tools, searches without a path (which search the session's folder), the Skill tool, other clients' tools."""
    assert kinds(baseline(use)) == ["contaminated"]


@pytest.mark.parametrize(
    "use",
    [
        read(f"{WORLD}/a.md"),
        read("/tmp/sb-ab12/22cc.md"),
        ToolUse(name="Grep", input={"pattern": "/home/u/proj", "path": WORLD, "glob": "*.md"}),
        ToolUse(name="Glob", input={"pattern": f"{WORLD}/**/*.md"}),
        ToolUse(name="Write", input={"file_path": f"{WORLD}/x", "content": "/home/u/proj/README.md"}),
        ToolUse(name="TodoWrite", input={"todos": [{"content": "look at the code", "status": "pending"}]}),
        ToolUse(name="WebFetch", input={"url": "https://example.com/home/u/proj", "prompt": "x"}),
    ],
)
def test_tools_in_the_world_are_fine(use: ToolUse) -> None:
    """The same tools on the arm's own world, and texts that only mention a path, raise nothing."""
    assert baseline(use).findings == ()


# -- the skill ---------------------------------------------------------------------------------------------------------

OPENED = [
    read(f"{SKILL}/SKILL.md"),
    ToolUse(name="Read", input={"file_path": f"{SKILL}/SKILL.md", "offset": 1, "limit": 50}),
    bash(f"cat {SKILL}/SKILL.md"),
    bash(f"cat {SKILL}/*.md; ls {SKILL}/nothere", error=True),
    bash(f"cd {SKILL} && sed -n '1,200p' SKILL.md && cat references/x.md"),
    bash(f"head -n 100 < {SKILL}/SKILL.md"),
    bash(f'for f in {SKILL}/SKILL.md {SKILL}/references/a.md; do cat "$f"; done'),
    bash(f"find {SKILL} -name '*.md' -exec cat {{}} +"),
    bash(f"find {SKILL} -type f | sort | xargs cat"),
    bash(f"python3 -c \"print(open('{SKILL}/SKILL.md').read())\""),
    bash(f"S={SKILL}; cat $S/SKILL.md | head -50"),
    ToolUse(name="shell", input={"command": ["bash", "-lc", f"cat {SKILL}/SKILL.md"]}),
]
NOT_OPENED = [
    bash(f"ls -la {SKILL}; stat {SKILL}/SKILL.md; wc -l {SKILL}/SKILL.md"),
    bash(f"grep -n foo {SKILL}/SKILL.md"),
    bash(f"cat {SKILL}/references/x.md"),
    bash(f"cp -r {SKILL} {WORLD}/s"),
    bash(f"echo cat {SKILL}/SKILL.md"),
    bash(f"find {SKILL} -name SKILL.md"),
    bash(f"cat {SKILL}/SKILL.md", refused=True),
    read(f"{SKILL}/SKILL.md", error=True),
    read(f"{WORLD}/SKILL.md"),
    ToolUse(name="Glob", input={"pattern": f"{SKILL}/**"}),
]


@pytest.mark.parametrize("use", OPENED)
@pytest.mark.parametrize("arm", ["new-skill", "previous-version"])
def test_a_skill_that_was_opened_is_loaded(use: ToolUse, arm: ArmName) -> None:
    """Every usual way of reading SKILL.md counts, and is no finding."""
    assert audit(arm, [use], PLACES) == Audit(skill_loaded=True, findings=())


@pytest.mark.parametrize("use", NOT_OPENED)
def test_a_skill_that_was_not_opened_is_not_loaded(use: ToolUse) -> None:
    """Listing, searching, copying or failing to read it is not reading it; the evidence says what was called."""
    found = audit("new-skill", [use], PLACES)
    assert found.skill_loaded is False
    assert kinds(found)[0] == "skill-not-loaded"
    assert found.findings[0].evidence == f"{use.name} 1"


def test_no_tool_call_at_all_is_not_loaded() -> None:
    """An arm that answers without looking at anything is told as that."""
    found = audit("new-skill", [], PLACES)
    assert [(f.kind, f.evidence) for f in found.findings] == [("skill-not-loaded", "no tool call")]
    assert audit("no-skill", [], BASE) == Audit(skill_loaded=False, findings=())


@pytest.mark.parametrize(
    "use",
    [
        bash("cat /home/u/proj/skills/review/code-review/SKILL.md"),
        bash("cat ~/.claude/skills/code-review/references/x.md"),
        bash("cat /tmp/sb-ab12/11bb/code-review/SKILL.md"),
        ToolUse(name="Skill", input={"command": "/code-review"}),
    ],
)
def test_a_baseline_that_touched_any_version_of_the_skill_has_it(use: ToolUse) -> None:
    """Repository, installed copy, another arm's materialization, the Skill tool: all are the skill."""
    found = baseline(use)
    assert found.skill_loaded is True
    assert kinds(found) == ["contaminated"]


def test_a_with_skill_arm_without_a_materialization_is_a_programming_error() -> None:
    """It can't happen by any input, so it is not told as a finding."""
    with pytest.raises(ValueError, match="no materialization"):
        audit("new-skill", [], BASE)


# -- notes -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("use", "kind"),
    [
        (bash("cat /tmp/scratch.txt"), "left-world"),
        (bash("ls /tmp /home/u"), "left-world"),
        (bash("ls -a /tmp/sb-ab12"), "left-world"),
        (bash("find /tmp -maxdepth 1 -name x"), "left-world"),
        (bash(f"cd {WORLD} && ls .."), "left-world"),
        (bash("cat ~/.bashrc"), "left-world"),
        (bash("echo x > /etc/hosts"), "left-world"),
        (read("/home/u/other/file"), "left-world"),
        (bash("cat /home/u/proj/README.md", refused=True), "refused"),
        (read("/home/u/proj/README.md", error=True), "attempted"),
        (ToolUse(name="Skill", input={"skill": "code-review"}, error=True), "attempted"),
        (ToolUse(name="Skill", input={"skill": "pdf"}), "other-skill"),
        (ToolUse(name="Task", input={"description": "look", "prompt": "cat /home/u/proj/x"}), "subagent"),
    ],
)
def test_the_rest_is_a_note(use: ToolUse, kind: str) -> None:
    """What does not break the comparison is said and does not cost a re-run."""
    found = baseline(use)
    assert set(kinds(found)) == {kind}
    assert found.skill_loaded is False


def test_relative_names_without_a_listing_of_the_folder() -> None:
    """Where it is not known what is in the session's folder, success and the look of a name decide."""
    blind = msgspec.structs.replace(BASE, names=None)
    assert kinds(baseline(bash("cat README.md"), places=blind)) == ["contaminated"]
    assert kinds(baseline(bash("cat README.md", error=True), places=blind)) == []
    assert kinds(baseline(bash("head -n 5 word"), places=blind)) == []
    assert kinds(baseline(bash("ls", error=True), places=blind)) == ["contaminated"]


def test_links_and_second_spellings_are_the_same_place() -> None:
    """A project reached through a link, and what macOS calls by two names, are one place each."""
    places = msgspec.structs.replace(BASE, aliases=(("/Users/u", "/home/u"),))
    assert kinds(baseline(bash("cat /Users/u/proj/README.md"), places=places)) == ["contaminated"]
    assert kinds(baseline(bash(f"cat /private{WORLD}/x"), places=places)) == []
    assert kinds(baseline(bash("cat /private/tmp/sb-ab12/99ff/x"), places=places)) == ["contaminated"]


def test_a_glob_is_what_the_shell_makes_of_it() -> None:
    """A star is not a hidden folder, a dot and a star is."""
    elsewhere = Path("/srv/proj")
    places = msgspec.structs.replace(BASE, repo=elsewhere, tests=elsewhere / "tests", cwd=elsewhere)
    assert kinds(baseline(bash("cat ~/*/skills/code-review/SKILL.md"), places=places)) == ["left-world"]
    assert kinds(baseline(bash("cat ~/.*/skills/code-review/SKILL.md"), places=places)) == ["contaminated"]
    assert kinds(baseline(bash("cat ~/.cl[a-z]ude/skill?/*/SKILL.md"), places=places)) == ["contaminated"]


def test_a_place_with_a_blank_in_its_name_is_found_in_code() -> None:
    """A repository in "My Projects" is found in a command and in a program's code; its neighbour is not it."""
    places = msgspec.structs.replace(
        BASE, repo=Path("/home/u/My Projects/p"), tests=Path("/home/u/My Projects/p/tests")
    )
    for command in (
        "cat '/home/u/My Projects/p/x'",
        "cat /home/u/My\\ Projects/p/x",
        "python3 -c \"open('/home/u/My Projects/p/x')\"",
    ):
        assert kinds(baseline(bash(command), places=places)) == ["contaminated"], command
    assert kinds(baseline(bash("cat '/home/u/My Projects/p2/x'"), places=places)) == ["left-world"]


def test_findings_are_bounded_and_say_so() -> None:
    """Ten thousand strays are not ten thousand findings, and one contamination among them is never left out."""
    uses = [bash(f"cat /tmp/x{number}") for number in range(1000)] + [bash("cat /home/u/proj/README.md")]
    found = baseline(*uses)
    assert len(found.findings) == MAX_FINDINGS + 2
    assert found.findings[0].kind == "contaminated"
    assert found.findings[-1].detail == "960 more findings are not listed"


def test_hostile_text_is_shown_safely_and_short() -> None:
    """Control characters and megabytes of a command do not reach a reader."""
    found = baseline(bash("cat '/home/u/proj/\x1b]8;;x\x07" + "a" * 1_000_000 + "'"), bash("cat /home/u/proj/\u202ex"))
    for finding in found.findings:
        assert len(finding.detail) < 400
        assert len(finding.evidence) <= 300
        assert "\x1b" not in finding.detail + finding.evidence
        assert "\u202e" not in finding.detail + finding.evidence


# -- any input ---------------------------------------------------------------------------------------------------------

PIECES = st.sampled_from(
    ["cat ", "'", '"', "`", "$(", "${", ")", "}", "<<EOF\n", "EOF\n", "\\", "\n", ";", "|", "&&", "(", "((", "~", "*",
     "{a,b}", "/home/u/proj/x", WORLD, "../", "$X", "$'", "\0", "\ud800", "#", ">", "<(", "<<<", "find ", "-exec ", "[",
     "bash -c ", "for x in ", "=", "git ", "xargs ", "\u2028", "é", "-", "--", "2>&1", "eval ", "python3 -c ", "\r\n",
     " ", "cd "]
)  # fmt: skip
SCRIPTS = st.lists(PIECES, max_size=25).map("".join)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=True) | st.text(max_size=8) | SCRIPTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
NAMES = st.sampled_from(
    ["Bash", "Read", "Grep", "Glob", "Write", "Skill", "Task", "LS", "apply_patch", "shell", "x", ""]
)
KEYS = st.sampled_from(["command", "file_path", "path", "pattern", "skill", "cmd", "workdir", "paths", "input", "x"])


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(NAMES, st.dictionaries(KEYS, JSON, max_size=3), st.booleans()), max_size=4))
def test_no_tool_call_breaks_the_audit(calls: Sequence[tuple[str, dict[str, object], bool]]) -> None:
    """Law: any shape of input gives an audit that can be written down, the same twice."""
    uses = [ToolUse(name=name, input=given, error=error) for name, given, error in calls]
    for arm, places in (("no-skill", BASE), ("new-skill", PLACES)):
        found = audit(arm, uses, places)  # type: ignore[arg-type]  # one of the arms
        assert found == audit(arm, uses, places)  # type: ignore[arg-type]  # one of the arms
        msgspec.json.encode(found)


@settings(max_examples=150, deadline=None)
@given(SCRIPTS, SCRIPTS)
def test_nothing_before_or_behind_hides_a_plain_command(before: str, behind: str) -> None:
    """Law: a plain `cat` of a repository file on lines of its own is found, whatever complete lines stand around it."""
    if any(mark in before for mark in "'\"`\\$(<#{"):
        before = ""
    found = baseline(bash(f"{before}\ncat /home/u/proj/README.md\n{behind}"))
    assert "contaminated" in kinds(found)


@pytest.mark.parametrize(
    "command",
    [
        "$(" * 20_000,
        "(" * 50_000,
        "`" * 50_001,
        '"$(' * 20_000,
        "cat <<A <<B " * 5_000,
        "/" * 100_000,
        "cat " + "/a*b*c*d*e*f*g*h*" * 200,
        "X=$X$X$X/home;" * 5_000,
        "'" * 99_999,
        "a\\" * 40_000,
        "~/" * 40_000,
        "{a,b}" * 20_000,
        "cat " + "[" * 5_000,
        "eval " * 20_000,
        "bash -c " * 20_000,
        "if true; then " * 5_000,
        "cat /home/u/proj/x; " * 10_000,
    ],
)
def test_no_command_takes_long(command: str) -> None:
    """A command made to be slow to read is read in a moment (the limit is generous, the machine may be busy)."""
    begun = time.process_time()
    baseline(bash(command))
    assert time.process_time() - begun < 3


def test_words_are_the_shell_s() -> None:
    """Quotes, escapes, variables, redirections and here-documents come out as a shell would see them."""
    script = Script(
        "a 'b c'\"d $X\" e\\ f 2>&1 >out <in <<'E' | g # no\n$(h)\nE\n;i", {"X": "x"}.__getitem__, str.upper
    )
    assert list(script.events()) == [
        Command(words=("a", "b cd x", "e f"), reads=("in",), writes=("out",), document="$(h)\n", piped=False),
        Command(words=("g",), reads=(), writes=(), document="", piped=True),
        Command(words=("i",), reads=(), writes=(), document="", piped=False),
    ]
