"""The records of the lesson on tokens, as calls that the page runs and prints."""

from __future__ import annotations

import explorer as ex
from explorer.app.call import Call
from explorer.text import classroom
from explorer.text.kinds import words_of

SHELF, TOYS = Call(ex.text.classroom.shelf), Call(ex.text.classroom.toys)


def labelled(text: str) -> Call:
    """Word labels from a tagger that counts the tokens of a small vocabulary."""
    small = Call(ex.tokenizer, "wordpiece", TOYS, size=250)
    return Call(ex.text.word_labels, text, small, TOYS, Call(ex.text.classroom.toys, 200, seed=2))


def learned(kind: str, by: str, *watch: str) -> Call:
    """Every merge of one way of learning."""
    return Call(ex.text.classroom.learned, kind, by, watch) if watch else Call(ex.text.classroom.learned, kind, by)


def one_word(text: str) -> str:
    """The first word of what was typed, as WordPiece sees it."""
    return (words_of(classroom.shelf()["wordpiece"].core, text) or ["breadbasket"])[0]
