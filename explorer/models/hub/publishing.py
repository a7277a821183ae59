"""An exported model on the hub: its folder with a card, in a repository of the user's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from explorer.errors import ChoiceError, FileError

CARD = "README.md"


def write_card(model: Any, folder: Path) -> None:
    """A model card beside an exported checkpoint, unless there is one: what the model is, its shape, and how it is opened."""
    if (folder / CARD).exists():
        return
    config = json.loads((folder / "config.json").read_text("utf-8"))
    kind = config.get("architectures", ["AutoModel"])[0]
    weights = sum(weight.numel() for weight in model.module.parameters())
    lines = [
        "---", "library_name: transformers", "tags:", "- pretraining-explorer", "---", "", f"# {model.name}", "",
        f"A small language model for teaching ({model.family}), exported as `{kind}`.", "",
        f"- weights: {weights:,}", f"- vocabulary: {model.tokenizer.vocabulary.size:,} tokens",
        f"- most tokens of a text: {model.longest:,}", "", "```python", f"from transformers import AutoTokenizer, {kind}", "",
        f'model = {kind}.from_pretrained("…")', 'tokenizer = AutoTokenizer.from_pretrained("…")', "```", "",
    ]  # fmt: skip
    (folder / CARD).write_text("\n".join(lines), "utf-8")


def publish(folder: Path, repository: str) -> str:
    """Upload the folder into a repository, which is created if there is none; its address."""
    from huggingface_hub import HfApi
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalTokenNotFoundError

    hub = HfApi()
    try:
        name = hub.create_repo(repository, exist_ok=True).repo_id
        return str(hub.upload_folder(repo_id=name, folder_path=str(folder), commit_message="Export the model").repo_url)
    except HFValidationError as error:
        raise ChoiceError(f"push_to_hub={repository!r} is not the name of a repository. Write it as user/name.") from error
    except (HfHubHTTPError, LocalTokenNotFoundError) as error:
        status = getattr(getattr(error, "response", None), "status_code", 401)
        way = "Log in with a token that may write: hf auth login." if status in (401, 403) else "Try again later."
        raise ChoiceError(f"The hub did not take {repository} (answer {status}). {way} The model is in {folder}.") from error
    except OSError as error:  # no network, among others
        raise FileError(f"The hub cannot be reached ({error}). The model is in {folder}; push it later.") from error
