"""The glossary: what a word means here, on hover at its first use on a page, and as a page."""

from __future__ import annotations

import re
from dataclasses import dataclass

import streamlit as st

SEEN = "glossary.seen"  # which text of a page explains a term


@dataclass(frozen=True)
class Term:
    """A word of the course, what it means, and other forms in which it is written.

    Where a word means several things, `where` is what a text must have for it to mean this one.
    """

    name: str
    says: str
    forms: tuple[str, ...] = ()
    where: str = ""

    @property
    def anchor(self) -> str:
        """Where it stands on the page of the glossary."""
        return re.sub(r"[^a-z0-9]+", "-", self.name.lower()).strip("-")


NO_WAVE = "^(?!.*([Ss]ines and|learning rate))"  # a text on vectors, not on the waves of positions or a schedule
WEIGHED = (
    r"softmax|logit|quer|\bkey|attention|probab|answer"  # one on the scores that a softmax reads, not on those of a metric
)
TERMS = (
    Term("token", "A unit of the vocabulary: a word, a piece of a word or a sign. A model reads and predicts tokens.", ("tokens",)),
    Term("vocabulary", "All tokens that a model can read, each with a number.", ("|V|",)),
    Term("position", "The number of a token in its text, from 0.", ("positions",)),
    Term("vector", "A list of numbers. Every token is one inside a model.", ("vectors",)),
    Term("embedding", "The vector that a token has before the first layer, from a table that is learned.", ("embeddings",)),
    Term("state", "The vector of a token after a layer.", ("hidden state", "states")),
    Term("layer", "One round of attention and feed-forward network; each changes the states a little.", ("layers",)),
    Term("block", "A part of a layer: attention, feed-forward network or norm.", ("blocks",)),
    Term("weights of a model", "All numbers of a model that training changes.", ("parameters",)),
    Term("attention", "A token reads others: a weighted mean of their values. The weights come from queries and keys."),
    Term("attention weight", "How much of a token's value another token takes. In each row they sum to 1.", ("attention weights",)),
    Term("query", "The vector that says what a token looks for.", ("queries",)),
    Term("key", "The vector that says what a token is matched by.", ("keys",), "quer|value|attention|score"),
    Term("value", "The vector that a token passes on to those that read it.", ("values",), r"quer|\bkey|attention"),
    Term("attention head", "One attention with separate queries, keys and values; a layer has several.", ("head", "heads")),
    Term("output layer", "What turns the last state into a score for every token of the vocabulary.", ("output layers",)),
    Term(
        "mask", "The table of allowed pairs: which token may read which.", ("masks", "attention masks", "causal mask"), "^(?!.*ask too)"
    ),
    Term("mask token", "The special token [MASK], in the place of a hidden token. It is not the attention mask.", ("[MASK]",)),
    Term("score", "A number before the softmax: the larger, the more probable. Also called logit.", ("scores", "logit", "logits"), WEIGHED),
    Term("softmax", "Turns scores into probabilities: positive numbers that sum to 1."),
    Term("probability", "A number from 0 to 1; those of all tokens sum to 1.", ("probabilities",)),
    Term("loss", "How wrong a prediction was: −ln of the probability of the right token. 0 is perfect."),
    Term("nat", "The unit of a loss with the natural logarithm; 1 nat is 1.44 bits.", ("nats",)),
    Term("perplexity", "e to the mean loss: a model is as uncertain as if it chose among so many equally probable tokens."),
    Term("entropy", "How spread out a distribution is; 0 when one token has all of it."),
    Term("KL divergence", "How far one distribution is from another, in nats; 0 when they are equal.", ("KL",)),
    Term("gradient", "How much the loss, or a score, changes when a number changes a little.", ("gradients",)),
    Term("learning rate", "How far every weight moves against its gradient in a step."),
    Term("training objective", "What a training asks a model to predict; its loss is made smaller.", ("objective", "objectives")),
    Term("seed", "The number that a random generator begins with; the same seed gives the same draws.", ("seeds",)),
    Term("batch", "The texts that are read in one training step."),
    Term("snapshot", "The weights of a model as they were at a step of its training.", ("snapshots",)),
    Term("checkpoint", "The files of a trained model: its weights, its configuration and its tokenizer.", ("checkpoints",)),
    Term("safetensors", "A file format that holds weights and nothing that can run."),
    Term("hub", "The public collection of models at Hugging Face."),
    Term("encoder", "A stack of layers in which every token reads every other."),
    Term("decoder", "A stack of layers in which a token reads itself and those before it, and which writes text.", ("decoders",)),
    Term("source", "The text that the encoder of an encoder–decoder reads."),
    Term("cross-attention", "Attention from a decoder to a source: queries of the decoder, keys and values of the encoder."),
    Term("d_k", "The width of queries and keys in one head; scores are divided by its square root.", ("dₖ", "√dₖ")),
    Term("residual stream", "The states from layer to layer; every block adds its output to them. Post-norm models normalise each sum."),
    Term("feed-forward", "Two matrices with a nonlinear function between them, applied to each token alone.", ("feed-forward network",)),
    Term(
        "norm", "Brings a vector to mean 0 and deviation 1, then scales and shifts it (layer norm). RMSNorm subtracts no mean.",
        ("norms", "layer norm"), "^(?!.*gradient)",
    ),
    Term("bias", "A number that is added, whatever the input is.", ("biases",)),
    Term("rollout", "Attention through all layers: each layer is half its mean weights, half the residual connection; all are multiplied."),
    Term("logit lens", "The output layer read after an earlier layer: what the model would predict if it ended there.", ("lens",)),
    Term("disentangled attention", "Content and distance are compared separately (DeBERTa).", ("disentangled",)),
    Term("multiply-adds", "A multiplication and an addition: the unit in which work is counted."),
    Term("cosine", "How nearly two vectors point the same way: 1 the same, 0 at right angles, −1 opposite.", ("cosines",), NO_WAVE),
    Term("σ (sigmoid)", "Maps every number to one between 0 and 1.", ("sigmoid",)),
    Term("principal components", "The directions in which vectors differ most; two of them make a picture."),
    Term("negative sample", "A random word in the place of a true neighbour (word2vec).", ("negative samples",)),
    Term("θ (theta)", "All weights of a model together.", ("theta",)),
    Term("MLM", "Masked language modelling: predict the hidden tokens.", ("mlm", "masked language model")),
    Term("segment", "Which of two parts of an input a token belongs to; BERT adds an embedding for it.", ("segments",),
         r"\[SEP\]|[Ee]mbedding"),
    Term("special token", "Stands for no text: [CLS] or <|endoftext|> begins one, [SEP] ends a part; GPT's label is read from [EXTRACT].",
         ("special tokens", "[CLS]", "[SEP]", "[EXTRACT]")),
    Term("prefix mask", "Full attention among the first tokens, the prefix; causal attention after them."),
    Term("prefix", "The beginning of what a model reads. T5 reads the name of the task there.", ("prefixes",)),
    Term("f(X)", "The weight of a pair of words in GloVe's loss: it grows with their count X, up to 1."),
    Term("verbaliser", "The word that stands for a label in a prompt.", ("verbalisers",)),
    Term("calibration", "Each probability is divided by what a model prefers after a text that says nothing.",
         ("Calibration", "calibrated")),
    Term("NSP", "Next-sentence prediction: does the second part follow the first? In half the pairs it does; read from [CLS].", ("nsp",)),
    Term("SOP", "Sentence-order prediction: are two sentences in their order?", ("sop",)),
    Term("LM", "Language modelling: predict the next token.", ("lm",)),
    Term("SBO", "Span-boundary objective: predict a span from the states of the two tokens beside it (SpanBERT).", ("sbo",)),
    Term("masking rate", "Which part of the tokens is hidden."),
    Term("span", "Neighbouring tokens that are hidden together.", ("spans",)),
    Term("Poisson", "A distribution of whole numbers with a given mean; BART draws the lengths of its spans from it."),
    Term("ROUGE-1", "How many words two texts share (F1)."),
    Term("generator", "In ELECTRA: a small model that replaces hidden tokens by ones that it finds probable."),
    Term("probe", "A small classifier on frozen states: what can be read from them.", ("probes",)),
    Term("beam search", "Keeps the few most probable texts at each step.", ("beam", "beams")),
    Term("greedy", "Always takes the most probable next token.", ("Greedy",)),
    Term("temperature", "Scores are divided by it before the softmax: below 1 surer, above 1 more varied."),
    Term("early stopping", "When a beam search ends although unfinished texts are left."),
    Term("decoding strategy", "How a text is chosen when a model gives the probabilities.", ("strategies",)),
    Term("LSTM", "Long short-term memory: a network that reads one token after the other.", ("LSTMs",)),
    Term("biLM", "Two language models, one reads from the left, the other from the right.", ("biLMs",)),
    Term("highway", "A layer that mixes its input with what it makes of it, by gates that are learned."),
    Term("max-pooling", "Of a filter's numbers at all positions only the largest is kept."),
    Term("fine-tuning", "Training a pre-trained model further, on labelled examples of a task."),
    Term("pre-training", "Training on plain text whose labels are its own tokens."),
)  # fmt: skip
FORMS = {form: term for term in TERMS for form in (term.name, *term.forms)}
_WORD = "|".join(sorted(map(re.escape, FORMS), key=len, reverse=True))
SCAN = re.compile(  # code, formulas, links, and what stands in brackets already are left alone
    rf"`[^`]*`|\$[^$]+\$|!?\[[^\]]*\]\([^)]*\)|(?<![\w-])(?<!arrow )(?P<term>{_WORD})(?![\w-])"
)


