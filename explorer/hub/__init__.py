"""The way to and from Hugging Face: each architecture that both sides know has a twin."""

from explorer.hub.bart import BART, MARIAN
from explorer.hub.bert import BERT
from explorer.hub.distilbert import DISTILBERT
from explorer.hub.gpt import GPT
from explorer.hub.gpt2 import GPT2
from explorer.hub.llama import LLAMA
from explorer.hub.t5 import T5
from explorer.hub.twins import Twin

TWINS: dict[str, Twin] = {twin.model_type: twin for twin in (BERT, GPT, GPT2, LLAMA, T5, BART, MARIAN, DISTILBERT)}

__all__ = ["TWINS", "Twin"]
