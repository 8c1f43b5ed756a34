"""Data sets: where their views come from, computed once and kept."""

import hashlib
import json
import os
from pathlib import Path
from typing import NamedTuple

import numpy as np
from settings import SETS


class Source(NamedTuple):
    """A data set that can be loaded anywhere."""

    name: str
    n: int
    n_clusters: int
    digest: str
    """Of the data and the way to its features."""
    path: Path | None = None
    features: dict | None = None
    """Arguments of `features.image_views` if the one view holds images."""

    def load(self, output):
        """Views and labels in file order; features of images are kept in the folder ``output``."""
        if self.features is None:
            return _read(self.path)
        kept = Path(output) / "features" / f"{self.name}-{self.digest}.npz"
        if not kept.exists():
            from features import image_views  # scikit-image is needed here alone

            views = image_views(_images(self.path), **self.features)
            with np.load(self.path, allow_pickle=False) as file:
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


def find_sources(folder, names):
    """The data sets that are asked for.

    Parameters
    ----------
    folder : str or Path
        Of .npz files.
    names : sequence of str, optional
        Of sets of the paper, or of other files in the folder without their ending. None: those of
        the paper that the folder has.

    Returns
    -------
    sources : list of Source
    absent : list of str
        Sets of the paper that were not asked for by name and are not there.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise ValueError(f"{folder} is not a folder of data sets")
    paper = {name.lower(): name for name in SETS}
    sources, absent = [], []
    for name in SETS if names is None else [paper.get(name.lower(), name) for name in names]:
        stem, features = SETS.get(name, (name, None))
        path = folder / f"{stem}.npz"
        if path.exists():
            sources.append(_on_file(name, path, features))
        elif names is None:
            absent.append(name)
        else:
            raise ValueError(
                f"data set {name!r}: there is no {path}; sets of the paper: {', '.join(SETS)}"
            )
    if not sources:
        files = ", ".join(f"{stem}.npz" for stem, _ in SETS.values())
        raise ValueError(f"{folder} has none of the files {files}: name other sets")
    return sources, absent


def _on_file(name, path, features):
    digest = hashlib.sha1(path.read_bytes() + repr(features).encode()).hexdigest()[:12]
    with np.load(path, allow_pickle=False) as file:
        missing = {"view_0", "y"} - set(file.files)
        if missing:
            raise ValueError(
                f"{path} has no {' and no '.join(sorted(missing))}: views are expected as view_0, "
                "view_1, ... with samples as rows, and their labels as y"
            )
        y = file["y"]
    return Source(name, len(y), len(np.unique(y)), digest, path=path, features=features)


def _read(path):
    with np.load(path, allow_pickle=False) as file:
        count = sum(name.startswith("view_") for name in file.files)
        # float64, as the methods were published
        return [file[f"view_{i}"].astype(np.float64) for i in range(count)], file["y"]


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
            f"{path}: {pixels.shape[1]} pixels are not a square, and meta has no image_shape"
        )
    return pixels.reshape(-1, *shape)
