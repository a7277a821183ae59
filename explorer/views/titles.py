"""The names under which students know the models."""

TITLES = {"elmo": "ELMo", "bert": "BERT", "gpt2": "GPT", "bart": "BART"}  # the four of the opening, one of each kind
NAMED = TITLES | {"gpt": "GPT", "gpt2": "GPT-2", "t5": "T5", "llama": "Llama"}


def titled(name: str) -> str:
    """A model in running text: a shipped one as the papers write it, any other as it is called here.

    >>> titled("gpt2"), titled("my-own")
    ('GPT-2', 'my-own')
    """
    return NAMED.get(name, name)
