"""What preparing a corpus leaves behind, one step a record."""

from __future__ import annotations

from dataclasses import dataclass

from explorer.records.record import Record


@dataclass(frozen=True, eq=False)
class Prepared(Record):
    """How far the preparation of a corpus is: bytes of the source (total 0 where nobody knows), documents and pieces."""

    done_bytes: int
    total_bytes: int
    tokens: int
    documents: int

    @property
    def share(self) -> float:
        """The share of the source that is done; not a number where its size is unknown."""
        return self.done_bytes / self.total_bytes if self.total_bytes else float("nan")
