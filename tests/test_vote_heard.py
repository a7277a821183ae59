"""The vote for those who hear it and for the last row: one live region that stays, names of bars, rows for a thumb, large type."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import LONG
from offline import free_port
from playwright.sync_api import Browser, Page, expect
from test_accessibility import judged
from test_vote import phone, room_server

pytestmark = [pytest.mark.browser, LONG]
SMALL = """() => [...document.querySelectorAll("[data-testid=stMain] *")].filter(one => one.checkVisibility()
  && [...one.childNodes].some(part => part.nodeType === 3 && part.textContent.trim()) && parseFloat(getComputedStyle(one).fontSize) < 18)
  .map(one => [getComputedStyle(one).fontSize, one.textContent])"""


def keep_region(page: Page) -> None:
    """Mark the live region, to know it again."""
    page.get_by_role("status").filter(has_text="No question is open").first.evaluate("one => { one.dataset.first = 'yes'; }")


def ask(teacher: Page, own: str) -> None:
    """Put a question of one's own to the class."""
    box = teacher.get_by_label("The question, then")
    if not box.is_visible():
        teacher.get_by_text("Your own question").click()
    box.fill(own)
    box.press("Control+Enter")
    teacher.get_by_role("button", name="Ask it").click()


def test_counts_answers_and_questions_are_said_by_one_region_and_large_enough(browser: Browser, tmp_path: Path) -> None:
    port = free_port()
    with room_server(port, tmp_path):
        teacher = phone(browser, f"http://127.0.0.1:{port}/vote?teacher=secret")
        teacher.set_viewport_size({"width": 1920, "height": 1080})
        student = phone(browser, f"http://127.0.0.1:{port}/v")
        for page in (teacher, student):
            keep_region(page)
        ask(teacher, "Which is a vowel?\nb\n* e\nk")
        expect(student.locator("[data-first]")).to_contain_text("Which is a vowel?")
        expect(teacher.locator("[data-first]")).to_contain_text("0 of 1")
        student.get_by_label("e", exact=True).check()
        expect(teacher.locator("[data-first]")).to_contain_text("1 of 1")
        expect(student.locator("[data-first]")).to_contain_text("Counted.")
        for row in student.locator("label:has(input[type=radio])").all():
            box = row.bounding_box()
            assert box is not None and box["height"] >= 44
        teacher.get_by_role("button", name="Show the bars").click()
        expect(teacher.get_by_role("img", name="e: 1 votes")).to_be_visible()
        assert [teacher.evaluate(SMALL), student.evaluate(SMALL)] == [[], []]
        assert [judged(page) for page in (teacher, student)] == [[], []]
        teacher.get_by_role("button", name="Show the answer").click()
        expect(student.locator("[data-first]")).to_contain_text("The answer: e.")
        ask(teacher, f"{'A long story. ' * 20}Which is next?\n* e\nk")
        expect(student.locator("[data-first]")).to_contain_text("Which is next?")
        (stem,) = student.get_by_role("heading", level=3).all_inner_texts()
        assert len(stem.split()) <= 25 and stem.endswith("Which is next?")
    for page in (teacher, student):
        page.context.close()
