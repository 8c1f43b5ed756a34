"""AnnData and MuData objects as views. They are recognised by their attributes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import scipy.sparse

from .._utils.messages import counted
from .._utils.parameters import InvalidParameterError
from ._frames import Frame, repeated, shown, view_title

if TYPE_CHECKING:
    from pandas import DataFrame


def is_anndata(X):
    """Whether X has the attributes of an AnnData object."""
    has_names = all(hasattr(X, name) for name in ("X", "obs_names", "var_names"))
    return has_names and not hasattr(X, "mod")


def unpacked(views):
    """Modalities of MuData, or types of features of AnnData, as a dict; other views as given.

    If modalities lack samples, these have rows of NaN.
    """
    if is_anndata(views):
        return split_by_type(views)
    if not (hasattr(views, "mod") and hasattr(views, "obs_names")):
        return views
    for name, part in views.mod.items():
        if len(duplicates := repeated(part.obs_names)):
            raise ValueError(
                f"ids occur more than once in {view_title(name)}: {shown(*duplicates)}. Make them "
                "distinct with obs_names_make_unique() of the modalities"
            )
    same = all(views.obs_names.equals(modality.obs_names) for modality in views.mod.values())
    return dict(views.mod) if same else from_anndata(views)


def split_by_type(data):
    """The modalities of MuData, or AnnData by ``var["feature_types"]`` if it has several."""
    if not (is_anndata(data) and "feature_types" in getattr(data, "var", ())):
        return getattr(data, "mod", data)
    types = data.var["feature_types"]
    if types.nunique() < 2:
        return data
    if absent := int(types.isna().sum()):
        raise ValueError(
            f"var['feature_types'] is missing for {counted(absent, 'feature')}: fill it, or delete "
            "the column if all features are of one type"
        )
    types = types.astype(str)
    parts = {name: data[:, (types == name).to_numpy()] for name in types.unique()}
    return {name: part.to_memory() for name, part in parts.items()}


def read_anndata(X, title, use="X"):
    """The `Frame` of ``X``, a layer, an entry of ``obsm`` or ``raw`` of an AnnData object."""
    if use == "X" and X.X is not None:
        values, columns = X.X, list(X.var_names)
    elif use in X.layers:
        values, columns = X.layers[use], list(X.var_names)
    elif use in X.obsm:
        values = X.obsm[use]
        columns = list(getattr(values, "columns", range(values.shape[1])))
        values = values.to_numpy() if hasattr(values, "to_numpy") else values
    elif use == "raw" and getattr(X, "raw", None) is not None:
        values, columns = X.raw.X, list(X.raw.var_names)
    else:
        raise ValueError(
            f"{title} has no {use!r}: choose one of the layers ({shown(*X.layers) or 'none'}) or "
            f"the keys of obsm ({shown(*X.obsm) or 'none'}) with views.from_anndata(data, use=...) "
            "or --views"
        )
    # Only rows of csr can be read block by block from a file.
    if hasattr(values, "to_memory") and getattr(values, "format", "csr") != "csr":
        values = values.to_memory()  # backed by a file that cannot be read by rows
    return Frame(values, columns, X.obs_names)


def frames_of(data, use):
    """A `Frame` of each view by name, for the arguments of `from_anndata` except a list."""
    if not isinstance(use, Iterable):
        raise InvalidParameterError(f"use must be a name, or a list or a dict of them, got {use!r}")
    use = use if isinstance(use, (str, Mapping)) else list(use)
    data = split_by_type(data) if use == "X" else getattr(data, "mod", data)
    if isinstance(data, Mapping):
        if not isinstance(use, (str, Mapping)):
            raise ValueError(
                "a list selects views of a single AnnData: pass a dict with a matrix for each of "
                f"the modalities {shown(*data)}, or --views as in {next(iter(data))}={use[0]}"
            )
        tables = {
            name: (part, use.get(name, "X") if isinstance(use, Mapping) else use)
            for name, part in data.items()
        }
    elif isinstance(use, Mapping):
        tables = {name: (data, key) for name, key in use.items()}
    else:
        tables = {name: (data, name) for name in ([use] if isinstance(use, str) else use)}
    # A misspelled modality would otherwise be ignored.
    unknown = [name for name in use if name not in tables] if isinstance(use, Mapping) else []
    if unknown:
        raise ValueError(
            f"use has the keys {shown(*unknown)}, but data has the modalities {shown(*tables)}"
        )
    return {name: read_anndata(part, view_title(name), key) for name, (part, key) in tables.items()}


def from_anndata(
    data: Any, use: str | Sequence[str] | Mapping[Any, str] = "X"
) -> dict[Any, DataFrame] | Any:
    """Convert AnnData or MuData objects to data frames, with ids and names of columns.

    `fit` and `predict` accept such objects directly and use their ``X``. Use this function to
    select a layer or an entry of ``obsm`` instead.

    Parameters
    ----------
    data : AnnData, MuData, or list or dict of AnnData
        Modalities may have different samples.
    use : str, list of str, or dict, default="X"
        "X", the name of a layer, a key of ``obsm``, or "raw". In a dict, one for each modality; "X"
        is used for modalities that are not in it. A list selects several views of a single AnnData,
        and a dict gives them names.
        "X" of a single AnnData is split by ``var["feature_types"]``, as 10x files have it.

    Returns
    -------
    dict of pandas.DataFrame
        One for each modality, or for each entry of ``use`` or type of features if data is a single
        AnnData. Sparse
        matrices become frames with sparse columns. If modalities have different samples, the frames
        are aligned by `align`, with missing rows for missing samples; the samples of MuData keep
        their order.

    Raises
    ------
    ValueError
        If a modality does not have what ``use`` names.

    Examples
    --------
    >>> from mvsc_fast import ConsensusTLRR, views
    >>> data = views.from_anndata(mdata, use={"rna": "X_pca"})  # doctest: +SKIP
    >>> ConsensusTLRR(n_clusters=8).fit(data)  # doctest: +SKIP
    """
    import pandas as pd

    from . import align

    if isinstance(data, (list, tuple)):
        return list(from_anndata(dict(enumerate(data)), use).values())
    # All modalities of MuData get the cells of the whole object, in its order.
    order = data.obs_names if hasattr(data, "mod") else slice(None)
    read = frames_of(data, use)
    ids = [frame.index for frame in read.values()]
    same = all(map(ids[0].equals, ids[1:]))
    frames = {}
    for name, (values, columns, index) in read.items():
        values = values.to_memory() if hasattr(values, "to_memory") else values
        sparse = scipy.sparse.issparse(values)
        make = pd.DataFrame.sparse.from_spmatrix if sparse else pd.DataFrame
        frames[name] = make(values, index=index, columns=columns)
    if same:
        return frames
    return {name: frame.loc[order] for name, frame in align(frames).items()}
