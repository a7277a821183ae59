"""Handing in through the room: what is kept of forty browsers, and what is refused of hostile files, names and requests."""

from __future__ import annotations

import asyncio
import json
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from conftest import LONG
from offline import free_port
from playwright.sync_api import Browser, FilePayload, expect
from test_homework import given
from test_vote import phone, room_server

from explorer.app import guard, hosted, streamlit_inside
from explorer.app.homework import hand_ins, tray
from explorer.app.homework.tray import Tray, plain_name
from explorer.app.room import _SETTINGS
from explorer.errors import ExplorerError


def written(number: int, **more: str) -> bytes:
    """A hand-in, as a browser writes it."""
    parts = given(number, number % 2 == 0) | more
    parts.pop("checksum")
    return json.dumps({**parts, "checksum": hand_ins.checksum_of(parts)}).encode()


def test_a_browser_has_one_hand_in_of_each_homework_and_a_server_that_is_started_again_has_them_all(tmp_path: Path) -> None:
    box = Tray(tmp_path / "tray", rate=1000)
    for number in range(40):
        assert not box.put(f"phone {number}", f"hand-in {number}.json", written(number)).edited
    box.put("phone 7", "better.json", written(107))
    box.put("phone 7", "better.json", written(207, homework="ba9876543210"))
    files = dict(Tray(tmp_path / "tray").files())
    every, refused = hand_ins.read_hand_ins(files.items())
    assert len(every) == 41 and not refused
    assert {dict(each.texts)["Notes"] for each in every} == {f"n {n}" for n in (*range(7), *range(8, 40), 107, 207)}
    assert not [name for name in files if "phone" in name] and sum(name.startswith("better-") for name in files) == 2
    assert {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "tray").iterdir()} == {0o600}
    box.put_homework(b"<html>")
    box.remove()
    assert list((tmp_path / "tray").iterdir()) == [] and len(box) == 0


@pytest.mark.parametrize(
    "name",
    ["../../x.json", "/etc/passwd", "..", "", "a\\..\\b.json", "x" * 10_000, "<script>.json", "=1+1.json", "con.json", "n\x00l.json",
     "\u202egnp.json", "\ud800.json", "Zoë 1.json"],
)  # fmt: skip
def test_whatever_a_file_is_called_it_lies_in_the_tray_under_a_plain_name(name: str, tmp_path: Path) -> None:
    box = Tray(tmp_path / "tray")
    box.put("anna", name, written(1))
    ((kept, content),) = box.files()
    assert content == written(1) and [path.name for path in tmp_path.iterdir()] == ["tray"]
    assert len(kept) <= 62 and all(letter.isalnum() or letter in "-_." for letter in kept) and kept[0].isalnum()


def test_what_is_no_hand_in_too_large_or_too_much_is_refused_in_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    box = Tray(tmp_path / "tray", rate=1000)
    for content, says in (
        (b"<script>", "cannot be read as JSON"),
        (b"[1]", "was not written by"),
        (b" " * 1_000_001, "at most 1 MB"),
    ):
        with pytest.raises(ExplorerError, match=says):
            box.put("anna", "x.json", content)
    assert len(box) == 0
    monkeypatch.setattr(tray, "MOST", 2)
    for who in ("anna", "ben"):
        box.put(who, "x.json", written(1))
    with pytest.raises(ExplorerError, match="takes no more hand-ins"):
        box.put("cleo", "x.json", written(2))
    box.put("anna", "x.json", written(3))  # in place of her own
    monkeypatch.setattr(tray, "ALL", 2 * len(written(1)))
    with pytest.raises(ExplorerError, match="takes no more hand-ins"):
        box.put("anna", "x.json", written(4, notes="n" * 500))
    slow = Tray(tmp_path / "slow", rate=2)
    for number in range(2):
        slow.put("dora", "x.json", written(number), "10.0.0.7")
    with pytest.raises(ExplorerError, match="Too many files"):
        slow.put("dora", "x.json", written(2), "10.0.0.7")
    slow.put("emil", "x.json", written(2), "10.0.0.8")
    (tmp_path / "file").write_text("")
    with pytest.raises(ExplorerError, match="could not keep"):
        Tray(tmp_path / "file").put("anna", "x.json", written(1))


