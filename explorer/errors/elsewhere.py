"""Names that other libraries have, and what does the same here: for errors that would otherwise leave a reader alone."""

from __future__ import annotations

from collections.abc import Collection

MODULE = "model.module is the network, a module of PyTorch"
ATTRIBUTES = {
    "generate": "ex.decode(model, text) writes, step by step",
    "predict": "ex.guess fills what ex.hide hid; a fine-tuned model answers with .classify(texts)",
    "classify": "a fine-tuned model answers with .classify(texts): run.model of ex.finetune(model, task=…)",
    "forward": "ex.trace(model, text) runs the model and keeps everything",
    "encode": "model.tokens(text) gives the tokens",
    "tokenize": "model.tokens(text) gives the tokens, ex.tokenizer(kind, texts, size=…) learns a tokenizer",
    "train": "ex.fit(…) trains a new model, ex.finetune(model, task=…) trains one further",
    "fit": "ex.fit(…) trains a new model, ex.finetune(model, task=…) trains this one further",
    "train_tokenizer": "ex.tokenizer(kind, texts, size=…) learns one",
    "fill_mask": "ex.decode(model, 'A ___ ran.', 'fill') fills blanks; ex.guess fills what ex.hide hid",
    "pipeline": "ex.load(name) opens a model; help(ex) lists what can be done with it",
    "from_pretrained": "ex.load(name or folder) opens a model",
    "save_pretrained": "ex.export(model, folder) writes what transformers opens",
    "perplexity": "ex.analysis.text_losses(model, texts) measures texts",
    "surprisal": "trace.losses has −log P of each token, ex.analysis.text_losses(model, texts) that of texts",
    "logprob": "trace.losses has −log P of each token, ex.analysis.text_losses(model, texts) that of texts",
    "log_prob": "trace.losses has −log P of each token, ex.analysis.text_losses(model, texts) that of texts",
    "loss": "trace.losses has the loss of each token of a text, ex.analysis.text_losses(model, texts) the mean of each text",
    "cross_entropy": "trace.losses has the loss of each token of a text",
    "neighbours": "ex.analysis.neighbours(model, word) finds them",
    "neighbors": "ex.analysis.neighbours(model, word) finds them",
    "most_similar": "ex.analysis.neighbours(model, word) finds them",
    "analogy": "ex.analysis.analogy answers one",
    "positional_encoding": "ex.places(scheme, …) gives the numbers of one",
    "confusion": "ex.training.answers(run).confusion counts it",
    "weights": "trace.attention[0].weights has those of a layer, [head, query, key]; model.module has those that were learned",
    "layers": "trace.attention has the layers, trace.hidden the states before and after each",
    "last_hidden_state": "trace.hidden has the states by stream: trace.hidden['encoder'][-1] of an encoder",
    "net": MODULE,
    "eval": MODULE,
    "to": MODULE,
    "parameters": MODULE,
    "state_dict": MODULE,
    "save": "ex.export(model, folder) keeps a model, ex.save(figure, file) a picture, record.write(file) a record",
    "AutoModel": "ex.load(name or folder) opens a model",
    "AutoTokenizer": "ex.load(name).tokenizer is that of a model, ex.tokenizer(kind, texts, size=…) learns one",
    "Trainer": "ex.fit(…) trains a new model, ex.finetune(model, task=…) trains one further",
    "ids": "steps.last.ids has what was written, model.tokens(text).ids what is read",
    "attentions": "trace.attention has the layers, .weights their heads",
    "hidden_states": "trace.hidden has the states by stream",
    "logits": "trace.outputs['lm'] has the scores",
    "input_ids": "trace.tokens.ids has them",
    "output_attentions": "a trace always has .attention, the weights of each layer",
    "output_hidden_states": "a trace always has .hidden, the states by stream",
    "return_dict": "a trace has its parts by name: .attention, .hidden, .outputs",
    "to_frame": "records have it; for a run, keep the steps: pandas.DataFrame(step.to_row() for step in run)",
    "plot": "ex.show(view, record) draws it; ex.views.for_(record) names the views",
    "show": "ex.show(view, record) draws it; ex.views.for_(record) names the views",
}
TAKEN = {  # what other libraries take out of such an object by [...]
    "Trace": "trace.attention[0] is its first layer, trace.tokens.texts its tokens, trace.hidden its states",
    "Attention": "attention.weights[0] is its first head, [query, key]",
    "DecodingSteps": "list(steps) has all of them, steps.last is the last",
}
OPTIONS = {  # of ex.fit, ex.finetune and ex.decode
    "lr": "rate", "learning_rate": "rate", "batch_size": "batch", "epochs": "steps", "max_steps": "steps", "num_train_epochs": "steps",
    "warmup": "warm", "warmup_steps": "warm", "max_new_tokens": "max_tokens", "max_length": "max_tokens", "length": "max_tokens",
    "num_beams": "beams", "do_sample": "strategy='sample'", "no_repeat_ngram_size": "no_repeat",
}  # fmt: skip
SAMPLING = ("top_p", "top-p", "nucleus", "top_k", "top-k", "sampling", "temperature")  # taken for strategies


def hint(name: str) -> str:
    """What does here what this name does elsewhere, as a sentence; empty where nobody knows.

    >>> hint("generate")
    ' ex.decode(model, text) writes, step by step.'
    """
    return f" {ATTRIBUTES[name]}." if name in ATTRIBUTES else ""


def not_by_key(kind: str, key: object, names: Collection[str]) -> str:
    """What is written instead of a key where an object of this kind takes none.

    >>> not_by_key("Trace", "attention", ["attention"])
    "Trace takes no ['attention']; write .attention."
    """
    way = f"write .{key}" if key in names else TAKEN.get(kind, "its parts have names, which print(…) lists")
    return f"{kind} takes no [{key!r:.60}]; {way}."
