"""Reading Claude Code's transcripts: every response once, nothing lost without a word, nothing that stops the rest."""

from __future__ import annotations

import json
import random
from io import BytesIO
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_skillbench.hosts import claude_code, host_of, search
from pytest_skillbench.hosts.jsonl import Faults, batches
from pytest_skillbench.hosts.limits import usage_limit
from pytest_skillbench.hosts.records import Reading, Transcript

from .transcripts import SHARED, answer, inside, prompt, sums, tool, usage, write

needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason="the shared recordings are not beside the repository")
quick = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def read(*paths: Path, calls: bool = False) -> Reading:
    """Read files of Claude Code's."""
    return claude_code.read(paths, calls=calls)


def one(path: Path, *lines: dict[str, Any] | bytes, end: bytes = b"\n", calls: bool = False) -> Transcript:
    """Write a transcript and read it."""
    return read(write(path / "s1.jsonl", *lines, end=end), calls=calls).transcripts[0]


# -- recordings with known totals --------------------------------------------------------------------------------------


@needs_shared
def test_every_synthetic_failure_mode_has_its_known_total() -> None:
    """The hand-made failure modes, each folder as a client's configuration would hold it."""
    expected = json.loads((SHARED / "synthetic" / "expected.json").read_text())
    assert len(expected) >= 13
    for folder, known in expected.items():
        found = sums(read(*search(SHARED / "synthetic" / folder)).requests)
        assert found == (known["input"], known["cache_creation"], known["cache_read"], known["output"]), known["name"]


@needs_shared
@pytest.mark.parametrize(
    ("folder", "known", "calls", "turns", "bound"),
    [
        ("claude-a", (174, 375431, 2689209, 4915), 21, 18, "20 of 21 responses end with a null stop_reason"),
        ("claude-b", (792, 468925, 3575557, 2006), 68, 64, "68 of 68 responses end with a null stop_reason"),
        ("claude-c", (27, 28119, 949730, 5435), 23, 21, None),
        ("claude-d", (726, 216398, 1466737, 12321), 63, 44, "2 of 63 responses end with a null stop_reason"),
    ],
)
def test_real_sessions_have_their_known_totals(
    folder: str, known: tuple[int, int, int, int], calls: int, turns: int, bound: str | None
) -> None:
    """Real sessions of five versions: tokens, calls, turns, and whether the sums are lower bounds."""
    files = list(search(SHARED / "real" / folder))
    assert all(host_of(path) for path in files)
    found = read(*files)
    assert (sums(found.requests), found.api_calls, found.turns) == (known, calls, turns)
    assert found.complete is (bound is None)
    assert (bound is None) or found.notes[0].startswith(bound)


@needs_shared
def test_other_clients_files_are_not_taken_for_claudes() -> None:
    """A Codex rollout and a Gemini chat are no transcripts of this client, however alike they look."""
    assert [host_of(path) for path in (SHARED / "real").glob("[cg]*[xi]-a/*") if "claude" not in str(path)] == [
        None,
        None,
    ]


# -- one response, many lines ------------------------------------------------------------------------------------------


def test_the_lines_of_a_response_count_once_by_their_largest_figures(tmp_path: Path) -> None:
    """Summing lines overstates, the first keeps a part of the output, and the last need not be the fullest."""
    found = one(
        tmp_path,
        answer(stop=None, usage=usage(output=1)),
        answer(usage=usage(output=159)),
        answer(usage=usage(output=40)),
    )
    assert (sums(found.requests), found.api_calls, found.complete) == ((3, 10, 100, 159), 1, True)


def test_a_resumed_or_forked_session_counts_the_copied_history_once(tmp_path: Path) -> None:
    """Across files a message id is one response, whatever the session; each file by itself still counts it."""
    first = write(tmp_path / "a.jsonl", answer("msg_a"), answer("msg_b", usage=usage(output=7)))
    fork = write(
        tmp_path / "b.jsonl", answer("msg_a", sessionId="s2"), answer("msg_c", usage=usage(output=9), sessionId="s2")
    )
    found = read(first, fork)
    assert sums(found.requests)[3] == 50 + 7 + 9
    assert [sums(t.requests)[3] for t in found.transcripts] == [57, 59]
    assert found.api_calls == 3


def test_gateway_ids_are_told_apart_by_session_and_input(tmp_path: Path) -> None:
    """Gateways send one id for every response: another input is another response, the same input the same one."""
    found = one(
        tmp_path,
        answer("chatcmpl", usage=usage(plain=3)),
        answer("chatcmpl", usage=usage(plain=3, output=60)),
        answer("chatcmpl", usage=usage(plain=4)),
        answer("chatcmpl", usage=usage(plain=4), sessionId="s2"),
    )
    assert (sums(found.requests), found.api_calls, found.complete) == ((3 + 4 + 4, 30, 300, 60 + 50 + 50), 3, True)


