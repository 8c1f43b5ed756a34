"""Saved models of the command line."""

import pickle
from pathlib import Path
from typing import Any, NamedTuple

from .. import __version__
from ..judge._model_file import names_in
from ..methods._prediction import SavedPredictor, native_model, note_content
from ..views._columns import fitted_columns
from ..views._frames import shown
from ._outputs import replaced

# Types of the notes; older files have one id_name for all views.
FACTS = {"id_name": (str, dict), "one_table": bool, "version": str, "use": (str, list, dict)}


class Saved(NamedTuple):
    """A model, and what new samples need that the model does not know."""

    model: Any
    id_name: Any = None  # names of the columns with the ids, by view, or in older files of all
    one_table: bool | None = None  # whether all views are columns of one table
    version: str | None = __version__  # of the package that saved the model
    use: Any = None  # matrices of cells
    encoder: Any = None  # of groups of mixed columns

    @property
    def columns(self):
        """Names of the columns of each view, or None, by the name of the view."""
        columns = [None if names is None else list(names) for names in fitted_columns(self.model)]
        return dict(zip(self.model.view_names_in_, columns, strict=True))

    def id_names(self, views):
        """The name of the column with the ids of each of some views, or None."""
        if isinstance(self.id_name, dict):
            return list(map(self.id_name.get, views))
        return [self.id_name] * len(views)

    @property
    def n_features(self):
        """Number of features of each view by its name."""
        model = self.model
        return dict(zip(model.view_names_in_, model.n_features_per_view_, strict=True))


def check_suffix(path):
    """Raise ValueError at a suffix of another format, as a pickle with it would mislead."""
    if not is_native(path) and Path(path).suffix.lower() not in (".pkl", ".pickle"):
        raise ValueError(
            f"--save {path}: models have the suffix .pkl (a pickle) or .mvsc (a file without code)"
        )


def is_native(path):
    """Whether a path has the suffix .mvsc, of model files for `SavedPredictor` and C."""
    return Path(path).suffix.lower() == ".mvsc"


def save_model(path, saved):
    """Write a `Saved` as a pickle of a dict or, with the suffix .mvsc, as a model file."""
    content = saved._asdict()
    with replaced(path, "wb") as stream:
        if is_native(path):
            facts = {name: content[name] for name in FACTS}
            names = saved.model.view_names_in_
            stream.write(native_model(saved.model, names, saved.columns.values(), **facts))
        else:
            stream.write(pickle.dumps(content))


def load_model(path):
    """Read the `Saved` that `save_model` wrote; a pickle of another version warns."""
    if is_native(path):
        model = SavedPredictor(path)
        names, _, _, note = names_in(model.predictor_.model.image)
        if "" in names or len(set(names)) < len(names):
            raise ValueError(
                f"{path} has views named {shown(*names)}, which files cannot be given to: fit with "
                "names that differ and are not empty, or predict in Python"
            )
        model.view_names_in_ = names
        # The note of a file of another program may contain anything.
        note = note_content(note)
        facts = {key: note[key] for key in FACTS if isinstance(note.get(key), FACTS[key])}
        return Saved(model, **{"version": None, **facts})
    data = Path(path).read_bytes()
    try:
        saved = Saved(**pickle.loads(data))
        if not hasattr(saved.model, "predict"):
            raise ValueError("it has no model")
    except Exception as error:  # files that are damaged or of another version raise any error
        raise ValueError(
            f"{path} is not a model that mvsc-fast cluster --save wrote, or it is damaged or "
            f"of another version ({type(error).__name__}: {error})"
        ) from error
    return saved
