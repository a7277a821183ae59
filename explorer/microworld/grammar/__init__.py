"""The grammar of the plain world: from what a sentence means to English and French words with their gold labels.

Words and frames are tables in `words/`. `frames` reads the frames, `speaking` fills them (with `clauses`, `naming`, `scene` and
`drawing`) so that they become trees (`tree`), `english` and `french` say a tree, `plain` draws whole texts,
`pairing` aligns both languages. `phrases` says what no frame says, in English alone.
"""
