"""Models and their kinds, presets, the store of shipped and own models, and the way to and from Hugging Face."""

from typing import Any

from explorer.records import again


def _packed(model: Any, **more: Any) -> bytes | None:
    from explorer.models.packing import packed_model

    return packed_model(model, **more)


again.packs(_packed)  # a figure knows records only, and asks there for a model as a page reads it