def test_neither_request_id_nor_uuid_makes_a_response(tmp_path: Path) -> None:
    """Both repeat and are absent in real files; a line without time, version and request id counts as any other."""
    bare = answer()
    del bare["timestamp"]
    found = one(
        tmp_path, {**answer(), "requestId": "r1", "uuid": "u1"}, {**bare, "requestId": "r2", "uuid": "u2"}, bare
    )
    assert (sums(found.requests), found.api_calls) == ((3, 10, 100, 50), 1)


def test_a_response_without_an_id_counts_and_says_what_is_unknown(tmp_path: Path) -> None:
    """Two nameless lines of equal figures may be one response or two: one is counted, and the sum is a lower bound."""
    alone = one(tmp_path, answer(None), answer(None, usage=usage(plain=9)))
    assert (sums(alone.requests)[0], alone.api_calls, alone.complete) == (12, 2, True)
    twice = one(tmp_path, answer(None), answer(None))
    assert (sums(twice.requests)[0], twice.complete) == (3, False)
    assert twice.notes == ("1 response without an id: equal ones are counted as one",)


def test_turns_are_responses_with_a_tool_call_on_any_line(tmp_path: Path) -> None:
    """The tool call of a response mostly stands on its second or third line; text and server tools make no turn."""
    found = one(
        tmp_path,
        answer("msg_a", stop="tool_use"),
        answer("msg_a", stop="tool_use", content=[tool("t1")]),
        answer("msg_a", stop="tool_use", content=[tool("t2", "Read")]),
        answer(
            "msg_b",
            content=[{"type": "server_tool_use", "id": "x", "name": "web_search", "input": {"type": "tool_use"}}],
        ),
        answer("msg_c", content='"type":"tool_use"'),
    )
    assert (found.turns, found.api_calls, found.tool_calls) == (1, 3, {"Bash": 1, "Read": 1})


def test_an_escaped_spelling_means_the_same(tmp_path: Path) -> None:
    """JSON may spell any letter as an escape; what is counted never hangs on the spelling."""
    line = json.dumps(answer(stop="tool_use", content=[tool()]))
    spelled = (
        line.replace('"tool_use"', '"tool\\u005fuse"')
        .replace('"usage": {', '"us\\u0061ge" :  {')
        .replace("assistant", "\\u0061ssistant")
    )
    found = one(tmp_path, spelled.encode())
    assert (sums(found.requests), found.turns, found.complete) == ((3, 10, 100, 50), 1, True)


# -- figures -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("aggregate", "parts", "five", "hour"),
    [
        (10, None, 10, 0),
        (10, {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 10}, 0, 10),
        (10, {"ephemeral_5m_input_tokens": 3, "ephemeral_1h_input_tokens": 4}, 6, 4),
        (0, {"ephemeral_5m_input_tokens": 3, "ephemeral_1h_input_tokens": 4}, 3, 4),
        (5, {"ephemeral_5m_input_tokens": 3, "ephemeral_1h_input_tokens": 4}, 3, 4),
        (None, {"ephemeral_5m_input_tokens": None, "ephemeral_1h_input_tokens": 4}, 0, 4),
        (None, None, 0, 0),
        (10, {}, 10, 0),
    ],
)
def test_cache_writes_are_the_aggregate_or_its_parts(
    tmp_path: Path, aggregate: int | None, parts: dict[str, Any] | None, five: int, hour: int
) -> None:
    """The larger of the two counts; what no part accounts for is at the 5-minute rate."""
    request = one(
        tmp_path, answer(usage={**usage(), "cache_creation_input_tokens": aggregate, "cache_creation": parts})
    ).requests[0]
    assert (request.cache_write_5m, request.cache_write_1h) == (five, hour)


def test_parts_that_come_with_a_later_line_do_not_add_to_the_aggregate(tmp_path: Path) -> None:
    """The first line of a response says 10, the last says 10 for an hour: that is 10, not 20."""
    parts = {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 10}
    request = one(tmp_path, answer(), answer(usage={**usage(), "cache_creation": parts})).requests[0]
    assert (request.cache_write_5m, request.cache_write_1h) == (0, 10)


