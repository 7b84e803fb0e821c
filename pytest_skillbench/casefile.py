"""``case.md`` -> `Case`, with every problem of the file and its line.

Core: bytes in, a record or a CaseError out. FORMATS section 1 is the specification; `sections` reads the Markdown,
`yamlread` the front matter, `shell` the fences. The one parser of a case: check, run and report all come through here.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from .digest import case_digest
from .errors import CaseError, Problem
from .expectations import assertions, criteria
from .model import Case, SectionLines, SeedTurn
from .sections import NAMES, Outline, Section, covered, is_comment, line_of, outline, top_level
from .yamlread import Source, items_of, mapping, text_of

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f]")
_KEYS = ("description", "tags")
_SECTION_IN_FRONT_MATTER = re.compile(rf"##[ \t]*({'|'.join(NAMES)})\b", re.IGNORECASE)
_TURN = re.compile(r"\*\*(User|Assistant|System):\*\*[ \t]*")
_NEAR_TURN = re.compile(r"[ \t]{0,3}\*\*[ \t]*(user|assistant|system)[ \t]*:?[ \t]*\*\*[ \t]*:?", re.IGNORECASE)
_MOST_LINES = 20


def parse(data: bytes, path: str) -> Case:
    """Return the case that `data` spells; `path` is its name in messages.

    CRLF, CR and a byte-order mark mean the same case, with the same `sha256`. Raises CaseError with all problems.
    """
    problems: list[Problem] = []
    text = _decode(data, path, problems)
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    description, tags, body = _front_matter(lines, path, problems)
    found = outline("\n" * body + "".join(f"{line}\n" for line in lines[body:]), path)
    problems += found.problems
    _before(found, path, problems)
    prompt = _prompt(found, lines, path, problems)
    turns = _seed(found, lines, path, problems)
    hard = assertions(found.sections.get("hard assertions"), path, problems)
    soft = criteria(found.sections.get("soft criteria"), lines, path, problems)
    if problems:
        raise CaseError(*problems)
    return Case(
        description=description,
        tags=tags,
        prompt=prompt,
        seed_turns=turns,
        assertions=hard,
        criteria=soft,
        lines=_section_lines(found.sections),
        sha256=case_digest(data),
    )


def _section_lines(sections: dict[str, Section]) -> SectionLines:
    seed, hard = sections.get("seed"), sections.get("hard assertions")
    return SectionLines(
        prompt=sections["prompt"].heading,
        seed=seed.heading if seed else None,
        assertions=hard.heading if hard else None,
        criteria=sections["soft criteria"].heading,
    )


def _decode(data: bytes, path: str, problems: list[Problem]) -> str:
    """Return the text with LF line ends; what is not UTF-8 or a control character is a problem and stands as U+FFFD."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise CaseError(Problem(path=path, slug="case-utf8", what="UTF-16", line=1, expected="UTF-8"))
    raw = data.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        for number, line in enumerate(raw.split(b"\n"), 1):
            try:
                line.decode()
            except UnicodeDecodeError as error:
                what = f"byte 0x{line[error.start]:02x} is not UTF-8"
                problems.append(Problem(path=path, slug="case-utf8", what=what, line=number, expected="text in UTF-8"))
        text = raw.decode(errors="replace")
    if _CONTROL.search(text):
        for number, row in enumerate(text.split("\n"), 1):
            if match := _CONTROL.search(row):
                what = f"control character U+{ord(match.group()):04X}"
                problems.append(Problem(path=path, slug="case-control", what=what, line=number, expected="none"))
        text = _CONTROL.sub("\ufffd", text)
    if len(problems) > _MOST_LINES:
        raise CaseError(*problems[:_MOST_LINES])  # not a text at all: the rest of the file says nothing
    return text


def _front_matter(lines: Sequence[str], path: str, problems: list[Problem]) -> tuple[str, tuple[str, ...], int]:
    """Return description, tags and the number of lines that the front matter takes."""
    expected = "---, a line description: …, and --- again"
    if not lines or lines[0].rstrip() != "---":
        what = "no front matter on the first line"
        problems.append(Problem(path=path, slug="case-front-matter", what=what, line=1, expected=expected))
        return "", (), 0
    end = next((i for i in range(1, len(lines)) if lines[i].rstrip(" \t") == "---"), None)
    early = next((i for i in range(1, end or len(lines)) if _SECTION_IN_FRONT_MATTER.match(lines[i])), None)
    if end is None or early is not None:
        what = "the front matter is never closed" if early is None else "the front matter is not closed before line "
        what += "" if early is None else f"{early + 1}"
        problems.append(Problem(path=path, slug="case-front-matter", what=what, line=1, expected="a line ---"))
        return "", (), early if early is not None else len(lines)
    source = Source(text="\n".join(lines[1:end]) + "\n", path=path, slug="case-front-matter", first_line=2)
    fields, found = mapping(source, _KEYS, "the front matter")
    description: str | Problem = ""
    if "description" in fields:
        description = text_of(source, fields["description"].node, "description")
    elif not any(problem.slug.endswith(("yaml", "mapping")) for problem in found):
        description = source.problem(1, "no description", "a line description: … in the front matter", kind="missing")
    if isinstance(description, Problem):
        found.append(description)
        description = ""
    tags = _tags(source, fields["tags"].node, found) if "tags" in fields else ()
    problems += found
    return description, tags, end + 1


