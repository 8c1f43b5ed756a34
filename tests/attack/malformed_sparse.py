"""Damage sparse matrices at random, and give them to all that reads them.

    python malformed_sparse.py first last      # numbers of random matrices

In a process of its own: what is not refused may end it.
"""

import faulthandler
import sys
import warnings

import numpy as np
import scipy.sparse

from mvsc_fast.methods import TRPCA
from mvsc_fast.solvers import tlrr
from mvsc_fast.spectral import fuse, spectral_embedding
from mvsc_fast.views import check_views

ARRAYS = {
    "csr": ("data", "indices", "indptr"),
    "csc": ("data", "indices", "indptr"),
    "bsr": ("data", "indices", "indptr"),
    "coo": ("data", "row", "col"),
    "dia": ("data", "offsets"),
    "lil": ("rows", "data"),
    "dok": (),
}
NUMBERS = [-(2**31), -1, 0, 1, 5, 29, 30, 1000, 10**7, 2**31 - 1, 2**31, 2**62]
READERS = {
    "views": lambda A: check_views([A]),
    "tensors": lambda A: fuse([A, A]).data,
    "dense similarities": lambda A: TRPCA(1, affinity="precomputed", max_iter=0).fit([A]).tensor_,
    "sparse similarities": lambda A: tlrr([A], max_iter=0).tensor,
    "spectral": lambda A: spectral_embedding(A, 1),
}


def damaged(rng):
    """A sparse matrix of a random format, up to three of whose parts are damaged."""
    n = int(rng.integers(2, 40))
    d = n if rng.integers(2) else int(rng.integers(1, 40))
    form = rng.choice(list(ARRAYS))
    dense = rng.random((n, d)) * (rng.random((n, d)) < 0.3)
    A = getattr(scipy.sparse, form + rng.choice(["_array", "_matrix"]))(dense)
    for _ in range(rng.integers(1, 4)):
        if form == "dok":
            keys = [tuple(rng.choice(NUMBERS, 2).tolist()), (1, 2, 3), "a"]
            A._dict[keys[rng.choice(3, p=[0.8, 0.1, 0.1])]] = 2.0
        elif form == "lil":
            damage_lists(getattr(A, rng.choice(ARRAYS[form])), rng)
        else:
            name = rng.choice(ARRAYS[form])
            try:
                setattr(A, name, damaged_array(getattr(A, name), rng))
            except (ValueError, TypeError, AttributeError, OverflowError):
                pass  # SciPy itself refuses
    return A


def damage_lists(lists, rng):
    i = rng.integers(len(lists))
    number = int(rng.choice(NUMBERS))
    if not isinstance(lists[i], list) or not lists[i] or rng.integers(3) == 0:
        lists[i] = [None, [number] * int(rng.integers(500))][int(rng.integers(8) > 0)]
    else:
        lists[i][rng.integers(len(lists[i]))] = number


def damaged_array(values, rng):
    values, kind = np.array(values), rng.integers(7)
    if kind < 3 and values.size:
        if values.dtype.kind == "i":
            values = values.astype(rng.choice(["i4", "i8"]))
            number = rng.choice(NUMBERS)
            values.flat[rng.integers(values.size)] = number if number < 2**31 else 2**31 - 1
            if rng.integers(3) == 0:
                values.flat[-1] = 0
        else:
            values.flat[rng.integers(values.size)] = rng.choice([np.nan, np.inf, 1e300])
    elif kind == 3:
        values = values[: len(values) - rng.integers(5)]
    elif kind == 4:
        values = np.concatenate([values, values[: rng.integers(4)]])
    elif kind == 5:
        values = rng.permutation(values)
    else:
        values = values.astype(rng.choice(["f2", "f4", "i8", "u8", "i2", "O", "c16"]))
    return values


def parts(A):
    """Copies of what the matrix consists of."""
    if A.format == "dok":
        return dict(A._dict)
    return [np.copy(getattr(A, name)).tolist() for name in ARRAYS[A.format]]


def main(first, last):
    refused = 0
    for seed in range(first, last):
        for name, read in READERS.items():
            A = damaged(np.random.default_rng(seed))
            before = repr(parts(A))
            try:
                for result in read(A):
                    assert np.isfinite(result.sum())
            except ValueError as error:
                refused += len(str(error)) > 10
            assert repr(parts(A)) == before, (seed, name, "changed")
    print(refused, "refused")


if __name__ == "__main__":
    faulthandler.enable()
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    main(*map(int, sys.argv[1:]))