def test_calls_inside_a_response_are_added_with_their_own_models(tmp_path: Path) -> None:
    """An advisor and a compaction are billed beside the response, whose usage counts its own messages already."""
    inner = [
        {"type": "message", **usage()},
        {"type": "advisor_message", "model": "claude-fable-5", **usage(plain=1000, output=20)},
        {"type": "compaction", **usage(plain=5000, output=30)},
        {"type": "advisor_message", **usage(plain=70, output=1)},
    ]
    early = {**usage(), "iterations": inner[:2]}
    found = one(tmp_path, answer(stop=None, usage=early), answer(usage={**usage(), "iterations": inner}))
    assert [(r.model, r.input, r.output) for r in found.requests] == [
        ("claude-opus-5", 3, 50),
        ("claude-fable-5", 1000, 20),
        ("claude-opus-5", 5000, 30),
        ("unknown", 70, 1),
    ]
    assert (found.api_calls, found.complete) == (1, True)
    assert len({r.id for r in found.requests}) == 4


def test_an_iteration_without_a_type_is_not_guessed(tmp_path: Path) -> None:
    """It may be counted already or not: it is not added, and the sum says so."""
    found = one(tmp_path, answer(usage={**usage(), "iterations": [{"input_tokens": 9}]}))
    assert sums(found.requests)[0] == 3
    assert found.notes == ("1 response with an iteration that has no type",)


@pytest.mark.parametrize(
    ("spelled", "tokens"), [("7.0", 7), ('"7"', 7), ("null", 0), ("9007199254740993", 9007199254740993)]
)
def test_whole_numbers_count_however_they_are_spelled(tmp_path: Path, spelled: str, tokens: int) -> None:
    """Gateways write floats and strings; a large integer is not rounded to a float."""
    line = json.dumps(answer()).replace('"output_tokens": 50', f'"output_tokens": {spelled}')
    found = one(tmp_path, line.encode())
    assert (found.requests[0].output, found.complete) == (tokens, True)


@pytest.mark.parametrize("spelled", ["-5", "7.5", '"many"', "true", "[]", "1e400", "1" + "0" * 40, "NaN"])
def test_a_figure_that_is_no_number_of_tokens_is_zero_and_said(tmp_path: Path, spelled: str) -> None:
    """One bad figure neither stops the file nor spoils the other figures, and the sum is a lower bound."""
    line = json.dumps(answer()).replace('"output_tokens": 50', f'"output_tokens": {spelled}')
    found = one(tmp_path, line.encode(), answer("msg_b"))
    assert sums(found.requests) == (6, 20, 200, 50)
    assert found.notes == ("1 response with a figure that is not a whole number of tokens",)


@pytest.mark.parametrize("broken", [None, {}, [], "x", {"input_tokens": None}])
def test_a_response_without_figures_is_never_zero_and_complete(tmp_path: Path, broken: Any) -> None:
    """It was billed, and what it cost is not in the file."""
    found = one(tmp_path, answer(usage=broken), answer("msg_b"))
    assert (found.api_calls, found.complete) == (2, False)
    assert found.notes == ("1 response with no tokens at all",)


def test_fast_mode_is_kept_for_the_price(tmp_path: Path) -> None:
    """``speed: fast`` on any line of a response makes its request a fast one."""
    found = one(
        tmp_path, answer(stop=None), answer(usage=usage(speed="fast")), answer("msg_b", usage=usage(speed="standard"))
    )
    assert [r.speed for r in found.requests] == ["fast", "standard"]


# -- what is not counted -----------------------------------------------------------------------------------------------


def test_what_the_client_made_up_and_what_tools_report_is_not_counted(tmp_path: Path) -> None:
    """Synthetic messages cost nothing, a tool result's usage is the last response only, unknown lines are not ours."""
    found = one(
        tmp_path,
        prompt(),
        answer("1ab3", model="<synthetic>", usage=usage()),
        prompt([{"type": "tool_result", "content": "x"}], toolUseResult={"totalTokens": 9, "usage": usage()}),
        {"type": "brand-new", "message": answer("msg_x")["message"]},
        {"type": "file-history-snapshot", "messageId": "m", "snapshot": {"usage": usage()}},
        {"type": "progress", "data": {"type": "hook_progress", "message": answer("msg_y")}},
        {
            "type": "progress",
            "data": {"type": "agent_progress", "message": prompt(), "normalizedMessages": [answer("msg_z")]},
        },
        answer(),
    )
    assert (sums(found.requests), found.api_calls, found.complete) == ((3, 10, 100, 50), 1, True)