def begin() -> None:
    """A page begins: nothing on it has been explained yet."""
    st.session_state[SEEN] = {}


def marked(text: str) -> str:
    """A text with a link, and the meaning on hover, at each term that the page has not explained before it."""
    return explained(text, st.session_state.setdefault(SEEN, {}))


def say(text: str, *, small: bool = False) -> None:
    """A text of a lesson, with the terms that the page has not explained before it."""
    (st.caption if small else st.markdown)(marked(text))


def meaning(name: str) -> str:
    """What a term means, for the help of a control, whose name cannot be marked.

    >>> meaning("seed")
    'The number that a random generator begins with; the same seed gives the same draws.'
    """
    return FORMS[name].says


def explained(text: str, seen: dict[str, str]) -> str:
    """The text with its terms marked, where no other text has them; `seen` says which text explains a term.

    >>> explained("A token, then a token.", {})[:7], explained("A token.", {"token": "another text"})
    ('A [toke', 'A token.')
    """
    here: set[str] = set()

    def mark(found: re.Match[str]) -> str:
        term = FORMS.get(found["term"] or "")
        if (
            term is None
            or term.name in here
            or not re.search(term.where, text, re.DOTALL)
            or seen.setdefault(term.name, text) != text
        ):
            return found[0]
        here.add(term.name)
        shown = found[0].replace("[", r"\[").replace("]", r"\]").replace("|", r"\|")
        return f'[{shown}](glossary#{term.anchor} "{term.says}")'

    return SCAN.sub(mark, text)
