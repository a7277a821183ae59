"""The words this project speaks: frozen records of what models, tokenizers and trainings did."""

from explorer.records.aligned import AlignedTraces
from explorer.records.analysis import (
    Change,
    Comparison,
    Damage,
    Gradient,
    HeadSearch,
    HeadStatistics,
    Lens,
    MinimalScores,
    Places,
    Shuffle,
    Visibility,
)
from explorer.records.checking import Checked
from explorer.records.circuits import Contribution, Contributions, InformationFlow, PatchSweep, VocabularyWrites
from explorer.records.corruption import (
    ACTIONS,
    Copied,
    Corruption,
    Detection,
    GapSentences,
    Guess,
    Rates,
    SpanGuess,
    SpanLengths,
)
from explorer.records.counted import BackOff
from explorer.records.decoding import (
    CUTS,
    FATES,
    Candidate,
    Contest,
    DecodingStep,
    Distribution,
    FillingStep,
    Generation,
    Hypothesis,
    Written,
    cut_scores,
)
from explorer.records.edits import (
    PARTS,
    AddVector,
    Edit,
    MovePositions,
    NoNorm,
    NoPositions,
    NoResidual,
    NoScale,
    PatchHidden,
    ReplaceRow,
    SetMask,
    SetUnit,
    SetVector,
    SilenceHead,
    SilenceLayer,
    Uniform,
)
from explorer.records.elmo import Bench, BothSides, Contexts, Filters, Highways, Mixes, Neighbours
from explorer.records.exercise import Exercise, Support, SupportTable
from explorer.records.families import (
    Blueprint,
    ContextShift,
    Exposure,
    HeldLosses,
    Part,
    UnderMasks,
    VisibilityMap,
    WordPrediction,
)
from explorer.records.finetuning import Answers, LabelCurves, LayerProbes, SpanTable, TaskChange, TaskTable
from explorer.records.inputs import FinetuneWays, TaskInputs
from explorer.records.layers import LayerLikeness, SimilarUses, UnitFirings, WordStates
from explorer.records.places import TapPlace
from explorer.records.projections import Projections
from explorer.records.prompting import Prompted, PromptScores
from explorer.records.pronouns import NounPreference, PronounHeads, PronounTranslation
from explorer.records.record import Record
from explorer.records.scores import TextScores
from explorer.records.smoothing import SmoothedTargets
from explorer.records.softmax import cosine, log_softmax, softmax
from explorer.records.tokens import WAYS, Fertility, Join, Match, Merge, Prepared, SideBySide, Tokens, Vocabulary, WordLabels
from explorer.records.trace import STAGES, STREAMS, Attention, Block, EntryNorm, Mix, Prediction, Trace
from explorer.records.training import (
    Abilities,
    Ability,
    Along,
    Budget,
    Curve,
    Curves,
    RunsBeside,
    Saturation,
    Schedules,
    Steps,
    TrainingStep,
    spread,
)
from explorer.records.updates import PairUpdate, TokensOverSteps, TokenUpdate
from explorer.records.vectors import (
    Drawn,
    Edited,
    GloveRow,
    Likeness,
    Nearer,
    Plane,
    Ranked,
    Ratios,
    SkipgramNetwork,
    Solved,
)