def test_a_folder_gives_sessions_and_subagents_but_no_journal(tmp_path: Path) -> None:
    """Workflow folders and nested agents are searched, ``journal.jsonl`` is no transcript, a link back is no loop."""
    session = tmp_path / "projects" / "p" / "s1"
    write(session.with_suffix(".jsonl"), answer("msg_a"))
    write(session / "subagents" / "agent-a1.jsonl", answer("msg_b"))
    write(session / "subagents" / "workflows" / "wf_1" / "agent-a2.jsonl", answer("msg_c"))
    write(
        session / "subagents" / "workflows" / "wf_1" / "journal.jsonl", {"type": "result", "result": {"usage": usage()}}
    )
    (session / "subagents" / "again").symlink_to(tmp_path, target_is_directory=True)
    found = list(search(tmp_path))
    assert [path.name for path in found] == ["s1.jsonl", "agent-a1.jsonl", "agent-a2.jsonl"]
    assert read(*found).api_calls == 3


# -- subagents in progress lines ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["agent_progress", "skill_progress"])
def test_subagents_that_are_only_in_progress_lines_are_counted(tmp_path: Path, kind: str) -> None:
    """Older versions keep a subagent's messages nowhere else."""
    found = one(tmp_path, answer(), inside(answer("msg_b", content=[tool()]), kind))
    assert (sums(found.requests), found.api_calls, found.turns) == ((6, 20, 200, 100), 2, 1)


def test_of_a_progress_copy_and_a_file_the_fuller_counts(tmp_path: Path) -> None:
    """Where both tell of a response, its figures are the larger ones, and one finished copy makes it finished."""
    main = write(tmp_path / "s1.jsonl", answer(), inside(answer("msg_b", stop=None, usage=usage(output=1))))
    agent = write(tmp_path / "s1" / "subagents" / "agent-a1.jsonl", answer("msg_b", usage=usage(output=99)))
    for files in ((main, agent), (agent, main)):
        found = read(*files)
        assert (sums(found.requests)[3], found.api_calls, found.complete) == (149, 2, True)
    assert not read(main).complete


# -- lower bounds ------------------------------------------------------------------------------------------------------


def test_a_null_stop_reason_on_the_last_line_is_a_lower_bound(tmp_path: Path) -> None:
    """Up to 2.1.306, slow responses end without the final count; an earlier line of the same response is no cure."""
    assert one(tmp_path, answer(stop=None), answer()).complete
    found = one(tmp_path, answer(), answer(stop=None), answer("msg_b"))
    assert found.notes == ("1 of 2 responses end with a null stop_reason: output may be missing",)


@pytest.mark.parametrize(
    "content",
    ["Your response above was cut off mid-stream. Resume.", [{"type": "text", "text": "… cut off mid-stream …"}]],
)
def test_a_response_that_was_cut_off_is_a_lower_bound(tmp_path: Path, content: Any) -> None:
    """The client says so in a user line of its own; a user who types the same words says nothing of the kind."""
    assert one(tmp_path, answer(), prompt(content)).complete
    assert one(tmp_path, answer(), prompt("be kind", isMeta=True)).complete
    found = one(tmp_path, answer(), prompt(content, isMeta=True, uuid="u"), prompt(content, isMeta=True, uuid="u"))
    assert found.notes == ("1 response cut off mid-stream",)


def test_a_compaction_is_a_lower_bound_once(tmp_path: Path) -> None:
    """Its requests are billed and in no file; in a copied history it is the same compaction."""
    boundary = {"type": "system", "subtype": "compact_boundary", "uuid": "u1"}
    first = write(
        tmp_path / "a.jsonl", answer(), boundary, {**boundary, "subtype": "microcompact_boundary", "uuid": "u2"}
    )
    second = write(tmp_path / "b.jsonl", answer(), boundary)
    assert read(first, second).notes == ("1 compaction, whose requests are billed and not in the file",)


@pytest.mark.parametrize("content", [b"", b"\n \n", b"\xef\xbb\xbf"])
def test_an_empty_file_is_never_complete(tmp_path: Path, content: bytes) -> None:
    """Nothing is known of what should be in it, alone or among others."""
    empty = tmp_path / "agent-a1.jsonl"
    empty.write_bytes(content)
    assert claude_code.reads(empty)
    assert not read(empty).complete
    found = read(empty, write(tmp_path / "s1.jsonl", answer()))
    assert found.notes == ("1 transcript without an API response, though one is due",)


def test_a_prompt_without_an_answer_leaves_a_gap_but_a_session_without_a_prompt_does_not(tmp_path: Path) -> None:
    """An arm whose transcript is not written yet is not free; a session that was opened and closed is."""
    good = write(tmp_path / "good.jsonl", answer())
    asked = write(tmp_path / "asked.jsonl", prompt())
    idle = write(tmp_path / "idle.jsonl", {"type": "summary", "summary": "x", "leafUuid": "y"})
    assert not read(asked).complete
    assert not read(idle).complete
    assert not read(good, asked).complete
    assert read(good, idle).complete


