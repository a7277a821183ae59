"""Which parts a bar shows and which stand under More: about half, none that the tour or the core hour visits, all with an address."""

from __future__ import annotations

from typing import Any

import pytest
from opening import opened

from explorer.app import core, frame
from explorer.app.lessons import LESSONS
from explorer.app.lessons.training.findings import FINDINGS
from explorer.app.tour_steps import STEPS


@pytest.fixture(scope="module")
def parts() -> dict[str, tuple[Any, ...]]:
    """The parts of every page, in their order."""
    kept: dict[str, tuple[Any, ...]] = {}

    def listed(page: Any, *every: Any) -> None:
        kept[name] = every  # and draws none of them: other tests do

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(frame.LessonPage, "parts", listed)
        for name in LESSONS:
            assert not opened(name, part="exercises").exception, name
    return kept


def test_the_bars_show_about_seventy_parts_and_each_page_opens_on_one_of_them(parts: dict[str, tuple[Any, ...]]) -> None:
    shown = {name: [part.name for part in every if not part.more] for name, every in parts.items()}
    assert sum(map(len, shown.values())) <= 80 and all(4 <= len(names) <= 9 for names in shown.values()), shown
    assert all(not every[0].more and every[-1].name == core.LAST for every in parts.values())
    assert all(len({part.name for part in every}) == len(every) for every in parts.values()), "one address each"


def test_neither_the_tour_nor_the_core_hour_visits_what_is_folded(parts: dict[str, tuple[Any, ...]]) -> None:
    for name, every in parts.items():
        kept = set(core.names(name)) | {step.part for step in STEPS if step.page == name and step.part}
        assert kept <= {part.name for part in every if not part.more}, name


def test_only_one_page_opens_on_a_board_of_all_heads(parts: dict[str, tuple[Any, ...]]) -> None:
    assert parts["attention"][0].name == "walk" and next(part for part in parts["heads"] if part.name == "board").more


def test_every_finding_leads_to_a_part(parts: dict[str, tuple[Any, ...]]) -> None:
    for finding in FINDINGS:
        assert finding.part in {part.name for part in parts[finding.page]}, finding.title


def test_a_folded_part_has_its_address_and_is_in_the_bar_while_it_is_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("explorer.app.frame.EVERY_PART", False)
    at = opened("positions")
    assert "Attention" not in at.button_group(key="part.chosen").options
    at = at.button(key="part.more.schemes.attention").click().run()
    assert (
        not at.exception
        and at.query_params["part"] == "attention"
        and [block.value for block in at.header] == ["Attention follows the words"]
    )
    assert at.session_state["part.chosen"] == "attention" and "Attention" in str(at.button_group(key="part.chosen").options)
    at = at.button_group(key="part.chosen").set_value("length").run()
    assert at.query_params["part"] == "length" and not at.exception


def test_the_findings_say_what_the_pages_ask() -> None:
    at = opened("training", part="findings")
    words = " ".join(block.value for block in at.markdown)
    assert not at.exception and all(f"**{finding.title}**" in words for finding in FINDINGS)
