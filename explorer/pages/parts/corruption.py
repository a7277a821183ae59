"""The records of the corruption lab, made once for every visitor, and the Python that makes them again."""

from __future__ import annotations

from itertools import chain, islice
from typing import Any

import streamlit as st

from explorer.corruption import counting
from explorer.corruption.choosing import hide
from explorer.corruption.strategies import corrupt
from explorer.guessing import generator, guess
from explorer.pages.parts.opening import opened
from explorer.text.microworld import stories
from explorer.text.sentinels import with_sentinels

START = "import explorer as ex\nfrom explorer.text.sentinels import with_sentinels\ntok = with_sentinels(ex.load('bert').tokenizer)\n"
COUNTING = f"{START}from explorer.corruption import counting\ntrace = counting."
STRANGERS = "corpus=[' '.join(story) for story in stories(20, 3, 'validation')]"
NEEDS = {
    "nsp": "from explorer.text.microworld import stories\n",
    "electra": "from explorer.guessing import generator\n",
}


@st.cache_resource
def pieces() -> Any:
    """The tokenizer of the shipped model, with T5's sentinels."""
    return with_sentinels(opened("bert").tokenizer)


@st.cache_resource(max_entries=400, show_spinner="Corrupting …")
def corrupted(text: str, strategy: str, seed: int, **options: Any) -> Any:
    """One corruption. ELECTRA's generator is the shipped model; strangers come from other stories."""
    if strategy == "electra":
        options["sample"] = generator(opened("bert"), seed)
    others = [" ".join(story) for story in stories(20, 3, "validation")] if strategy == "nsp" else ()
    return corrupt(text, strategy, tokenizer=pieces(), seed=seed, corpus=others, **options)


def code_of(text: str, strategy: str, seed: int, **options: Any) -> str:
    """The Python that makes this corruption."""
    needs = {"nsp": f", {STRANGERS}", "electra": f", sample=generator(ex.load('bert'), {seed})"}.get(strategy, "")
    chosen = "".join(f", {name}={value!r}" for name, value in options.items())
    made = f"trace = ex.corrupt({text!r}, {strategy!r}, tokenizer=tok, seed={seed}{needs}{chosen})"
    return START + NEEDS.get(strategy, "") + made


def code_of_all(text: str, names: list[str], seed: int) -> str:
    """The Python that makes all of them."""
    more = f"more = {{'nsp': dict({STRANGERS}), 'electra': dict(sample=generator(ex.load('bert'), {seed}))}}\n"
    made = f"trace = tuple(ex.corrupt({text!r}, name, tokenizer=tok, seed={seed}, **more.get(name, {{}})) for name in names)"
    return f"{START}{NEEDS['nsp']}{NEEDS['electra']}{more}names = {names}\n{made}"


@st.cache_resource(max_entries=100, show_spinner="Counting …")
def counted(text: str) -> Any:
    """What many draws do to a text: rates, lengths by strategy, gap sentences."""
    lengths = {name: counting.span_lengths(text, name, tokenizer=pieces()) for name in counting.LAWS}
    return counting.rates(text, tokenizer=pieces()), lengths, counting.gap_sentences(text, tokenizer=pieces())


@st.cache_resource(max_entries=40)
def thousand(seed: int) -> Any:
    """A thousand pieces of new stories, masked."""
    return corrupt(first_pieces(1000), "mlm", tokenizer=pieces(), seed=seed)


def first_pieces(count: int) -> Any:
    """The first pieces of some stories, as one text."""
    sentences = (pieces().encode(sentence, special=False) for story in stories(40, 4, "validation") for sentence in story)
    return pieces().tokens(list(islice(chain.from_iterable(held.ids.tolist() for held in sentences), count)))


def code_of_thousand(seed: int) -> str:
    """The Python that masks the same thousand pieces."""
    ids = "ids = [int(i) for story in stories(40, 4, 'validation') for s in story for i in tok.encode(s, special=False).ids][:1000]\n"
    return f"{START}{NEEDS['nsp']}{ids}trace = ex.corrupt(tok.tokens(ids), 'mlm', tokenizer=tok, seed={seed})"


@st.cache_resource(max_entries=100, show_spinner="Guessing …")
def guessed(text: str, words: tuple[int, ...]) -> Any:
    """What the shipped model says with these words hidden."""
    model = opened("bert")
    return guess(model, hide(text, words, tokenizer=model.tokenizer))


@st.cache_resource(max_entries=200, show_spinner="Guessing …")
def judged(text: str, strategy: str, seed: int, **options: Any) -> Any:
    """What the shipped model says where a strategy asks."""
    return guess(opened("bert"), corrupted(text, strategy, seed, **options))


def code_of_guess(text: str, words: tuple[int, ...]) -> str:
    """The Python that lets the model guess."""
    hidden = f"ex.hide({text!r}, {list(words)}, tokenizer=bert.tokenizer)"
    return f"import explorer as ex\nbert = ex.load('bert')\ntrace = ex.guess(bert, {hidden})"