def test_a_file_that_can_not_be_read_is_said_and_does_not_stop_the_rest(tmp_path: Path) -> None:
    """It may vanish between finding and reading."""
    found = read(tmp_path / "gone.jsonl", write(tmp_path / "s1.jsonl", answer()))
    assert (sums(found.requests)[0], found.complete) == (3, False)
    assert found.notes == ("gone.jsonl can't be read: No such file or directory",)


# -- broken bytes ------------------------------------------------------------------------------------------------------

GOOD = json.dumps(answer()).encode()
TORN = json.dumps(answer("msg_torn")).encode()


@pytest.mark.parametrize(
    "broken",
    [
        TORN[: len(TORN) // 2],
        TORN[:-1],
        b'{"a":{}',
        b"not json",
        b"{broken}",
        b"xxxxxxxxxxxxxxxxxxxx",
        b"null",
        b"[1, 2]",
        b'"text"',
        b"42",
        b"\x00" * 4096,
        b"\xff\xfe\xfd",
        b'{"x":' * 5000,
        b"[" * 100_000 + b"]" * 100_000,
    ],
)
@pytest.mark.parametrize("where", ["first", "middle", "last"])
def test_a_broken_line_is_counted_and_noted_and_the_rest_is_read(tmp_path: Path, broken: bytes, where: str) -> None:
    """The totals of the good lines, marked; never zero, never silently complete."""
    lines = {"first": [broken, GOOD], "middle": [GOOD, broken, GOOD], "last": [GOOD, broken]}[where]
    path = tmp_path / "s1.jsonl"
    path.write_bytes(b"\n".join(lines) + (b"" if where == "last" else b"\n"))
    found = read(path)
    assert (sums(found.requests), found.api_calls) == ((3, 10, 100, 50), 1)
    assert found.notes == (f"1 line torn or not JSON (the first is s1.jsonl:{1 if where == 'first' else 2})",)
    assert claude_code.reads(path)


def test_a_line_glued_to_a_torn_one_is_read(tmp_path: Path) -> None:
    """A crash leaves half a line without a line break; the next session's first line follows it on the same line."""
    glued = TORN[: len(TORN) // 2] + json.dumps(answer("msg_b")).encode()
    found = one(tmp_path, answer(), glued, answer("msg_c"))
    assert (found.api_calls, found.complete) == (3, False)
    assert found.notes == ("1 line torn or not JSON (the first is s1.jsonl:2)",)


def test_two_lines_in_one_and_one_line_in_two_are_both_noted(tmp_path: Path) -> None:
    """Together they have as many values as lines; neither may be taken for whole because of the other."""
    two = GOOD + json.dumps(answer("msg_b")).encode()
    first, rest = json.dumps(answer("msg_c")).encode().split(b'"message": ')
    found = one(tmp_path, two, first + b'"message": ', rest)
    assert sums(found.requests)[0] == 6
    assert found.notes == ("3 lines torn or not JSON (the first is s1.jsonl:1)",)


def test_line_ends_blank_lines_and_marks_change_nothing(tmp_path: Path) -> None:
    """CRLF, blank lines, a byte-order mark and a missing last line end are all the same conversation."""
    lines = [json.dumps(line).encode() for line in (prompt(), answer(), answer("msg_b", content=[tool()]))]
    plain = one(tmp_path, *lines)
    for content in (
        b"\r\n".join(lines) + b"\r\n",
        b"\n\n".join(lines),
        b"\xef\xbb\xbf" + b"\r\n\r\n".join(lines),
        b"\n \t\n" + b"\n".join(lines),
    ):
        path = tmp_path / "s1.jsonl"
        path.write_bytes(content)
        assert read(path).transcripts[0] == plain


@pytest.mark.parametrize("strange", ["\u2028", "\u2029", "\x85", "\x0c", "\x1e"])
def test_one_line_is_one_line_whatever_is_inside_its_strings(tmp_path: Path, strange: str) -> None:
    """Only a line feed ends a line."""
    line = json.dumps(answer(content=[{"type": "text", "text": f"a{strange}b"}]), ensure_ascii=False).encode()
    found = one(tmp_path, line, answer("msg_b"))
    assert (found.api_calls, found.complete) == (2, True)


@pytest.mark.parametrize("strange", [b"\\ud800", b"\xed\xa0\x80", b"\xff", b"\\ud83d", b"\\udc00\\ud800", b"\t"])
def test_text_that_is_not_valid_unicode_costs_no_tokens(tmp_path: Path, strange: bytes) -> None:
    """Lone surrogates and stray bytes occur in real files; the line counts, and its text is shown with a stand-in."""
    line = GOOD.replace(b'"done"', b'"a' + strange + b'b"')
    found = one(tmp_path, line)
    assert (sums(found.requests), found.complete) == ((3, 10, 100, 50), True)
    assert found.final_text is not None
    found.final_text.encode()


@pytest.mark.parametrize(
    "wrong",
    [
        {"type": 5},
        {"message": None},
        {"message": "text"},
        {"message": []},
        {"timestamp": 17},
        {"sessionId": ["x"]},
        {"isMeta": "yes"},
        {"uuid": {}},
        {"data": "text"},
        {"data": {"type": "agent_progress", "message": 5}},
    ],
)
def test_fields_of_other_types_never_stop_the_rest(tmp_path: Path, wrong: dict[str, Any]) -> None:
    """A line that is strange in one field is read as far as it can be."""
    found = one(tmp_path, {**answer("msg_b"), **wrong}, {**prompt(), **wrong}, {"type": "progress", **wrong}, answer())
    counted = "message" not in wrong and "type" not in wrong
    assert found.api_calls == 1 + counted + ("type" in wrong)
    assert found.complete is ("message" not in wrong)


@pytest.mark.parametrize(
    "content", [None, 5, [], [5, None], [{"type": 5}], [{"type": "tool_use"}], [{"type": "text", "text": 5}]]
)
def test_content_of_any_shape_is_survived(tmp_path: Path, content: Any) -> None:
    """Blocks without a type, an id or a text are counted as what they can be told to be."""
    found = one(tmp_path, answer(content=content), prompt(content))
    assert sums(found.requests) == (3, 10, 100, 50)
    assert found.turns == (1 if content == [{"type": "tool_use"}] else 0)


def test_a_line_of_many_megabytes_is_read_and_one_beyond_all_measure_is_said(tmp_path: Path) -> None:
    """Images make long lines. One that is longer than any request could be is passed over, not held in memory."""
    big = answer(content=[{"type": "text", "text": "x" * 5_000_000}])
    found = one(tmp_path, prompt(), big, answer("msg_b"))
    assert (found.api_calls, found.complete) == (2, True)
    path = write(tmp_path / "x.jsonl", {"a": "y" * 5000}, {"b": 1}, {"c": "z" * 5000}, {"d": 2})
    faults = Faults()
    decoded = batches(path, msgspec.json.decode, lambda raw: ([raw], True), faults, longest=1000)
    assert list(chain(*decoded)) == [{"b": 1}, {"d": 2}]
    assert (faults.overlong, faults.malformed, faults.first) == (2, 0, 1)


@given(st.binary(max_size=300))
@quick
def test_any_bytes_come_as_the_lines_they_are(tmp_path: Path, content: bytes) -> None:
    """Nothing is lost or doubled: each line that is not blank is handed out once, in order."""
    path = tmp_path / "x"
    path.write_bytes(content)
    lines = content.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    faults = Faults()
    found = list(chain(*batches(path, refuse, lambda raw: ([raw], False), faults)))
    assert [line.removesuffix(b"\n") for line in found] == [line for line in lines if line and not line.isspace()]
    assert faults.malformed == len(found)


def refuse(raw: bytes) -> bytes:
    """Decode nothing."""
    raise msgspec.DecodeError


PIECES = st.sampled_from(
    [b"{}\n", b'{"a":1}', b'{"b":"' + b"x" * 30 + b'"}\n', b"\n", b" ", b"\r", b'{"c":', b"}", b"3"]
)


@given(st.lists(PIECES, max_size=200), st.integers(8, 60))
@quick
def test_reading_many_lines_at_once_is_reading_each_by_itself(
    tmp_path: Path, pieces: list[bytes], longest: int
) -> None:
    """Two objects on a line, one on two lines, torn, blank and overlong ones, wherever the lines read at once end."""
    path = tmp_path / "x"
    path.write_bytes(b"".join(pieces))
    faults = Faults()
    decode = msgspec.json.Decoder(dict).decode
    found = list(chain(*batches(path, decode, lambda raw: ([], False), faults, longest)))
    read: list[object] = []
    torn, overlong = [], []
    for number, line in enumerate(BytesIO(b"".join(pieces)), 1):
        if len(line) > longest:
            overlong.append(number)
            continue
        try:
            read.append(decode(line))
        except msgspec.DecodeError:
            if not line.isspace():
                torn.append(number)
    assert (found, faults.malformed, faults.overlong) == (read, len(torn), len(overlong))
    assert faults.first == min([*torn, *overlong], default=None)


# -- laws --------------------------------------------------------------------------------------------------------------

IDS = st.sampled_from(["msg_a", "msg_b", "msg_c", "gw", None])
COUNTS = st.integers(0, 5)
STOPS = st.sampled_from([None, "end_turn"])
MODELS = st.sampled_from(["claude-opus-5", "<synthetic>", "x"])
ANSWERS = st.builds(
    lambda id_, plain, cached, output, stop, model: answer(
        id_, stop=stop, model=model, usage=usage(cached, 2, plain, output)
    ),
    IDS, COUNTS, COUNTS, COUNTS, STOPS, MODELS,
)  # fmt: skip
LINES = st.one_of(
    ANSWERS.map(lambda line: json.dumps(line).encode()),
    ANSWERS.map(lambda line: json.dumps(inside(line)).encode()),
    st.sampled_from([json.dumps(prompt()).encode(), b"", b"{torn", b'{"type":"system","subtype":"compact_boundary"}']),
)


def figures(reading: Reading) -> object:
    """Return what must not depend on how lines are spread over files."""
    return sorted(map(repr, reading.requests)), reading.turns, reading.api_calls


@given(lines=st.lists(LINES, max_size=12), cuts=st.integers(0, 2**12), seed=st.integers(0, 99))
@quick
def test_spreading_and_doubling_lines_changes_no_total(
    tmp_path: Path, lines: list[bytes], cuts: int, seed: int
) -> None:
    """A conversation copied, split over files and shuffled is the same conversation."""
    whole = tmp_path / "whole.jsonl"
    whole.write_bytes(b"".join(line + b"\n" for line in lines))
    spread = [line for line in lines if line.startswith(b'{"type": "assistant"')] + lines
    random.Random(seed).shuffle(spread)
    parts = [tmp_path / "one.jsonl", tmp_path / "two.jsonl"]
    for number, part in enumerate(parts):
        part.write_bytes(b"".join(line + b"\n" for at, line in enumerate(spread) if cuts >> at & 1 == number))
    assert figures(read(whole)) == figures(read(*parts)) == figures(read(*reversed(parts)))
    assert read(whole) == read(whole)


@given(st.binary(max_size=400), st.booleans())
@quick
def test_no_bytes_crash_the_reader(tmp_path: Path, content: bytes, after: bool) -> None:
    """Whatever is in a file, the good line beside it is counted, and what is not readable is said."""
    path = tmp_path / "s1.jsonl"
    path.write_bytes(GOOD + b"\n" + content if after else content + b"\n" + GOOD)
    assert read(path, calls=True).requests[0].output == 50
    claude_code.reads(path)


KEYS = ["type", "message", "id", "model", "usage", "content", "data", "iterations"]
KEYS += ["cache_creation", "input_tokens", "isMeta", "uuid"]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(
        KEYS
    ), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


@given(
    st.dictionaries(st.sampled_from(["type", "message", "data", "isMeta", "sessionId", "timestamp", "uuid"]), JSON),
    st.sampled_from(["assistant", "user", "progress", "system"]),
)
@quick
def test_no_json_crashes_the_reader(tmp_path: Path, line: dict[str, Any], kind: str) -> None:
    """Objects with our keys and anything in them: nothing crashes, nothing good is lost, no figure is negative."""
    found = one(tmp_path, {**line, "type": kind}, line, answer(), calls=True)
    assert all(min(r.input, r.cache_write_5m, r.cache_write_1h, r.cache_read, r.output) >= 0 for r in found.requests)
    assert any(r.output == 50 for r in found.requests)


# -- what the file says ------------------------------------------------------------------------------------------------


def test_a_subagents_transcript_says_who_it_is_and_what_it_did(tmp_path: Path) -> None:
    """Label, prompt, versions, times, tool calls with their inputs, and the last message's text."""
    same: dict[str, Any] = {"sessionId": "s1", "agentId": "a1", "version": "2.1.332", "cwd": "/w", "isSidechain": True}
    path = write(
        tmp_path / "s1" / "subagents" / "agent-a1.jsonl",
        prompt("  [skillbench job 7f3a9c.k4] read the brief", timestamp="2026-11-01T10:00:00.000Z", **same),
        answer("msg_a", stop="tool_use", content=[tool("t1", "Read", file_path="/w/é")], **same),
        prompt([{"type": "tool_result", "tool_use_id": "t1", "content": "x"}], **same),
        answer("msg_b", content=[{"type": "thinking", "thinking": "hm"}], **same),
        answer("msg_b", content=[{"type": "text", "text": "first"}], uuid="u1", **same),
        answer("msg_b", content=[{"type": "text", "text": "first"}], uuid="u1", **same),
        answer(
            "msg_b", content=[{"type": "text", "text": "last é\u2028"}], timestamp="2026-11-01T10:00:09.000Z", **same
        ),
    )
    path.with_name("agent-a1.meta.json").write_text('{"description": "[skillbench job 7f3a9c.k4]"}')
    found = read(path, calls=True).transcripts[0]
    assert (found.session, found.agent, found.version, found.cwd) == ("s1", "a1", "2.1.332", "/w")
    assert found.description == "[skillbench job 7f3a9c.k4]"
    assert found.prompt == "  [skillbench job 7f3a9c.k4] read the brief"
    assert (found.first_at, found.last_at) == ("2026-11-01T10:00:00.000Z", "2026-11-01T10:00:09.000Z")
    assert found.final_text == "first\nlast é\u2028"
    assert (found.settled, found.failed, found.limit) == (True, False, None)
    assert (found.model, found.tool_calls) == ("claude-opus-5", {"Read": 1})
    assert [(call.name, call.id, json.loads(call.input)) for call in found.calls] == [
        ("Read", "t1", {"file_path": "/w/é"})
    ]
    assert found.dates == ("2026-11-01", "2026-11-01")


def test_a_conversation_is_settled_only_at_its_end(tmp_path: Path) -> None:
    """A tool call waits for its result, a result for an answer; a structured output is an end; meta lines are none."""
    call = answer("msg_a", content=[tool("t1")])
    result = prompt([{"type": "tool_result", "tool_use_id": "t1", "content": "x"}])
    assert not one(tmp_path, prompt()).settled
    assert not one(tmp_path, prompt(), call).settled
    assert not one(tmp_path, prompt(), call, answer("msg_a")).settled
    assert not one(tmp_path, prompt(), call, result).settled
    assert one(tmp_path, prompt(), call, result, answer("msg_b"), {"type": "system"}, prompt("x", isMeta=True)).settled
    structured = answer("msg_a", content=[tool("t1", "StructuredOutput", ok=True)])
    assert one(tmp_path, prompt(), structured, result).settled


def test_a_subagents_words_in_its_parents_file_are_not_the_parents(tmp_path: Path) -> None:
    """Old versions wrote both into one file: all of it costs, only the parent's is its answer."""
    other = answer("msg_b", content=[{"type": "text", "text": "the subagent's"}], isSidechain=True)
    found = one(tmp_path, prompt(), answer(), prompt("sub", isSidechain=True), other)
    assert (found.prompt, found.final_text, found.api_calls) == ("go", "done", 2)


def test_the_last_message_is_found_across_long_results(tmp_path: Path) -> None:
    """Its lines may stand in several readings of the file, with tool results of any size in between."""
    long = prompt([{"type": "tool_result", "tool_use_id": "t", "content": "x" * 300_000}])
    said = [answer("msg_z", content=[{"type": "text", "text": word}]) for word in ("a", "b", "c")]
    assert one(tmp_path, prompt(), answer(), said[0], long, said[1], long, said[2]).final_text == "a\nb\nc"


@pytest.mark.parametrize(
    "text",
    [
        "Claude AI usage limit reached|1751234567",
        "5-hour limit reached ∙ resets 3pm",
        "You've hit your session limit · resets 10am (Europe/Berlin)",
        "You've reached your Opus limit. It resets Friday.",
        "Weekly limit reached, resets at 9am",
    ],
)
def test_a_usage_limit_is_told_from_an_answer(tmp_path: Path, text: str) -> None:
    """It arrives as ordinary text with a normal ending, from a model or from the client."""
    for model in ("claude-opus-5", "<synthetic>"):
        found = one(tmp_path, prompt(), answer(content=[{"type": "text", "text": text}], model=model))
        assert found.limit == text
        assert found.failed is (model == "<synthetic>")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "The rate limit of 5 requests is handled in retry.py.",
        "limit reached: the loop ends",
        "When a usage limit is reached, " + "we wait. " * 60,
    ],
)
def test_an_answer_about_limits_is_an_answer(text: str) -> None:
    """A review of a rate limiter must not stop the run."""
    assert usage_limit(text) is None


@pytest.mark.parametrize("meta", ["", "[]", "{", '{"description": 5}', '{"description": "\\ud800"}'])
def test_a_broken_label_file_is_no_label(tmp_path: Path, meta: str) -> None:
    """The label stands in the prompt as well."""
    path = write(tmp_path / "agent-a1.jsonl", answer())
    path.with_name("agent-a1.meta.json").write_text(meta)
    assert read(path).transcripts[0].description in (None, "\ufffd")
