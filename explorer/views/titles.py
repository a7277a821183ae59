"""The names under which students know the models."""

TITLES = {"bert": "BERT", "gpt2": "GPT", "bart": "BART", "elmo": "ELMo"}  # the four of the opening, the easiest to read first
NAMED = TITLES | {"gpt": "GPT", "gpt2": "GPT-2", "t5": "T5", "llama": "Llama"}


def titled(name: str) -> str:
    """A model in running text: a shipped one as the papers write it, any other as it is called here.

    >>> titled("gpt2"), titled("my-own")
    ('GPT-2', 'my-own')
    """
    return NAMED.get(name, name)
