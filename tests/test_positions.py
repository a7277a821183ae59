"""Every position scheme against a formula that we did not write."""

from __future__ import annotations

import pytest
import torch
from transformers.models.bloom.modeling_bloom import build_alibi_tensor
from transformers.models.deberta_v2.configuration_deberta_v2 import DebertaV2Config
from transformers.models.deberta_v2.modeling_deberta_v2 import DisentangledSelfAttention
from transformers.models.llama.configuration_llama import LlamaConfig
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding, apply_rotary_pos_emb
from transformers.models.marian.modeling_marian import MarianSinusoidalPositionalEmbedding
from transformers.models.t5.modeling_t5 import T5Attention

from explorer.nn import tap
from explorer.nn.attention import AttentionInputs, MultiHeadAttention, consecutive
from explorer.nn.config import Config
from explorer.nn.positions import POSITIONS, PositionContext


def scheme(name: str, *, dim: int = 16, heads: int = 2, length: int = 64, causal: bool = False):  # noqa: ANN201
    return POSITIONS[name](PositionContext(dim, heads, length, causal))


def test_t5_s_buckets_are_hugging_face_s() -> None:
    distance = torch.arange(-300, 301)
    for causal in (False, True):
        ours = scheme("t5", causal=causal).bucket(distance)
        theirs = T5Attention._relative_position_bucket(distance, bidirectional=not causal, num_buckets=32, max_distance=128)
        assert torch.equal(ours, theirs)


def test_rope_turns_as_llama_does() -> None:
    config = LlamaConfig(hidden_size=32, num_attention_heads=2, max_position_embeddings=64)
    q, k = (torch.randn(1, 2, 50, 16, generator=torch.Generator().manual_seed(i)) for i in (0, 1))
    cos, sin = LlamaRotaryEmbedding(config)(q, torch.arange(50)[None])
    theirs = apply_rotary_pos_emb(q, k, cos, sin)
    for x, turned in zip((q, k), theirs, strict=True):
        assert (scheme("rope").rotate(x, torch.arange(50)) - turned).abs().max() <= 1e-5


def test_rope_sees_only_the_distance() -> None:
    q, k = (torch.randn(1, 1, 1, 16, generator=torch.Generator().manual_seed(i)) for i in (0, 1))
    rope = scheme("rope")
    dots = [float((rope.rotate(q, torch.tensor([p + 5])) * rope.rotate(k, torch.tensor([p]))).sum()) for p in (0, 3, 40)]
    assert max(dots) - min(dots) <= 1e-4


@pytest.mark.parametrize("heads", [1, 2, 3, 4, 6, 8, 12, 16])
def test_alibi_s_slopes_are_bloom_s(heads: int) -> None:
    n = 20
    theirs = build_alibi_tensor(torch.ones(1, n), heads, torch.float32).reshape(heads, n)  # slope · place of the key
    ours = scheme("alibi", heads=heads, dim=heads * 2, causal=True).bias(torch.arange(n), torch.arange(n))[0]
    for query in (0, 7, n - 1):  # the same up to a constant in each row, which the softmax does not see
        shift = ours[:, query] - theirs
        seen = shift[:, : query + 1]
        assert (seen - seen[:, :1]).abs().max() <= 1e-5


def test_marian_s_sinusoids_are_ours_in_halves() -> None:
    table = MarianSinusoidalPositionalEmbedding(64, 16)
    table.weight = (
        torch.nn.Parameter(table.create_weight(), requires_grad=False) if hasattr(table, "create_weight") else table.weight
    )
    ours = scheme("sinusoidal-halves").add(torch.arange(64))
    assert (ours - table.weight).abs().max() <= 1e-5
    interleaved = scheme("sinusoidal").add(torch.arange(64))
    assert torch.equal(torch.cat((interleaved[:, 0::2], interleaved[:, 1::2]), dim=1), ours)


def test_disentangled_attention_is_deberta_s() -> None:
    heads, dim, n, span = 2, 16, 9, 32
    config = DebertaV2Config(
        hidden_size=dim, num_attention_heads=heads, relative_attention=True, max_relative_positions=span, position_buckets=-1,
        pos_att_type=["p2c", "c2p"], share_att_key=True, attention_probs_dropout_prob=0.0, hidden_dropout_prob=0.0,
    )  # fmt: skip
    theirs = DisentangledSelfAttention(config).eval()
    settings = {"vocab": 5, "dim": dim, "heads": heads, "length": span, "positions": "disentangled"}
    ours, position = MultiHeadAttention(Config("encoder", **settings), ("encoder", 0)), scheme("disentangled", length=span)
    rng = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for mine, other in ((ours.query, theirs.query_proj), (ours.key, theirs.key_proj), (ours.value, theirs.value_proj)):
            mine.weight.copy_(other.weight.normal_(generator=rng))
            mine.bias.copy_(other.bias.normal_(generator=rng))
        position.table.weight.normal_(generator=rng)
        x = torch.randn(1, n, dim, generator=rng)
        table = position.norm(position.table.weight)
        everyone = torch.ones(1, 1, n, n, dtype=torch.bool)
        _, wanted = theirs(x, everyone, output_attentions=True, rel_embeddings=table)
        heard = {}
        with tap.listening(lambda place, stream, layer, values: heard.update(values)):
            ours(x, AttentionInputs(position, consecutive(x.shape[1])))
    assert (heard["weights"][0] - wanted.reshape(heads, n, n)).abs().max() <= 1e-5
