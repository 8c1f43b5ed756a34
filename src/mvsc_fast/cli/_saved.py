"""Saved models of the command line."""

import pickle
from pathlib import Path

from ..judge._model_file import names_in
from ..methods._prediction import SavedPredictor, native_model, note_content
from ._outputs import replaced

FACTS = {"id_name": str, "one_table": bool, "version": str, "use": (str, list, dict)}  # of notes
KEYS = {"model", "views", "columns", "n_features", "encoder", *FACTS}


def save_model(path, content):
    """Write a dict with a model as a pickle or, with the suffix .mvsc, as a model file."""
    with replaced(path, "wb") as stream:
        if is_native(path):
            facts = {name: content[name] for name in FACTS}
            model, names, columns = content["model"], content["views"], content["columns"]
            stream.write(native_model(model, names, columns, **facts))
        else:
            stream.write(pickle.dumps(content))


def is_native(path):
    """Whether a path has the suffix .mvsc, of model files for `SavedPredictor` and C."""
    return Path(path).suffix.lower() == ".mvsc"


def check_suffix(path):
    """Raise ValueError at a suffix of another format, as a pickle with it would mislead."""
    if not is_native(path) and Path(path).suffix.lower() not in (".pkl", ".pickle"):
        raise ValueError(
            f"--save {path}: models have the suffix .pkl (a pickle) or .mvsc (a file without code)"
        )


def _load_native(path):
    """The content of a model file, as `save_model` got it."""
    model = SavedPredictor(path)
    names, columns, n_features, note = names_in(model.predictor_.model.image)
    model.view_names_in_ = names
    # The note of a file of another program may contain anything.
    note = note_content(note)
    facts = {key: note[key] for key in FACTS if isinstance(note.get(key), FACTS[key])}
    content = {"model": model, "views": names, "columns": columns, "n_features": n_features}
    return {**dict.fromkeys(FACTS), "encoder": None, **content, **facts}


def load_model(path):
    """Read a dict that `save_model` wrote; a pickle of another version warns."""
    if is_native(path):
        return _load_native(path)
    data = Path(path).read_bytes()
    try:
        content = pickle.loads(data)
        if not (content.keys() >= KEYS and hasattr(content["model"], "predict")):
            raise ValueError("it has no model")
    except Exception as error:  # files that are damaged or of another version raise any error
        raise ValueError(
            f"{path} is not a model that mvsc-fast cluster --save wrote, or it is damaged or "
            f"of another version ({type(error).__name__}: {error})"
        ) from error
    return content
