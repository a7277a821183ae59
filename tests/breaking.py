"""What tries to break the explorer, in one report: `make break`. Ends with 1 if anything was lost.

It runs the tests below in full, or a sample with `--quick`: those of the findings, of files, of crashes, of hostile arguments and
addresses, of values of another kind, of what strangers bring, and of pages that were edited. It counts every case: how many were
tried, survived (a result in order or an error of one line), and lost.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).parent.parent
TESTS = (
    "hostile", "hostile_files", "crashes", "redteam", "settings", "refusing", "classroom", "caches", "trial", "serve", "records", "shelf",
    "task_files", "saved_pages", "own_texts", "vote", "brought", "live", "live_homes", "learning", "library", "corpora", "tray", "homework",
    "live_site", "class_runs", "training", "making", "same_numbers", "constraints",
)  # fmt: skip

CLASSES = {  # what an attack tries, and the tests that try it; each is a line of the report
    "equal values of another kind": ("an_equal_value_of_another_kind_gives_the_same_result",),
    "addresses: nothing, infinity": ("no_value_in_an_address_ends_a_page",),
    "settings that name a file": (
        "no_setting_of_a_tokenizer_opens_another_file", "a_vocabulary_that_is_a_path_is_refused", "a_link_out_of_the_folder_is_refused",
        "an_index_names_safetensors_beside_it_and_nothing_else", "no_adapter_beside_a_model_is_followed",
        "no_code_for_attention_is_fetched_from_the_hub",
    ),
    "claims of size": (
        "one_number_takes_no_memory", "parts_and_tables_that_no_file_holds_are_refused", "a_small_archive_that_fills_the_memory_is_refused",
        "a_shape_larger_than_its_weights_is_refused_before_memory_is_taken", "a_tokenizer_that_asks_for_too_much_is_refused",
    ),
    "full disks": (
        "no_space_left_spoils_nothing_that_was_there", "a_full_disk_leaves_what_was_saved_before", "a_full_disk_is_one_sentence",
        "a_disk_that_fills_keeps_what_has_come", "a_full_disk_is_said_and_afterwards_it_goes_on",
        "a_full_disk_leaves_the_point_before_intact", "a_full_disk_is_a_file_error_when_a_training_is_stopped",
        "a_disk_that_is_full_while_unpacking_is_said",
    ),
    "reloads as voters": (
        "many_votes_from_one_address_and_more_than_a_hall_are_refused", "a_reload_and_a_killed_server_lose_no_vote_and_add_none",
        "each_visitor_has_one_vote_and_none_after_the_answer",
    ),
    "saved pages, edited": (
        "a_damaged_page_says_so_and_shows_nothing", "a_damaged_model_is_one_sentence_on_its_page",
        "a_model_that_was_edited_by_hand_is_refused_in_a_sentence_and_keeps_no_page_busy",
        "a_saved_training_that_was_edited_or_cut_asks_for_nothing_that_no_page_trains",
    ),
    "models and names on a site": (
        "whatever_a_model_or_a_notebook_is_called_its_page_is_found_and_nothing_else_is_written",
        "a_page_that_no_notebook_was_made_into_is_refused", "a_model_whose_run_was_edited_is_refused",
    ),
    "fetches, cut or poisoned": (
        "a_cut_fetch_goes_on", "a_poisoned_file_is_refused_and_removed", "what_was_damaged_on_the_way_is_refused",
        "what_another_file_left_behind_is_fetched_again",
    ),
    "archives": (
        "a_path_that_leads_out_is_refused", "a_link_is_refused", "bombs_are_refused_whether_they_tell_their_size_or_not",
        "a_zip_that_is_cut_short_or_damaged_is_refused", "damaged_data_are_refused_however_they_are_packed",
    ),
    "small files of huge texts": (
        "a_small_file_that_unpacks_to_a_huge_one_takes_no_memory", "a_small_file_of_millions_of_empty_rows_is_not_read_to_its_end",
        "a_small_file_that_says_a_long_text_a_million_times_is_refused_before_memory_is_taken",
    ),
    "uploads that end a process": ("what_would_end_the_room_ends_its_own_process", "a_folder_that_a_visitor_names_is_tried_too"),
}  # fmt: skip


def tests(book: Path, quick: bool, chosen: list[str]) -> ElementTree.Element:
    """Run the tests, which write each case into the book; their report."""
    report = book.with_suffix(".xml")
    here = {**os.environ, "EXPLORER_BREAK": str(book), "EXPLORER_TEST_ALL": "0" if quick else "1"}
    files = [f"tests/test_{name}.py" for name in chosen or TESTS]
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        *("-n", str(min(3, os.cpu_count() or 1)), "--dist", "loadfile", "--no-loadscope-reorder"),
        *("-p", "no:cacheprovider"),
        "-o",
        "junit_family=xunit1",
        f"--junitxml={report}",
        *files,
    ]
    subprocess.run(command, cwd=ROOT, env=here, check=False)
    return ElementTree.parse(report).getroot()


def counted(book: Path) -> dict[str, Counter[bool]]:
    """Of each kind of case, how many survived and how many did not."""
    counts: dict[str, Counter[bool]] = {}
    for line in book.read_text("utf-8").splitlines() if book.is_file() else ():
        what, survived = json.loads(line)
        counts.setdefault(what, Counter())[survived] += 1
    return counts


def by_tests(root: ElementTree.Element) -> dict[str, Counter[bool]]:
    """Of the tests of every class, and of all of them, how many passed and how many did not."""
    counts = {name: Counter[bool]() for name in (*CLASSES, "tests")}
    for case in root.iter("testcase"):
        passed, called = case.find("failure") is None and case.find("error") is None, case.get("name", "").partition("[")[0]
        for name in [name for name, tried in CLASSES.items() if called.removeprefix("test_") in tried] + ["tests"]:
            counts[name][passed] += case.find("skipped") is None
    return counts


def table(counts: dict[str, Counter[bool]]) -> str:
    """The report: a line for each kind."""
    lines = [f"{'what':<40} {'tried':>8} {'survived':>9} {'lost':>6}"]
    for what, results in counts.items():
        lines.append(f"{what:<40} {results.total():>8,} {results[True]:>9,} {results[False]:>6,}")
    return "\n".join(lines)


def main(arguments: list[str]) -> int:
    """Run everything, print the report, and say whether something was lost."""
    began, quick = time.monotonic(), "--quick" in arguments
    with tempfile.TemporaryDirectory() as folder:
        book = Path(folder) / "book.jsonl"
        root = tests(book, quick, [name for name in arguments if not name.startswith("-")])
        counts = counted(book) | by_tests(root)
    lost = sum(results[False] for name, results in counts.items() if name not in CLASSES)  # these are among all tests
    print(table(counts))
    print(f"{time.monotonic() - began:.0f} s, {'a sample' if quick else 'in full'}. Lost: {lost}.")
    return int(lost > 0 or not counts["tests"].total())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
