"""The pages in a real browser: accessible, self-contained, usable by keyboard, on a phone and on paper.

Headless Chromium through playwright, shared by the session; skipped where there is none. `CHROMIUM` names another one.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest

from checks import factory
from checks.test_report import HOSTILE, hostile, html_of, leaderboard
from pytest_skillbench import report
from pytest_skillbench.model import Flag, SkillResult

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
KINDS = ["failing", "calm", "incomplete", "everything", "index"]
OPEN_ALL = "document.querySelectorAll('details').forEach(d => d.open = true)"


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One headless Chromium for all tests of this file."""
    program = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        pytest.skip("no Chromium: install it, or name one in CHROMIUM")
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with sync_api.sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=program, args=ARGUMENTS)
        yield launched
        launched.close()


def everything() -> SkillResult:
    """Return a run that shows every component of the page at once."""
    plan = factory.planned("long-commands")
    assertion = msgspec.structs.replace(plan.assertions[0], command="grep -q " + "a-very-long-unbroken-pattern" * 8)
    plan = msgspec.structs.replace(plan, assertions=(assertion, *plan.assertions), description="word" * 60)
    flag = Flag(kind="contaminated", detail="the baseline opened the skill", evidence="audit", arm="no-skill")
    found = factory.result(
        factory.case("long-commands", "LX?", "LT?", plan=plan, flags={("efficacy", 3): (flag,)}),
        factory.case("a-case-with-a-rather-long-name-of-many-parts", "TWL", "WTT", panel="efficacy"),
    )
    costs = tuple(msgspec.structs.replace(cost, usage=factory.usage(90, cost_usd=None)) for cost in found.costs[:2])
    unknown = msgspec.structs.replace(found.costs[2], usage=None, turns=None, runs=0)
    return msgspec.structs.replace(
        found,
        plan=msgspec.structs.replace(found.plan, example=True),
        costs=(*costs, unknown),
        stale=("the skill has changed since the run",),
        problems=("tests/.reports/x.run/arms/green.1.new-skill.json: $.turns: expected an integer",),
    )


