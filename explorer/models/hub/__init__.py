"""The way to and from Hugging Face: each architecture that both sides know has a twin."""

from explorer.hub.bart import BART, MARIAN, PEGASUS
from explorer.hub.bert import BERT
from explorer.hub.deberta import DEBERTA
from explorer.hub.distilbert import DISTILBERT
from explorer.hub.electra import ELECTRA
from explorer.hub.gpt import GPT
from explorer.hub.gpt2 import GPT2
from explorer.hub.llama import LLAMA
from explorer.hub.olmo import OLMO, OLMO2
from explorer.hub.roberta import ROBERTA
from explorer.hub.t5 import T5
from explorer.hub.twins import Twin

ALL = (BERT, ROBERTA, DISTILBERT, ELECTRA, DEBERTA, GPT, GPT2, LLAMA, OLMO, OLMO2, T5, BART, MARIAN, PEGASUS)
TWINS: dict[str, Twin] = {twin.model_type: twin for twin in ALL}

__all__ = ["TWINS", "Twin"]