def test_names_of_files_keep_what_a_student_wrote() -> None:
    assert plain_name("Anna Berg.json") == "Anna-Berg" and plain_name("...json") == "hand-in"


def asked(path: str, method: str = "PUT", length: str = "100", cookie: str = "") -> int:
    """The status with which the guard answers; 200 where it hands the request on."""
    status: list[int] = []

    async def served(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})

    async def send(message: Any) -> None:
        status.extend([message["status"]] if "status" in message else [])

    headers = [(b"content-length", length.encode())] * bool(length) + [(b"cookie", cookie.encode())] * bool(cookie)
    scope = {"type": "http", "path": path, "method": method, "headers": headers, "query_string": b""}
    with ThreadPoolExecutor(1) as alone:  # beside the loop of a browser that another test has opened
        alone.submit(asyncio.run, guard.Guard(served)(scope, None, send)).result()  # type: ignore[arg-type]
    return status[0]


@pytest.mark.parametrize(("settings", "takes"), [({}, False), ({"hand_ins": True}, True), ({"uploads": True}, True)])
def test_a_room_takes_files_only_where_it_asks_for_some_and_few_of_each_visitor(
    settings: dict[str, object], takes: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = "/_stcore/upload_file/visitor/1"
    assert asked(file, length="9999999") == 200, "on one's own computer"
    monkeypatch.setitem(_SETTINGS, "room", hosted.written(hosted.classroom_of({"key": "a key", **settings})))
    assert asked(file) == (200 if takes else 403)
    assert asked(file, cookie="x=1; explorer-teacher=a%20key") == 200
    assert asked(file, method="DELETE") == 200 and asked("/heads", method="GET") == 200
    for length in ("1200001", "", "-1", "9" * 30):  # a checkpoint may be larger: Streamlit refuses what is too large for that
        assert asked(file, length=length) == (200 if "uploads" in settings else 403)
    monkeypatch.setattr(streamlit_inside, "files_of", lambda visitor: 8)
    assert asked(file) == 403
    assert asked(file, cookie="explorer-teacher=a%20key") == 200 and asked(file, cookie="explorer-teacher=another") == 403


def anna(content: bytes) -> FilePayload:
    """A file that a student chooses."""
    return {"name": "Anna.json", "mimeType": "application/json", "buffer": content}


@LONG
@pytest.mark.browser
def test_a_student_takes_the_homework_and_hands_it_in_on_the_page_of_the_room(browser: Browser, tmp_path: Path) -> None:
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    box = Tray(tmp_path / "tray")
    box.put_homework(b"<title>Home</title>")
    with room_server(port, tmp_path, hand_ins=True, tray=str(box.folder)):
        student = phone(browser, f"{address}/hand-in")
        with student.expect_download() as download:
            student.get_by_role("button", name="homework.html").click()
        assert Path(download.value.path()).read_bytes() == b"<title>Home</title>"
        student.locator("input[type=file]").set_input_files(anna(b"<script>alert(1)</script>"))
        expect(student.get_by_text("cannot be read as JSON")).to_be_visible()
        student.locator("input[type=file]").set_input_files(anna(written(2)))
        expect(student.get_by_role("status").get_by_text("1 of 1 questions answered")).to_be_visible()
        assert [name.partition("-")[0] for name, _ in box.files()] == ["Anna"]
        teacher = phone(browser, f"{address}/lesson?teacher=secret")
        expect(teacher.get_by_text("1 came through the room")).to_be_visible()
        teacher.get_by_role("button", name="Remove them and the homework").click()
        expect(teacher.get_by_text("0 came through the room")).to_be_visible()
        assert not list(box.folder.iterdir())
        stranger = phone(browser, f"{address}/lesson")
        expect(stranger.get_by_text("This page is the teacher's")).to_be_visible()
        expect(stranger.get_by_text("came through the room")).to_have_count(0)
    for page in (teacher, student, stranger):
        page.context.close()
