"""Data sets: where their views come from, computed once and kept."""

import hashlib
import json
import os
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..cli._readers import load_data
from ..views import check_views
from ._settings import SETS


class Source(NamedTuple):
    """A data set that can be loaded anywhere."""

    name: str
    n: int
    n_clusters: int
    digest: str
    """Of the data and the way to its features."""
    path: Path | None = None
    features: dict | None = None
    """Arguments of `features.image_views` where the one view holds images."""
    arrays: tuple | None = None
    """(views, y) where they were given."""

    def load(self, output):
        """Views and labels in file order; features of images are kept in the folder ``output``."""
        if self.arrays is not None:
            return self.arrays
        if self.features is None:
            return _read(self.path)
        kept = Path(output) / "features" / f"{self.name}-{self.digest}.npz"
        if not kept.exists():
            from ..features import image_views

            with np.load(self.path, allow_pickle=False) as file:
                views = image_views(_images(self.path), **self.features)
                arrays = {f"view_{i}": X for i, X in enumerate(views)} | {"y": file["y"]}
            save_arrays(kept, arrays)
        return _read(kept)


def save_arrays(path, arrays, save=np.savez):
    """Write an .npz file that is there whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f"{path.stem}-{os.getpid()}.part.npz")
    try:
        save(unfinished, **arrays)
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)


def find_sources(folder, names, given):
    """The data sets that are asked for.

    Parameters
    ----------
    folder : str, Path or None
        Of .npz files.
    names : sequence of str, optional
        Of sets of the paper, of other files in the folder without their ending, or of ``given``.
        None: those of the paper that the folder has, and all that are given.
    given : dict of str to (views, y)

    Returns
    -------
    sources : list of Source
    absent : list of str
        Sets of the paper that were not asked for by name and are not there.
    """
    folder = None if folder is None else Path(folder)
    if folder is None and not given and names is None:
        raise ValueError("no data: give a folder of data sets, or views={name: (views, y)}")
    if folder is not None and not folder.is_dir():
        raise ValueError(f"{folder} is not a folder of data sets")
    for name in given:
        if name in SETS:
            raise ValueError(f"views: {name!r} is a set of the paper, choose another name")
    sources, absent = [], []
    if names is None:
        wanted = [*(SETS if folder is not None else ()), *given]
    else:
        paper = {name.lower(): name for name in SETS}
        wanted = [name if name in given else paper.get(name.lower(), name) for name in names]
    for name in wanted:
        if name in given:
            sources.append(_given(name, given[name]))
            continue
        stem, features = SETS.get(name, (name, None))
        path = None if folder is None else folder / f"{stem}.npz"
        if path is not None and path.exists():
            sources.append(_on_file(name, path, features))
        elif names is None:
            absent.append(name)
        else:
            place = "no data folder was given" if path is None else f"there is no {path}"
            raise ValueError(f"data set {name!r}: {place}; sets of the paper: {', '.join(SETS)}")
    if not sources:
        raise ValueError(f"{folder} has none of the files {_files()}: name other sets")
    return sources, absent


def _files():
    return ", ".join(f"{stem}.npz" for stem, _ in SETS.values())


def _given(name, pair):
    if not isinstance(pair, (tuple, list)) or len(pair) != 2:
        raise ValueError(f"views: {name!r} must be a pair (views, y)")
    views, y = check_views(pair[0]), np.asarray(pair[1])
    if len(y) != views[0].shape[0]:
        raise ValueError(f"{name}: {len(y)} labels for {views[0].shape[0]} samples")
    digest = hashlib.sha1(y.astype(str).tobytes())
    for X in views:
        X = X.toarray() if hasattr(X, "toarray") else X
        digest.update(f"{X.shape} {X.dtype}".encode() + np.ascontiguousarray(X).tobytes())
    count = len(np.unique(y))
    return Source(name, len(y), count, digest.hexdigest()[:12], arrays=(views, y))


def _on_file(name, path, features):
    digest = hashlib.sha1(path.read_bytes() + repr(features).encode()).hexdigest()[:12]
    with np.load(path, allow_pickle=False) as file:
        if "y" not in file.files:
            raise ValueError(f"{path} has no labels y, with which results are compared")
        y = file["y"]
    return Source(name, len(y), len(np.unique(y)), digest, path=path, features=features)


def _read(path):
    data = load_data([path])
    views = check_views(list(data.views.values()))
    return [X.astype(np.float64) for X in views], data.y  # as the methods were published


def _images(path):
    """The images of a file whose ``view_0`` holds their pixels, of shape (n, height, width)."""
    with np.load(path, allow_pickle=False) as file:
        pixels = file["view_0"]
        shape = json.loads(str(file["meta"])).get("image_shape") if "meta" in file.files else None
    if shape is None:
        side = round(pixels.shape[1] ** 0.5)
        shape = (side, side)
    if np.prod(shape) != pixels.shape[1]:
        raise ValueError(
            f"{path}: {pixels.shape[1]} pixels do not make a square, and meta has no image_shape"
        )
    return pixels.reshape(-1, *shape)
