"""What can be asked of a trained model: lens, gradients, statistics, comparisons, what lies near a word, what it is built of.

Each name below is loaded when it is first used.

>>> "neighbours" in dir(ex.analysis)
True
"""

from typing import TYPE_CHECKING

from explorer.errors.lazy import names_of

if TYPE_CHECKING:
    from explorer.analysis import costs
    from explorer.analysis.alignment import align
    from explorer.analysis.architectures import context_shift, span_of, visibility_map, word_prediction
    from explorer.analysis.capabilities import abilities
    from explorer.analysis.corpus_edits import edit_corpus
    from explorer.analysis.elmo import both_sides, elmo_visibility, highway_gates, letter_filters
    from explorer.analysis.evaluation.analogies import solve_analogies
    from explorer.analysis.evaluation.minimal import minimal_scores
    from explorer.analysis.exposure import exposure_bias
    from explorer.analysis.flow import information_flow
    from explorer.analysis.gradient_reach import reach
    from explorer.analysis.label_smoothing import smoothed_targets
    from explorer.analysis.layer_likeness import cka, word_states
    from explorer.analysis.masks import held_losses, under_masks
    from explorer.analysis.n_grams import back_off
    from explorer.analysis.pair_losses import glove_row, skipgram_network
    from explorer.analysis.parameters import blueprint
    from explorer.analysis.patching import patch_sweep
    from explorer.analysis.predictions import generator, guess_spans, teacher_and_student
    from explorer.analysis.prompting import prompt_orders, prompt_templates
    from explorer.analysis.scaling import saturation
    from explorer.analysis.span_scores import span_table
    from explorer.analysis.token_contributions import contributions
    from explorer.analysis.vocabulary_writes import head_writes, unit_writes
    from explorer.analysis.word_contexts import contexts
    from explorer.analysis.word_pairs import count_ratios, skipgrams
    from explorer.analysis.word_vectors import analogy, neighbours, plane, two_uses

_HOMES = {
    "abilities": "analysis.capabilities:abilities",
    "align": "analysis.alignment:align",
    "analogy": "analysis.word_vectors:analogy",
    "back_off": "analysis.n_grams:back_off",
    "blueprint": "analysis.parameters:blueprint",
    "both_sides": "analysis.elmo:both_sides",
    "context_shift": "analysis.architectures:context_shift",
    "cka": "analysis.layer_likeness:cka",
    "contexts": "analysis.word_contexts:contexts",
    "teacher_and_student": "analysis.predictions:teacher_and_student",
    "contributions": "analysis.token_contributions:contributions",
    "costs": "analysis.costs",
    "count_ratios": "analysis.word_pairs:count_ratios",
    "edit_corpus": "analysis.corpus_edits:edit_corpus",
    "elmo_visibility": "analysis.elmo:elmo_visibility",
    "exposure_bias": "analysis.exposure:exposure_bias",
    "generator": "analysis.predictions:generator",
    "glove_row": "analysis.pair_losses:glove_row",
    "guess_spans": "analysis.predictions:guess_spans",
    "head_writes": "analysis.vocabulary_writes:head_writes",
    "held_losses": "analysis.masks:held_losses",
    "highway_gates": "analysis.elmo:highway_gates",
    "information_flow": "analysis.flow:information_flow",
    "letter_filters": "analysis.elmo:letter_filters",
    "minimal_scores": "analysis.evaluation.minimal:minimal_scores",
    "neighbours": "analysis.word_vectors:neighbours",
    "patch_sweep": "analysis.patching:patch_sweep",
    "plane": "analysis.word_vectors:plane",
    "prompt_orders": "analysis.prompting:prompt_orders",
    "prompt_templates": "analysis.prompting:prompt_templates",
    "reach": "analysis.gradient_reach:reach",
    "saturation": "analysis.scaling:saturation",
    "skipgram_network": "analysis.pair_losses:skipgram_network",
    "skipgrams": "analysis.word_pairs:skipgrams",
    "smoothed_targets": "analysis.label_smoothing:smoothed_targets",
    "solve_analogies": "analysis.evaluation.analogies:solve_analogies",
    "span_table": "analysis.span_scores:span_table",
    "span_of": "analysis.architectures:span_of",
    "two_uses": "analysis.word_vectors:two_uses",
    "under_masks": "analysis.masks:under_masks",
    "unit_writes": "analysis.vocabulary_writes:unit_writes",
    "visibility_map": "analysis.architectures:visibility_map",
    "word_states": "analysis.layer_likeness:word_states",
    "word_prediction": "analysis.architectures:word_prediction",
}

__all__ = sorted(_HOMES)

__getattr__, __dir__ = names_of(__name__, _HOMES)
