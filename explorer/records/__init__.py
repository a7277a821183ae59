"""The words this project speaks: frozen records of what models, tokenizers and trainings did."""

from explorer.records.attention import STAGES, Attention
from explorer.records.chances import GapSentences, Rates, SpanLengths
from explorer.records.changes import Change, Damage
from explorer.records.comparison import Comparison
from explorer.records.copied import Copied
from explorer.records.corpora import Prepared
from explorer.records.corruption import ACTIONS, Corruption
from explorer.records.curves import Curve, Curves, Saturation, spread
from explorer.records.cutting import CUTS, cut
from explorer.records.decoding import (
    FATES,
    Candidate,
    Contest,
    DecodingStep,
    Distribution,
    FillingStep,
    Generation,
    Hypothesis,
    Written,
)
from explorer.records.detection import Detection
from explorer.records.edits import (
    PARTS,
    Edit,
    MovePositions,
    NoPositions,
    NoScale,
    PatchHidden,
    ReplaceRow,
    SetMask,
    SilenceHead,
    SilenceLayer,
    Uniform,
)
from explorer.records.exercise import Exercise
from explorer.records.families import Blueprint, Exposure, HeldLosses, Part, UnderMasks
from explorer.records.guess import Guess, SpanGuess
from explorer.records.inside import Gradient, HeadStatistics, Lens, Visibility
from explorer.records.journey import Abilities, Ability, Along, Schedules
from explorer.records.merges import Join, Match, Merge
from explorer.records.mixes import Bench, BothSides, Contexts, Filters, Mixes, Neighbours
from explorer.records.pieces import WAYS, Fertility, SideBySide, WordLabels
from explorer.records.places import Places, Shuffle
from explorer.records.record import Record
from explorer.records.sentences import Edited, Likeness, Ranked
from explorer.records.shares import cosine, log_softmax, softmax
from explorer.records.start import Answer, Moved, Sight
from explorer.records.support import Support, SupportTable
from explorer.records.tokens import Tokens, Vocabulary
from explorer.records.trace import STREAMS, Block, Mix, Prediction, Trace
from explorer.records.training import TrainingStep
from explorer.records.vectors import Drawn, Plane, Ratios, Solved

__all__ = [
    "CUTS",
    "Candidate",
    "Contest",
    "DecodingStep",
    "Distribution",
    "FATES",
    "FillingStep",
    "Generation",
    "Hypothesis",
    "Written",
    "cut",
    "PARTS",
    "STAGES",
    "MovePositions",
    "NoPositions",
    "PatchHidden",
    "ReplaceRow",
    "SilenceLayer",
    "Uniform",
    "STREAMS",
    "Abilities",
    "Ability",
    "Answer",
    "Moved",
    "Sight",
    "Along",
    "Attention",
    "Block",
    "ACTIONS",
    "Change",
    "Comparison",
    "Damage",
    "Copied",
    "Corruption",
    "Curve",
    "Curves",
    "Detection",
    "Exercise",
    "Blueprint",
    "Exposure",
    "HeldLosses",
    "Part",
    "UnderMasks",
    "GapSentences",
    "Gradient",
    "Guess",
    "HeadStatistics",
    "Lens",
    "Likeness",
    "Visibility",
    "Rates",
    "SpanGuess",
    "SpanLengths",
    "Saturation",
    "Schedules",
    "spread",
    "Edit",
    "Edited",
    "Fertility",
    "Join",
    "Match",
    "Merge",
    "Bench",
    "BothSides",
    "Contexts",
    "Drawn",
    "Filters",
    "Mixes",
    "Neighbours",
    "Mix",
    "NoScale",
    "Places",
    "Plane",
    "Prediction",
    "Prepared",
    "Ranked",
    "Ratios",
    "Record",
    "SetMask",
    "SideBySide",
    "Solved",
    "Shuffle",
    "SilenceHead",
    "Support",
    "SupportTable",
    "Tokens",
    "TrainingStep",
    "Trace",
    "Vocabulary",
    "WAYS",
    "WordLabels",
    "cosine",
    "log_softmax",
    "softmax",
]
