"""AnnData and MuData objects as views. They are recognised by their attributes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import scipy.sparse

from .._utils.parameters import InvalidParameterError
from ._frames import Frame, shown

if TYPE_CHECKING:
    from pandas import DataFrame


def is_anndata(X):
    """Whether X has the attributes of an AnnData object."""
    has_names = all(hasattr(X, name) for name in ("X", "obs_names", "var_names"))
    return has_names and not hasattr(X, "mod")


def unpacked(views):
    """A dict of views that have names: of a mapping, MuData, or AnnData with types of features.

    Other views are returned as given. If modalities lack samples, these have rows of NaN.
    """
    if (parts := parts_of(views)) is not None:
        same = all(views.obs_names.equals(part.obs_names) for part in parts.values())
        views = parts if same else from_anndata(views)
    # Data frames and sparse matrices, some of which are dicts, have keys and a shape.
    has_names = hasattr(type(views), "keys") and not hasattr(type(views), "shape")
    return {name: views[name] for name in views.keys()} if has_names else views


def parts_of(data):
    """The modalities of MuData, or the types of features of AnnData if it has several; or None."""
    if isinstance(getattr(data, "mod", None), Mapping):  # data frames have a method mod
        return data.mod
    if not is_anndata(data) or "feature_types" not in getattr(data, "var", ()):
        return None
    types = data.var["feature_types"].astype(str).to_numpy()
    names = dict.fromkeys(types)
    return {name: data[:, types == name].to_memory() for name in names} if len(names) > 1 else None


def read_anndata(X, use="X"):
    """The `Frame` of ``X``, a layer or an entry of ``obsm`` of an AnnData object."""
    if not isinstance(use, str):
        raise InvalidParameterError(f"use must name a matrix of each AnnData, got {use!r}")
    if not is_anndata(X):
        raise InvalidParameterError(f"expected AnnData, got {type(X).__name__}")
    if (use == "X" and X.X is not None) or use in X.layers:
        values, columns = X.X if use == "X" else X.layers[use], list(X.var_names)
    elif use in X.obsm:
        values = X.obsm[use]
        columns = list(getattr(values, "columns", range(values.shape[1])))
        values = values.to_numpy() if hasattr(values, "to_numpy") else values
    else:
        raise ValueError(
            f"there is no {use!r}: the layers are {shown(*X.layers) or 'none'}, and the keys of "
            f"obsm {shown(*X.obsm) or 'none'}"
        )
    # Only rows of csr can be read block by block from a file.
    if hasattr(values, "to_memory") and getattr(values, "format", "csr") != "csr":
        values = values.to_memory()  # backed by a file that cannot be read by rows
    return Frame(values, columns, X.obs_names)


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
        "X", the name of a layer, or a key of ``obsm``. In a dict, one for each modality; "X" is
        used for modalities that are not in it. A list selects several views of a single AnnData,
        and a dict gives them names. "X" of a single AnnData is split by ``var["feature_types"]``.

    Returns
    -------
    dict of pandas.DataFrame
        One for each modality, or for each entry of ``use`` or type of features if data is a single
        AnnData. Sparse matrices become frames with sparse columns. If modalities have different
        samples, the frames are aligned by `align`, with missing rows for missing samples; the
        samples of MuData keep their order.

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
    # The object and the name of its matrix for each view.
    is_X = isinstance(use, str) and use == "X"
    parts = (parts_of(data) if is_X else getattr(data, "mod", None)) or data
    if isinstance(parts, Mapping):
        if isinstance(use, Mapping) and (unknown := set(use) - set(parts)):
            raise ValueError(f"use has {shown(*unknown)}, the modalities are {shown(*parts)}")
        keys = {name: use.get(name, "X") if isinstance(use, Mapping) else use for name in parts}
    else:
        names = use if isinstance(use, (list, tuple)) else [use]
        keys = dict(use) if isinstance(use, Mapping) else {str(name): name for name in names}
        parts = dict.fromkeys(keys, data)
    frames = {}
    for name, key in keys.items():
        values, columns, index = read_anndata(parts[name], key)
        values = values.to_memory() if hasattr(values, "to_memory") else values
        is_sparse = scipy.sparse.issparse(values)
        make = pd.DataFrame.sparse.from_spmatrix if is_sparse else pd.DataFrame
        frames[name] = make(values, index=index, columns=columns)
    # All modalities of MuData get the cells of the whole object, in its order.
    frames = align(frames)
    order = data.obs_names if hasattr(data, "mod") else slice(None)
    return {name: frame.loc[order] for name, frame in frames.items()}
