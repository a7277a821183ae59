"""The way to and from Hugging Face: each architecture that both sides know has a twin."""

from explorer.models.hub.bart import BART, MARIAN, PEGASUS
from explorer.models.hub.bert import BERT
from explorer.models.hub.deberta import DEBERTA
from explorer.models.hub.distilbert import DISTILBERT
from explorer.models.hub.electra import ELECTRA
from explorer.models.hub.gpt import GPT
from explorer.models.hub.gpt2 import GPT2
from explorer.models.hub.llama import LLAMA
from explorer.models.hub.olmo import OLMO, OLMO2
from explorer.models.hub.roberta import ROBERTA
from explorer.models.hub.t5 import T5
from explorer.models.hub.twins import Twin

ALL = (BERT, ROBERTA, DISTILBERT, ELECTRA, DEBERTA, GPT, GPT2, LLAMA, OLMO, OLMO2, T5, BART, MARIAN, PEGASUS)
TWINS: dict[str, Twin] = {twin.model_type: twin for twin in ALL}

__all__ = ["TWINS", "Twin"]
