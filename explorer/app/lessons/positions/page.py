"""Lesson 4. Positions: how a model encodes the order of tokens, and what it knows without position encodings."""

from functools import partial

import streamlit as st

import explorer as ex
from explorer.app import core, flying, guessing, hold, recorded, thumbnails, web
from explorer.app.call import Call
from explorer.app.controls import model_of, opened, read, result_of, sentence
from explorer.app.frame import NOTHING, LessonPage, PagePart, asking
from explorer.app.glossary import say
from explorer.app.lectured import warn_of_lectured
from explorer.app.lessons.positions import questions as lesson
from explorer.app.notice import notice
from explorer.app.prose import prose
from explorer.nn.positions import POSITIONS
from explorer.views import VIEWS
from explorer.views.titles import titled

PROSE = prose("positions")

FLOWN = "flying.known"
SEEN = 24  # positions in a small picture
TABLES = {"learned (bert)": "bert", "learned (gpt2)": "gpt2", "t5 (t5)": "t5", "disentangled (deberta)": "deberta"}


def placed(name: str) -> Call:
    """A scheme by name, or the trained table of a shipped model."""
    return Call(ex.places, model_of(TABLES[name]) if name in TABLES else name)


def shuffled(name: str, text: str, seed: int) -> Call:
    """A text read in two orders."""
    return Call(ex.shuffle, model_of(name), text, seed=seed)


def schemes() -> None:
    """One scheme, in the pictures that fit it."""
    names = [*(scheme for scheme in POSITIONS if scheme not in ("learned", "sinusoidal-halves")), *TABLES]
    thumbnails.framed("scheme")
    scheme = st.pills("Scheme", names, default="sinusoidal", required=True, key="scheme", bind="query-params")
    record = read(placed(scheme))
    titles = {VIEWS[name].title: name for name in PICTURES if not VIEWS[name].fits(record)}
    if st.session_state.get("picture") not in titles:
        st.session_state.pop("picture", None)
    with st.container(key="placed.schemes"):  # beside the picture where there is room, below it on a telephone
        above, large = (st.container(key=f"{place}.schemes") for place in ("above", "picture"))
    with above:
        say(POSITIONS[record.scheme].description(trained=scheme in TABLES))
        picture = st.segmented_control(
            "Picture", list(titles), default=next(iter(titles)), required=True, key="picture", bind="query-params"
        )
    with large:
        web.show(VIEWS[titles[picture]], placed(scheme), steps="place")  # the hands turn from position to position
    if not core.on():
        say(PROSE("why add"))
        st.caption(PROSE("small pictures", seen=SEEN))
    # last: the large picture comes first
    thumbnails.drawn("scheme", [result_of(placed(name)).scores[0, :SEEN, :SEEN] for name in names])


def together() -> None:
    """Four schemes, a line and a picture for each."""
    for name in FOUR:
        say(f"- **{name}**: {POSITIONS[result_of(placed(name)).scheme].description(trained=name in TABLES)}")
    web.beside(VIEWS["place-distances"], [placed(name) for name in FOUR], across=2)


def orders() -> None:
    """A sentence in two orders, with positions and without."""
    ways = {
        f"{titled(name)}, {kind}": partial(in_two_orders, name)
        for name, kind in (("bert", "an encoder"), ("gpt2", "a decoder"))
    }
    web.one_of("Model", ways, "orders")


def in_two_orders(name: str) -> None:
    """The tokens on their way, and how far their states changed, after a guess."""
    both = read(shuffled(name, text, seed))
    flying.tokens(both, changes=name == "bert" and FLOWN in st.session_state)
    question = (lesson.blind_question(both), f"guess.{name}")
    below = changes_known if name == "bert" else None
    web.show(VIEWS["order"], shuffled(name, text, seed), key=name, question=question, below=below)


def changes_known() -> None:
    """Once the first question is answered, the tokens above it show how far their states changed."""
    if guessing.known("guess.bert") and FLOWN not in st.session_state:
        st.session_state[FLOWN] = True
        st.rerun()


def followed() -> None:
    """Attention weights in two orders."""
    read(shuffled("bert", text, seed))
    web.show(VIEWS["order-attention"], shuffled("bert", text, seed))


def beyond() -> None:
    """Texts longer than those of training: loss by position, and during training, of one family."""
    family = st.segmented_control(
        "Family", ("decoder", "encoder"), default="decoder", required=True, key="family", bind="query-params"
    )
    question = lesson.reach_question(result_of(recorded.call("lengths-decoder")))
    recorded.guessed(question, "guess.reach", {f"{name}-{family}": words for name, words in lesson.REACH.items()})
    st.markdown(f"Measure again: `python -m studies.lengths {family}`.")


FOUR = (
    "sinusoidal",
    "rope",
    "t5 (t5)",
    "alibi",
)  # an addition to the embeddings, a rotation, and two ways to change the scores
PICTURES = ("place-vectors", "place-curves", "place-turns", "place-scores", "place-distances")
page = LessonPage(PROSE)
with page.bar, st.container(horizontal=True, vertical_alignment="bottom"):
    text = sentence()
    seed = int(st.number_input("Shuffle number", 0, 99, 0, key="shuffle", bind="query-params", width=260))
with page.bar:
    hold.bar(text, read(lambda: opened("bert").tokens(text)))
notice(text, "bert", "gpt2")
warn_of_lectured(text)

page.parts(
    PagePart("Ways to encode a position", schemes, "Schemes", reads=NOTHING),
    PagePart("Four schemes side by side", together, "Side by side", more=True),
    PagePart("Shuffle the words", orders, "Shuffle"),
    PagePart("Attention follows the words", followed, "Attention", more=True),
    PagePart("Beyond the trained length", beyond, "Length", reads=NOTHING),
    asking(
        lambda: lesson.exercises(*(result_of(placed(name)) for name in ("sinusoidal", "rope", "alibi", "learned (bert)"))),
        "positions.exercise",
        PROSE,
    ),
)
