"""From raw text to pieces: corpora and tokenizers."""
