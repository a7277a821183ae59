"""The lessons, in the order of the course. One is a folder here: its page, what the page computes, and its questions."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from explorer.app.lessons.first_cell import SENTENCE as SENTENCE  # with which most lessons open
from explorer.app.lessons.first_cell import STARTS, fitting, fitting_word
from explorer.app.prose import Prose, prose
from explorer.errors import unknown
from explorer.errors.kinds import checked

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Lesson:
    """A lesson: the name of its folder and address, and its title in the menu.

    Its questions and exercises are its attributes (those of `questions.py`), as are its texts (the sections of `prose.md`, in capitals);
    a further part of it, such as `ex.lesson("vectors").editing`, holds those of `editing_questions.py`.
    """

    name: str
    title: str
    lectures: str  # those that it belongs to, as "L0 L2"; the front page lists it under each of them
    about: str  # what one does there, in a sentence
    models: tuple[str, ...] = ("bert",)  # without these it stays out of the menu

    @property
    def page(self) -> Path:
        """The script that Streamlit runs."""
        return HERE / self.name / "page.py"

    @property
    def prose(self) -> Prose:
        """The texts of its page."""
        return prose(self.name)

    def open(self, model: str, text: str) -> tuple[Any, str]:
        """A model and a text for its notebook. Where one does not fit, a sentence says so, and the lesson's own is taken.

        >>> model, text = lesson("attention").open("gpt2", "It was tired.")
        >>> model.name, text
        ('gpt2', 'It was tired.')
        """
        own = next((getattr(self, name) for name in ("TEXT", "PROMPT", "STORY") if name in dir(self)), SENTENCE)
        return fitting(STARTS[self.name], model, text, own)

    def word(self, word: str, text: str) -> str:
        """This word where the text has it, otherwise another word of the text and a sentence.

        >>> lesson("attention").word("dog", "The dog ran.")
        'dog'
        """
        return fitting_word(word, text)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        questions = import_module(f"{__name__}.{self.name}.questions")
        if hasattr(questions, name):
            return getattr(questions, name)
        if (HERE / self.name / f"{name}_questions.py").is_file():
            return import_module(f"{__name__}.{self.name}.{name}_questions")
        if name.isupper() and (section := name.lower().replace("_", " ")) in self.prose.sections:
            return self.prose(section)
        if name == "DECK":
            return self.prose.rows("slides")
        raise AttributeError(f"The lesson {self.name!r} has no {name!r}. It has: {', '.join(dir(self))}.")

    def __dir__(self) -> list[str]:
        questions = import_module(f"{__name__}.{self.name}.questions")
        own = [
            name for name, value in vars(questions).items() if not name.startswith("_") and _is_of(value, questions.__name__)
        ]
        return sorted([*own, *(path.stem.removesuffix("_questions") for path in (HERE / self.name).glob("*_questions.py"))])


def _is_of(value: Any, module: str) -> bool:
    """Whether something was written in this module: no module, and nothing imported."""
    return getattr(value, "__module__", module) == module and not hasattr(value, "__path__") and not hasattr(value, "__file__")


@checked
def lesson(name: str) -> Lesson:
    """A lesson by its name: what its page has besides pictures, as texts, questions to guess and exercises on records.

    >>> lesson("attention").title
    'Attention, step by step'
    >>> "exercises" in dir(lesson("attention"))
    True
    """
    if name not in LESSONS:
        raise unknown("lesson", name, LESSONS)
    return LESSONS[name]


LESSONS: dict[str, Lesson] = {
    lesson.name: lesson
    for lesson in (
        Lesson("start", "One sentence, four architectures", "", "The same sentence in ELMo, BERT, GPT and BART."),
        Lesson("tokens", "Tokens", "L0 L1 L2", "Watch a vocabulary being learned, and tokenize your own text with it."),
        Lesson(
            "vectors",
            "Vectors",
            "L1 L2 L3",
            "Find a word's nearest neighbours, and add and subtract word vectors.",
            models=("word2vec", "glove"),
        ),
        Lesson("attention", "Attention, step by step", "L0 L1 L2 L3", "Walk through one layer, one operation at a time."),
        Lesson("positions", "Positions", "L0 L1 L2", "Compare the ways to encode position, and shuffle a sentence."),
        Lesson("heads", "Heads and layers", "L0 L2", "See which token attends to which, in every head of every layer."),
        Lesson("families", "Three families", "L0 L1 L2 L3", "Remove a mask, and compare the three families part by part."),
        Lesson(
            "corruption",
            "Corruption lab",
            "L0 L1 L2 L3 L4",
            "Hide parts of a text as BERT, SpanBERT, T5 and others do, and guess along with the model.",
        ),
        Lesson("training", "Pre-training live", "L1 L3", "Watch models learn, go back to earlier snapshots, and train one."),
        Lesson(
            "elmo",
            "ELMo lab",
            "L0",
            "From letters to two language models, and to a mix of layers for each task.",
            models=("elmo",),
        ),
        Lesson(
            "finetuning",
            "Fine-tuning",
            "L0 L1 L2 L4",
            "Pre-train once, fine-tune many times: few labels, several methods, live.",
            models=("bert", "gpt2"),
        ),
        Lesson(
            "prompting",
            "Prompting",
            "L1 L2",
            "Let a frozen model answer with the word it finds most probable.",
            models=("gpt2",),
        ),
        Lesson("decoding", "Decoding, step by step", "L3", "Generate a text token by token, and see which texts were pruned."),
        Lesson("whatif", "What if", "L0 L1 L2 L3 L4", "Ablate heads, move words, remove parts, and see what breaks."),
        Lesson("yours", "Your model", "L0 L1 L2 L3 L4", "Open your own model, and put any two models or texts side by side."),
    )
}

SECTIONS: dict[str, tuple[str, ...]] = {  # of the menu
    "Begin": ("start",),
    "Text": ("tokens", "vectors"),
    "Inside": ("attention", "positions", "heads", "families"),
    "Learning": ("corruption", "training", "elmo", "finetuning"),
    "Writing": ("prompting", "decoding"),
    "Testing": ("whatif", "yours"),
}


def section_of(name: str) -> str:
    """The section of the menu that lists a lesson; the last one where none does.

    >>> section_of("heads")
    'Inside'
    """
    return next((section for section, names in SECTIONS.items() if name in names), list(SECTIONS)[-1])
