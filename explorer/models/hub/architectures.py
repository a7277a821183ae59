"""Architectures that are tried, each as a tiny model with random weights: what its configuration needs."""

from __future__ import annotations

from typing import Any

import torch

PLACES = 32
USUAL = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64,
         "max_position_embeddings": PLACES}  # fmt: skip
GROUPED = {**USUAL, "num_key_value_heads": 2}
OLD = {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": PLACES}
FIVE = {"d_model": 32, "d_kv": 8, "d_ff": 64, "num_layers": 2, "num_decoder_layers": 2, "num_heads": 4}
BOTH = {"d_model": 32, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4, "decoder_attention_heads": 4,
        "encoder_ffn_dim": 64, "decoder_ffn_dim": 64, "max_position_embeddings": PLACES, "decoder_start_token_id": 2}  # fmt: skip

ENCODERS: dict[str, dict[str, Any]] = {
    "BertForPreTraining": USUAL,
    "RobertaForMaskedLM": USUAL,
    "XLMRobertaForMaskedLM": USUAL,
    "CamembertForMaskedLM": USUAL,
    "Data2VecTextForMaskedLM": USUAL,
    "MegatronBertForPreTraining": USUAL,
    "ErnieForPreTraining": USUAL,
    "DistilBertForMaskedLM": {"dim": 32, "n_layers": 2, "n_heads": 4, "hidden_dim": 64, "max_position_embeddings": PLACES},
    "AlbertForPreTraining": {**USUAL, "embedding_size": 16},
    "ElectraForPreTraining": {**USUAL, "embedding_size": 16},
    "RoFormerForMaskedLM": {**USUAL, "embedding_size": 16},
    "ModernBertForMaskedLM": {**USUAL, "cls_token_id": 1, "sep_token_id": 2},
    "MPNetForMaskedLM": USUAL,
    "DebertaForMaskedLM": {**USUAL, "relative_attention": True, "pos_att_type": ["c2p", "p2c"]},
    "DebertaV2ForMaskedLM": {**USUAL, "relative_attention": True, "pos_att_type": ["c2p", "p2c"]},
    "LongformerForMaskedLM": {**USUAL, "attention_window": 4},
}
DECODERS: dict[str, dict[str, Any]] = {
    "GPT2LMHeadModel": OLD,
    "GPTNeoXForCausalLM": USUAL,
    "OPTForCausalLM": {**USUAL, "ffn_dim": 64, "word_embed_proj_dim": 32},
    "LlamaForCausalLM": GROUPED,
    "MistralForCausalLM": GROUPED,
    "Qwen2ForCausalLM": GROUPED,
    "Qwen3ForCausalLM": {**GROUPED, "head_dim": 8},
    "GemmaForCausalLM": {**GROUPED, "head_dim": 8},
    "Gemma2ForCausalLM": {**GROUPED, "head_dim": 8, "query_pre_attn_scalar": 16},
    "Gemma3ForCausalLM": {**GROUPED, "head_dim": 8, "query_pre_attn_scalar": 16},
    "OlmoForCausalLM": USUAL,
    "Olmo2ForCausalLM": GROUPED,
    "SmolLM3ForCausalLM": GROUPED,
    "PhiForCausalLM": USUAL,
    "Phi3ForCausalLM": GROUPED,
    "StableLmForCausalLM": GROUPED,
    "Starcoder2ForCausalLM": GROUPED,
    "GraniteForCausalLM": GROUPED,
    "CohereForCausalLM": GROUPED,
    "GptOssForCausalLM": {**GROUPED, "head_dim": 8, "num_local_experts": 4, "num_experts_per_tok": 2},
    "BioGptForCausalLM": USUAL,
    "OpenAIGPTLMHeadModel": OLD,
    "BloomForCausalLM": {"hidden_size": 32, "n_layer": 2, "n_head": 4},
    "GPTNeoForCausalLM": {"hidden_size": 32, "num_layers": 2, "num_heads": 4, "attention_types": [[["global", "local"], 1]],
                          "max_position_embeddings": PLACES},
    "GPTJForCausalLM": {**OLD, "rotary_dim": 4},
    "FalconForCausalLM": {**USUAL, "new_decoder_architecture": False},
    "MptForCausalLM": {"d_model": 32, "n_heads": 4, "n_layers": 2, "max_seq_len": PLACES},
    "XLNetLMHeadModel": {"d_model": 32, "n_layer": 2, "n_head": 4, "d_inner": 64},
    "MambaForCausalLM": {"hidden_size": 32, "num_hidden_layers": 2, "state_size": 4},
}  # fmt: skip
TWO_STACKS: dict[str, dict[str, Any]] = {
    "T5ForConditionalGeneration": {**FIVE, "decoder_start_token_id": 0},
    "MT5ForConditionalGeneration": {**FIVE, "decoder_start_token_id": 0},
    "UMT5ForConditionalGeneration": {**FIVE, "decoder_start_token_id": 0},
    "BartForConditionalGeneration": BOTH,
    "MBartForConditionalGeneration": BOTH,
    "PegasusForConditionalGeneration": BOTH,
    "MarianMTModel": {**BOTH, "decoder_start_token_id": 0},
    "M2M100ForConditionalGeneration": BOTH,
    "BlenderbotSmallForConditionalGeneration": BOTH,
    "LEDForConditionalGeneration": {**BOTH, "attention_window": 4, "max_encoder_position_embeddings": PLACES,
                                    "max_decoder_position_embeddings": PLACES},
}  # fmt: skip
ARCHITECTURES = {**ENCODERS, **DECODERS, **TWO_STACKS}
SPECIAL = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}


def tiny(architecture: str, vocab: int, seed: int = 0) -> Any:
    """A tiny model of this class with random weights, not in training mode."""
    import transformers

    before = transformers.utils.logging.get_verbosity()
    transformers.utils.logging.set_verbosity_error()
    kind = getattr(transformers, architecture)
    try:
        config = kind.config_class(vocab_size=vocab, **SPECIAL, **ARCHITECTURES[architecture])
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            return kind(config).eval()
    finally:
        transformers.utils.logging.set_verbosity(before)