def _tags(source: Source, node: object, problems: list[Problem]) -> tuple[str, ...]:
    items = items_of(source, node, "tags")
    if isinstance(items, Problem):
        problems.append(items)
        return ()
    tags: list[str] = []
    for item in items:
        tag = text_of(source, item, "a tag")
        if isinstance(tag, Problem):
            problems.append(tag)
        elif tag in tags:
            line = source.line(item.start_mark.index)
            problems.append(source.problem(line, f'tag "{tag}" is there twice', "it once"))
        else:
            tags.append(tag)
    return tuple(tags)


def _before(found: Outline, path: str, problems: list[Problem]) -> None:
    """Report text that belongs to no section, and sections that are not there."""
    for token in top_level(found.before):
        if is_comment(token):
            continue
        if token.type == "heading_open" and token.tag == "h1":
            continue  # a title
        what = "text before the first section"
        problems.append(
            Problem(path=path, slug="case-stray-text", what=what, line=line_of(token), expected="it under a ## heading")
        )
        break
    if not found.whole:
        return  # what swallowed the rest of the file may have swallowed the section
    for name in ("prompt", "soft criteria"):
        if name not in found.sections:
            what = f'no section "{NAMES[name]}"'
            expected = f"a line ## {NAMES[name]}"
            problems.append(Problem(path=path, slug="case-missing-section", what=what, line=1, expected=expected))


def _trim(lines: Sequence[str]) -> str:
    """Return lines joined, without the blank ones at both ends."""
    filled = [i for i, line in enumerate(lines) if line.strip(" \t")]
    return "\n".join(lines[filled[0] : filled[-1] + 1]) if filled else ""


def _is_blank(text: str) -> bool:
    """Tell whether there is nothing to see: white space, format and control characters only."""
    return all(unicodedata.category(char)[0] in "ZC" for char in text)


def _prompt(found: Outline, lines: Sequence[str], path: str, problems: list[Problem]) -> str:
    section = found.sections.get("prompt")
    if section is None:
        return ""
    blocks = top_level(section.tokens)
    fences = [t for t in blocks if t.type == "fence" and t.info.split()[:1] and t.info.split()[0].lower() == "prompt"]
    text = _trim(lines[section.start : section.end])
    line = section.heading
    if fences:
        line = line_of(fences[0])
        text = _trim(fences[0].content.split("\n"))
        if len(blocks) > 1:
            other = fences[1] if len(fences) > 1 else next(t for t in blocks if t is not fences[0])
            what = "a prompt fence is the whole prompt, and here is more"
            problems.append(
                Problem(path=path, slug="case-prompt-fence", what=what, line=line_of(other), expected="the fence alone")
            )
    if _is_blank(text) and found.whole:
        what = "the prompt is empty"
        problems.append(
            Problem(path=path, slug="case-empty-prompt", what=what, line=line, expected="what every arm is asked")
        )
    return text


def _seed(found: Outline, lines: Sequence[str], path: str, problems: list[Problem]) -> tuple[SeedTurn, ...]:
    """Return the turns of the conversation: they begin at a line start outside every fence and comment."""
    section = found.sections.get("seed")
    if section is None:
        return ()
    inside = covered(section.tokens, lambda token: token.type == "fence" or is_comment(token))
    starts: list[tuple[int, re.Match[str]]] = []

    def report(line: int, slug: str, what: str, expected: str, suggestion: str | None = None) -> None:
        problems.append(
            Problem(path=path, slug=slug, what=what, line=line + 1, expected=expected, suggestion=suggestion)
        )

    for number in range(section.start, section.end):
        if number in inside:
            continue
        if match := _TURN.match(lines[number]):
            starts.append((number, match))
        elif near := _NEAR_TURN.match(lines[number]):
            word = f"**{near[1].capitalize()}:**"
            report(number, "case-seed-turn", f'"{near.group().strip()}" begins no turn', f"{word} at line start", word)
        elif not starts and lines[number].strip():
            expected = "**User:**, **Assistant:** or **System:** first"
            report(number, "case-seed-text", "text before the first turn", expected)
            break
    turns = []
    ends = [number for number, _ in starts[1:]] + [section.end]
    for (number, match), end in zip(starts, ends, strict=False):  # no turn: one end too many
        text = _trim([lines[number][match.end() :], *lines[number + 1 : end]])
        if _is_blank(text):
            report(number, "case-empty-turn", f"the turn {match.group().strip()} is empty", "what was said")
        turns.append(SeedTurn(role=match[1].lower(), text=text))  # type: ignore[arg-type]  # one of the three roles
    if turns and turns[0].role == "assistant":
        report(starts[0][0], "case-seed-order", "the first turn is the assistant's", "**User:** or **System:** first")
    return tuple(turns)
