from .counting import gap_sentences as gap_sentences
from .counting import rates as rates
from .counting import span_lengths as span_lengths
