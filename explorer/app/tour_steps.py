"""The guided tour: short steps from page to page, each with one thing to do, where to look, and what one knows afterwards."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from explorer.app.lessons import LESSONS, SENTENCE
from explorer.app.lessons.families import questions as families
from explorer.app.lessons.start import questions
from explorer.app.lessons.vectors import questions as vectors


@dataclass(frozen=True)
class TourStep:
    """One step: its page and the part of it, a sentence, what to do, where to look, what one knows then, words that the page
    shows, what its controls are set to, and the deeds of which one ticks it off.
    """

    page: str
    part: str  # as the address names it; the first where none is named
    says: str
    do: str
    look: str
    know: str
    mark: str
    done: tuple[str, ...] = ()  # as `deeds` reads them
    choices: Mapping[str, Any] = field(default_factory=dict)


STEPS = (
    TourStep(
        "start", "masks", "Four architectures read one sentence; the mask says which token may read which.",
        "Choose another word of the sentence, above the pictures.",
        "Which column of GPT's picture changes, and where it begins.",
        "BERT reads both sides of a word. GPT reads only what comes before it, ELMo's two networks one side each, and "
        "BART has both ways: its encoder reads all, its decoder from the left.",
        "Who may see whom", ("chosen",), {"text": questions.TEXT, "chosen": "mouse"},
    ),
    TourStep(
        "start", "predictions", "Each was trained with another objective.",
        "Choose another word, for example “window”.",
        "How probable the hidden word is in each model, and which side of it that model has read.",
        "A training objective is a question with a known answer. A model that sees both sides fills the gap; one that sees "
        "the left side continues the text.",
        f"What does each model predict for “{questions.WORD}”?", ("chosen",), {"text": questions.TEXT, "chosen": questions.WORD},
    ),
    TourStep(
        "tokens", "learn", "Before training, a text is split into tokens; the vocabulary is learned from counts.",
        "Press **Next** a few times.",
        "Which pair of neighbours is joined, and how often it was counted.",
        "A vocabulary grows merge by merge. BPE begins with single characters; each step joins the neighbours with the highest count "
        "(or score) into a new token, until the vocabulary has the wanted size.",
        "Learned merge by merge", ("merges.step",), {"kind": "BPE", "way": "by count", "merges.step": 1},
    ),
    TourStep(
        "tokens", "one-text", "Other tokenizers cut the same text in other ways.",
        "Write a rare word, or one in your own language, and press Enter.",
        "Into how many tokens each tokenizer cuts it, and where [UNK] appears.",
        "WordPiece cuts a word from left to right and takes the longest token that fits, again and again; ## marks one that continues "
        "a word. A letter that it never saw makes the whole word "
        "[UNK]; a tokenizer of bytes can write everything. BPE repeats its merges instead, in the order in which it learned them.",
        "One text, several tokenizers", ("text.tokens",), {"text.tokens": "The breadbasket was unbelievable 😀"},
    ),
    TourStep(
        "vectors", "plane", "A token becomes a vector; word2vec learns it from the words around it.",
        "Choose the relation “gender”.",
        "Whether the lines from word to word are parallel, there and for “sound”.",
        "A relation can be a direction: where the lines are parallel, adding one difference leads from word to word. Not "
        "every relation is. And *bank* has one vector here, whatever its sentence; ELMo, BERT and GPT compute one for each "
        "occurrence. For a sentence, take the mean of such vectors, or [CLS]; Sentence-BERT trains that mean on pairs.",
        "Words on a plane", ("relation",), {"relation": vectors.PARALLEL},
    ),
    TourStep(
        "positions", "schemes", "Attention ignores order, so positions are added.",
        "Choose the picture “Dimensions over positions”.",
        "How fast the first dimensions change, and how slowly the last.",
        "In the sinusoidal scheme every dimension is a wave of another length; together they give each position a vector "
        "of its own. BERT and GPT learn such a table, which ends at their longest text; BERT also adds an embedding of the "
        "segment, text A or B.",
        "Position vectors", ("picture",), {"scheme": "sinusoidal"},
    ),
    TourStep(
        "positions", "schemes", "Other schemes add nothing to the embeddings.",
        "Choose the scheme “alibi”, then “rope”.",
        "What is changed in each: the scores, or queries and keys.",
        "ALiBi subtracts from a score in proportion to the distance. RoPE turns queries and keys by an angle that grows "
        "with the position, so that scores depend on the distance. T5 adds a learned number for each range of distances.",
        "Ways to encode a position", ("scheme",), {"scheme": "sinusoidal"},
    ),
    TourStep(
        "positions", "shuffle", "Does an encoder without positions notice the order of its tokens?",
        "Predict what shuffling changes.",
        "How far the states of the same word are apart in the two orders, with positions and without.",
        "Without positions an encoder reads a bag of words: the states only change places. A causal mask alone already gives "
        "a decoder something of the order.",
        "Shuffle the words", ("guess.bert",), {"shuffle": 3},
    ),
    TourStep(
        "attention", "walk", "Attention is a few matrix products, and you can walk through them.",
        "Click the board and press → until **softmax**.",
        "What each row sums to before and after it.",
        "Scores are products of queries and keys. They are divided by √dₖ, since sums of dₖ products spread as √dₖ and would "
        "push the softmax to 0 and 1. After the mask, the softmax makes each row sum to 1; the values are added up with these "
        "weights.",
        "The model computed every number below", ("board@station=softmax",), {"model": "bert", "text": SENTENCE},
    ),
    TourStep(
        "attention", "both-masks", "The causal mask puts −∞ where a token may not attend.",
        "Under **Stage**, change from scores to weights.",
        "The cells above the diagonal, and the rows under both masks.",
        "e to the −∞ is 0: what is forbidden gets weight 0, and the rest of each row still sums to 1. A text of n tokens has n² scores "
        "under either mask: this cost grows with the square of the length.",
        "The same q and k under both masks", ("masks.stage=weights",), {"model": "bert", "text": SENTENCE, "masks.stage": "scores"},
    ),
    TourStep(
        "heads", "board", "A layer has several heads, and each has weights of its own.",
        "Click another head on the board, or press ].",
        "Columns, and lines beside the diagonal.",
        "A column is a token that gets most of the weight; a line beside the diagonal is attention to a neighbour. A "
        "pattern is not yet a reason. With several heads a token can look at several others for different reasons. The outputs "
        "of all heads are put side by side, and W_O mixes them.",
        "Every head on the board", ("heads.board@head", "heads.board@layer"), {"model": "bert", "text": SENTENCE},
    ),
    TourStep(
        "heads", "lens", "The logit lens reads a prediction from each layer.",
        "Under **Probability of**, choose “the last layer's”.",
        "In which layer the final prediction becomes probable, column by column.",
        "The output layer can read any layer. Some predictions are there early, others only after the last layer.",
        "If bert ended here", ("lens.shown",), {"model": "bert", "text": SENTENCE, "lens.shown": "its own guess"},
    ),
    TourStep(
        "families", "masks", "The same weights can read under another mask.",
        "Predict what the loss does.",
        "The loss under the trained mask and under the other one.",
        "Weights and mask belong together: a model reads well only under the mask with which it was trained. One that is trained to "
        "predict the next word without a mask sees that word, and learns to copy it.",
        "The same weights under other masks", ("guess.mask",),
    ),
    TourStep(
        "families", "cross-attention", "An encoder–decoder reads a source while it writes.",
        "On the board, go from row to row with ↑ and ↓.",
        "Which word of the source the row reads, and which token is predicted in that row.",
        "Queries come from the decoder, keys and values from the encoder. The row that *predicts* a word shows where it "
        "came from: one row above the word itself.",
        "Encoder once, decoder step by step", ("writing.board@row",), {"text": families.TEXT},
    ),
    TourStep(
        "corruption", "one-strategy", "Pre-training hides parts of a text and predicts them; the text itself is the label.",
        "Move **Masking rate in %**.",
        "What the model reads, its labels, and where the loss is counted.",
        "Only the chosen positions enter the loss. Hide little, and a text teaches little; hide much, and little context is "
        "left. Some chosen tokens stay, or become random ones: later the model reads texts without [MASK], and must have "
        "learned something about visible tokens, too.",
        "mlm: from x to (x̃, ỹ)", ("mlm.share",), {"strategy": "mlm", "mlm.share": 15},
    ),
    TourStep(
        "corruption", "one-strategy", "SpanBERT hides spans, BART damages a whole text.",
        "Under **Strategy**, choose “spanbert”, then “bart”.",
        "How the labels of the two differ.",
        "SpanBERT predicts only the tokens of its spans, also from the two states beside a span (SBO), and drops NSP. BART writes the "
        "whole text again, and a span of any length has "
        "become one [MASK].",
        "One strategy, token by token", ("strategy=spanbert", "strategy=bart"), {"strategy": "mlm"},
    ),
    TourStep(
        "corruption", "one-strategy", "T5 also masks spans, and writes only what is missing.",
        "Change the **Seed** above.",
        "What stands for a span in the source, and what the target begins with.",
        "Each span becomes one sentinel token; the target holds each sentinel and after it the tokens of its span, so it "
        "is short. PEGASUS masks whole sentences; ELECTRA asks of every token whether it was replaced.",
        "t5: from x to (x̃, ỹ)", ("seed",), {"strategy": "t5", "seed": 0},
    ),
    TourStep(
        "corruption", "hide-a-word", "You can play the model.",
        "Choose a word to hide, and guess it.",
        "What BERT predicts there, and with which probability.",
        "A masked language model answers with a whole distribution; its loss is −ln of the probability of the "
        "hidden word.",
        "Hide a word", ("guess.word.*",), {"strategy": "mlm"},
    ),
    TourStep(
        "training", "watch", "A training begins with random weights.",
        "Predict the first loss.",
        "The first point of the curve, and the size of the vocabulary.",
        "A model that has learned nothing gives each of |V| tokens about the same probability: its loss is about ln |V|. BERT's "
        "loss is a sum: the hidden tokens, and next-sentence prediction (NSP). There half of the pairs follow each other, half "
        "do not, and the answer is read from [CLS].",
        "Watch a recorded training", ("guess.first.*",), {"kept": "bert"},
    ),
    TourStep(
        "training", "snapshots", "Snapshots show what a model could do on the way.",
        "Move **Snapshot of step**.",
        "The same prompts at an early step and at the last one.",
        "Usually frequent words come first, then words that fit their neighbours, then words that fit the text. RoBERTa is a "
        "BERT trained longer on more text, with new masks each time and without NSP; DistilBERT learns a larger model's "
        "probabilities.",
        "Scrub through its snapshots", ("at",), {"kept": "gpt"},
    ),
    TourStep(
        "elmo", "letters", "Before the Transformer, ELMo read letters and words from both sides.",
        "Write a word of your own and press Enter.",
        "Which letters make each filter answer most strongly.",
        "A word's first vector comes from its letters, so even a word that was never seen in training has one. Two LSTMs of two "
        "layers read on from it: one predicts each next word, the other each word before. If one could read the other's states, it "
        "would have seen the word that it must predict.",
        "From letters to a word", ("word",), {"word": "fishing"},
    ),
    TourStep(
        "elmo", "weights", "Every task mixes ELMo's layers in its own way.",
        "Predict which task uses the lowest layer most.",
        "The three weights of each task.",
        "The weights are learned with the task: a softmax over the layers, and one scale γ. Each task ends with a mix of its own. The "
        "language models stay frozen: the task's model reads [x; ELMo], its word "
        "vectors beside the mix.",
        "The weights that each task learns", ("guess.lowest",),
    ),
    TourStep(
        "finetuning", "inputs", "A pre-trained model learns a task from few labelled texts.",
        "Under **Task**, choose another one.",
        "How two texts stand in one row, and which state is read.",
        "Pairs are joined by a delimiter into one row, and a new output layer reads one state: that of [EXTRACT] in GPT, of "
        "[CLS] in BERT. To label tokens it reads every state; for an answer in a text, it scores each token as first and as "
        "last. BERT and GPT go on training all weights. A word in several tokens has its label at the first one. "
        "GLUE is a set of nine such tasks.",
        "What is read for each task", ("task-inputs.task",), {"tuned": "gpt2"},
    ),
    TourStep(
        "prompting", "ask", "A frozen model answers by the word that it finds most probable.",
        "Choose another **Template**.",
        "The probabilities of the two words, before and after.",
        "No weight has changed, and yet the answer can: a prompt's wording is part of the question. Larger models are trained "
        "for it: instruction tuning on tasks written as text; RLHF, reinforcement learning from human feedback, on a reward "
        "model of the answers that people prefer.",
        "Ask it yourself", ("template",), {"prompted": "gpt2"},
    ),
    TourStep(
        "decoding", "next-token", "A model gives probabilities; a decoding strategy chooses the text.",
        "Make your guess, then move **Temperature**.",
        "The most probable bar at a low and at a high temperature.",
        "Temperature divides the scores before the softmax: below 1 the best token gains, above 1 the others do. Top k keeps "
        "the k most probable tokens, top p the fewest whose probabilities reach p together.",
        "Which token comes next?", ("next-piece.0.temperature",),
    ),
    TourStep(
        "decoding", "beams", "Beam search keeps several texts at once.",
        "Change the number of beams.",
        "Which texts were kept, which were pruned, and their scores.",
        "Greedy keeps the best token of each step alone; a beam can keep a text whose first token was not the best. More beams find more "
        "probable texts, and those need "
        "not be better ones.",
        "What the search kept, and what it pruned", ("beams",), {"beams": 3},
    ),
    TourStep(
        "whatif", "change-one-thing", "Ablate a head to find out whether it is needed.",
        "Choose another **Head**.",
        "How far the predictions move, and at how many positions another token becomes the most probable.",
        "To look at a head is one thing, to take it away another: only the second tests whether the model needs it. Often "
        "hardly anything changes, since other heads do the same: take several away together. *Patches* copy a state from another text "
        "instead: where the answer follows, that state carries what decides it.",
        "How the predictions changed", ("edit.head",), {"model": "bert", "text": SENTENCE},
    ),
    TourStep(
        "yours", "architectures", "All of this works for your own model.",
        "Look your architecture up in the table, then answer the question below it.",
        "What can be shown of it, and the reason where something cannot.",
        "Each architecture in the table was compared with its own implementation; where not everything can be shown, it says why. A "
        "closed model shows only its text; open weights show attention and "
        "states, too; an open model also its data and code. Perplexity counts tokens, so models that cut texts differently are "
        "compared in bits per character.",
        "Which architectures open", ("guess.perplexity",),
    ),
)  # fmt: skip


def steps_on(pages: Collection[str]) -> tuple[TourStep, ...]:
    """The steps whose pages there are; a lesson without a step here gets one from its line in the list of lessons."""
    written = tuple(step for step in STEPS if step.page in pages)
    others = [LESSONS[name] for name in pages if name in LESSONS and name not in {step.page for step in written}]
    return written + tuple(
        TourStep(
            lesson.name,
            "",
            lesson.about,
            "Move each control once.",
            "What changes with it, and what stays.",
            lesson.about,
            lesson.title,
        )
        for lesson in others
    )


def number_of(asked: object, count: int) -> int | None:
    """A step's number, from 1, as an address says it; None where it says none."""
    text = str(asked)
    return int(text) if text.isascii() and text.isdigit() and len(text) < 5 and 1 <= int(text) <= count else None
