"""Data sets of a folder, and the features of images, which are computed once and kept."""

import hashlib
import json
from pathlib import Path
from typing import NamedTuple

import joblib
import numpy as np
from settings import SETS
from timing import read_views


class Source(NamedTuple):
    """A data set; ``intensity_size`` is that of `features.image_views` if its view holds images."""

    name: str
    digest: str  # of the file
    path: Path
    intensity_size: tuple | None

    def load(self, output):
        """Views and labels in file order; features of images are kept in the folder ``output``."""
        if self.intensity_size is None:
            views, y = read_views(self.path)
            return [X.astype(np.float64) for X in views], y  # as the methods were published
        kept = joblib.Memory(output, verbose=0).cache(image_features, ignore=["path"])
        return kept(self.path, self.digest, self.intensity_size)


def find_sources(folder, names):
    """The data sets that the folder has, by name, and the names of the others."""
    sources, absent = {}, []
    for name in names:
        stem, intensity_size = SETS.get(name, (name, None))
        path = Path(folder) / f"{stem}.npz"
        if not path.exists():
            absent.append(name)
            continue
        with np.load(path, allow_pickle=False) as file:
            missing = {"view_0", "y"} - set(file.files)
        if missing:
            raise SystemExit(f"{path} has no {', '.join(sorted(missing))}")
        digest = hashlib.sha1(path.read_bytes()).hexdigest()[:12]
        sources[name] = Source(name, digest, path, intensity_size)
    if not sources:
        files = ", ".join(f"{SETS.get(name, (name,))[0]}.npz" for name in names)
        raise SystemExit(f"{folder} has none of the files {files}")
    return sources, absent


def image_features(path, digest, intensity_size):
    """The paper's three views of a file of images, and labels."""
    from features import image_views  # scikit-image is needed here alone

    with np.load(path, allow_pickle=False) as file:
        pixels, y = file["view_0"], file["y"]
        shape = json.loads(str(file["meta"])).get("image_shape") if "meta" in file.files else None
    shape = shape or (round(pixels.shape[1] ** 0.5),) * 2
    if np.prod(shape) != pixels.shape[1]:
        raise ValueError(f"{path}: {pixels.shape[1]} pixels, no square, and no image_shape in meta")
    return image_views(pixels.reshape(-1, *shape), intensity_size), y
