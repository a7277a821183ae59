"""Every picture, by name: `ex.views["attention"]`. A view draws a record and knows no model, notebook or web page.

>>> "attention" in list(ex.views)
True
"""

from explorer.errors import unknown
from explorer.views import (
    attention,
    beside,
    blueprint,
    boundaries,
    chances,
    changes,
    circuits,
    contributing,
    counted,
    curves,
    detection,
    editing,
    elmo,
    families,
    filling,
    finetuned,
    finetuning,
    grid,
    growing,
    guess,
    head_search,
    inside,
    layers,
    merges,
    misled,
    mixes,
    neighbours,
    order,
    over_steps,
    pieces,
    plane,
    positions,
    projections,
    prompting,
    pronouns,
    runs,
    scores,
    sentences,
    simple,
    smoothing,
    start,
    strategies,
    stream,
    terms,
    training,
    tree,
    tuning,
    two_texts,
    updating,
    vectors,
    word_pairs,
    words,
    writing,
)
from explorer.views.view import Choice, Control, Range, Toggle, View, drawn_of

OLD = {"walk": "attention"}  # views under names that they had: the steps of a layer are the stations of `ex.board`


class Gallery(dict[str, View]):
    """Every picture, by name: `ex.views["attention"]`. A view draws a record and knows no model, notebook or web page.

    >>> "attention" in list(ex.views)
    True
    """

    def for_(self, record: object) -> list[str]:
        """The names of the views that draw this record.

        >>> "attention" in ex.views.for_(ex.trace(ex.load("bert"), "A dog ran."))
        True
        """
        shown = drawn_of(record)
        many = shown if isinstance(shown, list) and shown else [shown]  # a list is shown side by side
        return [name for name, view in self.items() if not view.fits(shown) or not any(map(view.fits, many))]

    def __missing__(self, name: str) -> View:
        return view_of(name)


def view_of(name: object) -> View:
    """The view with this name, or a sentence with the names that there are."""
    known = OLD.get(name, name) if isinstance(name, str) else name
    if not isinstance(known, str) or known not in VIEWS:
        raise unknown("view", name, VIEWS)
    return VIEWS[known]


VIEWS = Gallery({
    **start.VIEWS, **attention.VIEWS, **simple.VIEWS, **curves.VIEWS, **positions.VIEWS, **order.VIEWS,
    **strategies.VIEWS, **grid.VIEWS, **chances.VIEWS, **guess.VIEWS, **terms.VIEWS, **boundaries.VIEWS,
    **tree.VIEWS, **writing.VIEWS, **growing.VIEWS, **filling.VIEWS,
    **elmo.VIEWS, **mixes.VIEWS, **neighbours.VIEWS, **vectors.VIEWS, **plane.VIEWS, **word_pairs.VIEWS, **sentences.VIEWS, **editing.VIEWS,
    **detection.VIEWS, **inside.VIEWS, **changes.VIEWS, **beside.VIEWS, **circuits.VIEWS, **layers.VIEWS, **contributing.VIEWS,
    **merges.VIEWS, **pieces.VIEWS, **words.VIEWS, **training.VIEWS, **runs.VIEWS, **smoothing.VIEWS, **families.VIEWS,
    **blueprint.VIEWS, **stream.VIEWS, **finetuning.VIEWS, **finetuned.VIEWS, **prompting.VIEWS, **tuning.VIEWS, **scores.VIEWS,
    **two_texts.VIEWS, **misled.VIEWS, **head_search.VIEWS, **counted.VIEWS, **updating.VIEWS,
    **pronouns.VIEWS, **projections.VIEWS, **over_steps.VIEWS,
})  # fmt: skip
views = VIEWS  # as `ex.views`

__all__ = ["VIEWS", "Choice", "Control", "Gallery", "Range", "Toggle", "View", "views"]
