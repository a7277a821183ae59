"""Lesson 3. Positions: how a model is told where a word stands, and what it knows without being told."""

from functools import partial
from typing import Any

import streamlit as st

from explorer import library
from explorer.lessons import positions as lesson
from explorer.nn.positions import POSITIONS
from explorer.pages.parts import recorded
from explorer.pages.parts.opening import SENTENCE, opened, read, warn_of_unseen
from explorer.shells import web
from explorer.shells.lesson import deck, exercises, predict
from explorer.views import VIEWS

TABLES = {"learned (bert)": "bert", "learned (gpt2)": "gpt2", "t5 (t5)": "t5", "disentangled (deberta)": "deberta"}
SAYS = {
    "none": "No scheme at all. To an encoder the sentence is then a bag of words.",
    "sinusoidal": "Fixed curves, **added** to the words: $PE(p,2i)=\\sin(p/10000^{2i/d})$, $PE(p,2i{+}1)=\\cos(p/10000^{2i/d})$.",
    "sinusoidal-halves": "The same sines and cosines in another order (first all sines), as Marian has them.",
    "t5": "One trained number for each head and each range of distances, **added to the scores**. Here at random; *t5 (t5)* has learned.",
    "t5 (t5)": "What the decoder of a shipped T5 learned to **add to the scores**: one number for each head and each range of distances.",
    "rope": "Each pair of features of $q$ and $k$ is **turned** by an angle that grows with the place; $q\\cdot k$ sees the difference.",
    "alibi": "A fixed penalty for distance, **added to the scores**; each head has its own slope $m$: $-m\\,|i-j|$.",
    "disentangled": "DeBERTa: word to distance and distance to word are **scores** of their own. Here at random.",
    "disentangled (deberta)": "What a shipped DeBERTa learned: the **scores** of distances for one and the same word everywhere.",
}


@st.cache_resource(show_spinner=False)
def placed(name: str) -> Any:
    """A scheme by name, or the trained table of a shipped model."""
    from explorer.placing import places

    return places(opened(TABLES[name])) if name in TABLES else places(name)


@st.cache_resource(max_entries=100, show_spinner="Shuffling …")
def shuffled(name: str, text: str, seed: int) -> Any:
    """A text read in two orders."""
    from explorer.placing import shuffle

    return shuffle(opened(name), text, seed=seed)


st.title("Positions")
st.markdown(
    "Attention compares every word with every other, and the formula does not say where they stand. Each scheme below puts that "
    "back in its own way: onto the words, into queries and keys, or into the scores."
)
names = [*(scheme for scheme in POSITIONS if scheme != "learned"), *TABLES]
scheme = st.selectbox("Scheme", names, index=names.index("sinusoidal"), key="scheme", bind="query-params", width=280)
record = placed(scheme)
st.markdown(SAYS.get(scheme, "A trained vector for each place, **added** to the words. There is none beyond the table."))
model = f"ex.load({TABLES[scheme]!r})" if scheme in TABLES else repr(scheme)
code = f"import explorer as ex\ntrace = ex.places({model})"
PICTURES = ("place-vectors", "place-curves", "place-turns", "place-scores", "place-distances")
views = [name for name in PICTURES if not VIEWS[name].fits(record)]
titles = {VIEWS[name].title: name for name in views}
if st.session_state.get("picture") not in titles:
    st.session_state.pop("picture", None)
picture = st.segmented_control(
    "Picture", list(titles), default=next(iter(titles)), required=True, key="picture", bind="query-params"
)
web.show(VIEWS[titles[picture]], record, code=code)

st.header("Shuffle the words", divider="blue")
with st.container(horizontal=True, vertical_alignment="bottom"):
    text = st.text_input("Your sentence", SENTENCE, key="text", bind="query-params")
    seed = st.number_input("Shuffle number", 0, 99, 0, key="shuffle", bind="query-params", width=160)
for name in ("bert", "gpt2"):
    both = read(partial(shuffled, name, text, int(seed)))
    warn_of_unseen(both.tokens)
    again = f"import explorer as ex\ntrace = ex.shuffle(ex.load({name!r}), {text!r}, seed={int(seed)})"
    show = partial(web.show, VIEWS["order"], both, code=again, key=name)
    predict(lesson.blind_question(both), f"guess.{name}", show)

st.header("Attention follows the words", divider="blue")
web.show(VIEWS["order-attention"], shuffled("bert", text, int(seed)), code=again.replace("gpt2", "bert"))

st.header("Beyond the trained length", divider="blue")


def reach() -> None:
    """Loss by place, and while training, of one family."""
    family = st.segmented_control(
        "Family", ("decoder", "encoder"), default="decoder", required=True, key="family", bind="query-params"
    )
    recorded.show({f"{name}-{family}": words for name, words in lesson.REACH.items()})
    st.markdown(f"Measure again: `python -m explorer.experiments.lengths {family}`.")


if recorded.there("lengths-decoder"):
    predict(lesson.reach_question(library.result("lengths-decoder")), "guess.reach", reach)

exercises(lesson.exercises(*(placed(name) for name in ("sinusoidal", "rope", "alibi", "learned (bert)"))), "positions.exercise")
deck(lesson.DECK, lesson.NOTATION)