@pytest.fixture(scope="session")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write every kind of page into a folder, as the program would."""
    folder = tmp_path_factory.mktemp("reports")
    for kind in KINDS[:-1]:
        result = everything() if kind == "everything" else getattr(factory, kind)()
        (folder / f"{kind}.html").write_text(html_of(result), encoding="utf-8")
    (folder / "index.html").write_text(report.index_html(leaderboard()), encoding="utf-8")
    (folder / "hostile.html").write_text(html_of(*hostile(HOSTILE)), encoding="utf-8")
    return folder


def visit(browser: Browser, path: Path, width: int = 1440, scheme: str = "light") -> tuple[Page, list[str]]:
    """Open a page; return it with a growing list of everything that went wrong: requests, policy, console, script."""
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)  # type: ignore[arg-type] # "light" or "dark"
    wrong: list[str] = []
    page.on("request", lambda r: None if r.url.startswith((path.as_uri(), "data:")) else wrong.append(r.url))
    page.on("console", lambda message: wrong.append(message.text))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("dialog", lambda dialog: wrong.append(dialog.message))
    page.goto(path.as_uri())
    return page, wrong


@pytest.mark.parametrize("kind", [*KINDS, "hostile"])
@pytest.mark.parametrize("width", [390, 1440])
def test_no_request_no_policy_violation_no_overflow(browser: Browser, pages: Path, kind: str, width: int) -> None:
    """The page loads nothing, breaks none of its own policy, and scrolls in one direction only, at 320 px as well."""
    page, wrong = visit(browser, pages / f"{kind}.html", width)
    try:
        for open_all in (False, True):
            if open_all:
                page.evaluate(OPEN_ALL)
            for size in (width, 320):
                page.set_viewport_size({"width": size, "height": 900})
                assert page.evaluate("document.documentElement.scrollWidth") <= size, (kind, size, open_all)
        assert wrong == []
        assert page.evaluate("getComputedStyle(document.body).margin") == "0px", "the style was refused"
    finally:
        page.close()


@pytest.mark.parametrize("kind", ["everything", "calm", "index"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1440])
def test_axe_finds_nothing(browser: Browser, pages: Path, kind: str, scheme: str, width: int) -> None:
    """No violation of WCAG A, AA or best practice: light and dark, phone and desk, as it is and with all open."""
    module = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-core is not installed")
    # The page's own policy would refuse axe's script, as it should; the copy that axe looks at has none.
    copy = pages / f"axe-{kind}.html"
    html = (pages / f"{kind}.html").read_text(encoding="utf-8")
    copy.write_text(html.replace('http-equiv="Content-Security-Policy"', 'name="policy"'), encoding="utf-8")
    page, _ = visit(browser, copy, width, scheme)
    try:
        # Contrast takes most of the time and is looked at once: opening a disclosure changes no colour.
        for script, contrast in (("", False), (OPEN_ALL, True)):
            page.evaluate(script)
            options = {"resultTypes": ["violations"], "rules": {"color-contrast": {"enabled": contrast}}}
            found = module.Axe().run(page, options=options).response["violations"]
            assert [(v["id"], [n["html"][:200] for n in v["nodes"][:3]]) for v in found] == []
    finally:
        page.close()


def test_axe_would_find_something(browser: Browser, pages: Path) -> None:
    """The control: a page with a planted defect is not passed, so the test above can fail."""
    module = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-core is not installed")
    planted = pages / "planted.html"
    html = (pages / "calm.html").read_text(encoding="utf-8")
    html = html.replace('http-equiv="Content-Security-Policy"', 'name="policy"')
    planted.write_text(html.replace("<footer>", '<footer><a href="#main"></a>'), encoding="utf-8")
    page, _ = visit(browser, planted)
    try:
        found = module.Axe().run(page).response["violations"]
        assert "link-name" in [violation["id"] for violation in found]
    finally:
        page.close()


def test_jump_link_leads_to_the_failure(browser: Browser, pages: Path) -> None:
    """Following the header's link brings the failed case, which is open, under the reader's eyes."""
    page, _ = visit(browser, pages / "failing.html")
    try:
        page.get_by_role("link", name="Jump to the first failure: race-in-cache").click()
        case = page.locator("details:target")
        assert case.get_attribute("id") == "c.race-in-cache"
        assert case.evaluate("d => d.open") is True
        box = case.bounding_box()
        assert box is not None
        assert 0 <= box["y"] < 300
    finally:
        page.close()


def test_evidence_links_lead_somewhere(browser: Browser, pages: Path) -> None:
    """Every link inside the page points at an element that is rendered once all is open."""
    for kind in KINDS[:-1]:
        page, _ = visit(browser, pages / f"{kind}.html")
        try:
            page.evaluate(OPEN_ALL)
            lost = page.evaluate(
                "[...document.querySelectorAll('a[href^=\"#\"]')].map(a => a.getAttribute('href').slice(1))"
                ".filter(id => !document.getElementById(id)?.getClientRects().length)"
            )
            assert lost == []
        finally:
            page.close()


@pytest.mark.parametrize("kind", ["failing", "calm", "incomplete"])
def test_keyboard_reaches_and_opens_every_disclosure(browser: Browser, pages: Path, kind: str) -> None:
    """Tab alone reaches each disclosure with a visible focus, and Enter opens or closes it."""
    page, _ = visit(browser, pages / f"{kind}.html")
    try:
        page.evaluate("document.querySelectorAll('details.case').forEach(d => d.open = false)")
        total = page.locator("summary").count()
        reached: set[int] = set()
        where = (
            "() => { const e = document.activeElement; return e.tagName === 'SUMMARY' ?"
            " [[...document.querySelectorAll('summary')].indexOf(e), e.parentElement.open,"
            " getComputedStyle(e).outlineStyle] : null }"
        )
        for _ in range(40 * total):
            page.keyboard.press("Tab")
            at = page.evaluate(where)
            if at is None:
                if page.evaluate("document.activeElement === document.body"):
                    break
                continue
            index, is_open, outline = at
            assert outline == "solid"
            if not is_open:
                page.keyboard.press("Enter")
                assert page.evaluate(where)[1] is True
            reached.add(index)
        assert reached == set(range(total))
    finally:
        page.close()


@pytest.mark.parametrize("kind", ["everything", "index"])
def test_prints(browser: Browser, pages: Path, kind: str) -> None:
    """The page prints to a PDF, light whatever the screen is, with nothing cut at the side."""
    page, _ = visit(browser, pages / f"{kind}.html", scheme="dark")
    try:
        page.emulate_media(media="print")
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        page.set_viewport_size({"width": 703, "height": 1000})  # A4 within its margins
        assert page.evaluate("document.documentElement.scrollWidth") <= 703
        pdf = page.pdf(format="A4")
        assert pdf.startswith(b"%PDF")
        assert len(pdf) > 20_000
    finally:
        page.close()
