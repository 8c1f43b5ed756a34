"""Saved models of the command line."""

import pickle
from pathlib import Path

from .._utils.messages import import_extra
from ..judge._model_file import names_in
from ..methods._prediction import SavedPredictor, native_model, note_content
from ._outputs import replaced

KEYS = {"model", "views", "columns", "id_name", "one_table"}
TRUSTED = ("mvsc_fast.", "numpy.", "scipy.", "sklearn.")


def save_model(path, content):
    """Write a dict with a model as a pickle, or in the format of the suffix .mvsc or .skops."""
    with replaced(path, "wb") as stream:
        if is_native(path):
            stream.write(_native(**content))
        else:
            stream.write((skops_of(path) or pickle).dumps(content))


def is_native(path):
    """Whether a path has the suffix .mvsc, of model files for `SavedPredictor` and C."""
    return Path(path).suffix.lower() == ".mvsc"


def _native(model, views, columns, **facts):
    """The bytes of a model file."""
    return native_model(model, views, columns, **facts)


def _loaded(path):
    """The content of a model file, as `save_model` got it."""
    model = SavedPredictor(path)
    names, columns, _, note = names_in(model.predictor_.model.image)
    model.view_names_in_ = names
    # The note of a file of another program may contain anything.
    facts = {"id_name": None, "one_table": False, "version": None, "decimal": None}
    facts |= {name: value for name, value in note_content(note).items() if name in facts}
    for name in ("id_name", "version", "decimal"):
        if not (facts[name] is None or isinstance(facts[name], str)):
            raise ValueError(f"{path}: its note is damaged ({name} is no text)")
    if not isinstance(facts["one_table"], bool):
        raise ValueError(f"{path}: its note is damaged (one_table is not true or false)")
    return {**facts, "model": model, "views": names, "columns": columns}


def load_model(path):
    """Read a dict that `save_model` wrote; a pickle of another version warns."""
    if is_native(path):
        return _loaded(path)
    data, skops = Path(path).read_bytes(), skops_of(path)
    try:
        if skops is None:
            content = pickle.loads(data)
        else:
            types = skops.get_untrusted_types(data=data)
            content = skops.loads(
                data, trusted=[name for name in types if name.startswith(TRUSTED)]
            )
        if not (content.keys() >= KEYS and hasattr(content["model"], "predict")):
            raise ValueError("it has no model")
    except Exception as error:  # files that are damaged or of another version raise any error
        raise ValueError(
            f"{path} is not a model that mvsc-fast cluster --save wrote, or it is damaged or "
            f"of another version ({type(error).__name__}: {error})"
        ) from error
    return content


def skops_of(path):
    """The module skops.io if a path has the suffix .skops, else None."""
    if Path(path).suffix.lower() != ".skops":
        return None
    import_extra("skops", path)
    return import_extra("skops.io", path)
