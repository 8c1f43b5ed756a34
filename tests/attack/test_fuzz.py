"""Hostile input: every call ends in a finite result or a ValueError, and leaves its input alone.

MVSC_STRESS=full draws as many cases as a release demands, without a fixed seed.
"""

import pickle
import warnings
import zipfile

import numpy as np
import pytest
import scipy.io
import scipy.sparse
from conftest import examples, published_tlrr
from hypothesis import given
from hypothesis import strategies as st

from mvsc_fast import similarity
from mvsc_fast.cli._readers import load_data
from mvsc_fast.solvers import snn, trpca, tsvd_msc
from mvsc_fast.views import check_views

SPECIAL = [0.0, -0.0, 1.0, -1.0, 1e300, -1e300, 1e-300, 5e-324, 1e38, 1e19, 1e-40, np.nan, np.inf,
           -np.inf]  # fmt: skip
DTYPES = ["f8", "f4", "f2", "i4", "u1", "i8", "?", ">f8", "c16", "O", "U3", "g"]


@st.composite
def hostile_arrays(draw, ndim, square=False):
    """Arrays of odd shapes, types, orders and strides, with a few special values."""
    shape = [draw(st.integers(0, 4)) if ndim == 3 else draw(st.integers(0, 9))]
    shape += [draw(st.integers(0, 9)) for _ in range(ndim - 1)]
    if square and draw(st.integers(0, 9)):
        shape[-1] = shape[-2]
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    A = rng.standard_normal(shape) * draw(st.sampled_from([1.0, 1.0, 1e-3, 1e150, 1e-200, 0.0]))
    for _ in range(draw(st.integers(0, 2))):
        if A.size:
            A.flat[rng.integers(A.size)] = draw(st.sampled_from(SPECIAL))
    if square and A.ndim == 3 and A.shape[1] == A.shape[2] and draw(st.booleans()):
        with np.errstate(all="ignore"):
            A = A + A.transpose(0, 2, 1)
    dtype = draw(st.sampled_from(["f8"] * 6 + DTYPES))
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        A = A.astype(dtype)
    layout = draw(st.sampled_from("CCCFSRW"))
    if layout == "F":
        A = np.asfortranarray(A)
    elif layout == "S":
        A = np.repeat(A, 2, axis=-1)[..., ::2]
    elif layout == "R":
        A = A[::-1]
    elif layout == "W":
        A.flags.writeable = False
    return A


def survives(call, *arrays):
    """The result of a call, or None after a ValueError that says something."""
    before = [A.copy() for A in arrays]  # of objects, the same objects
    result = None
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            result = call()
    except (ValueError, TypeError) as error:
        assert len(str(error)) > 10
    for A, copy in zip(arrays, before, strict=True):
        assert A.tobytes() == copy.tobytes()
    return result


PARAMETERS = st.fixed_dictionaries(
    {},
    optional={
        "omega1": st.sampled_from([0.0, 0.5, 1.0, -1.0, np.nan, "a"]),
        "alpha": st.sampled_from([0.0, 5.0, 1e300, 1e-300, np.inf]),
        "lam": st.sampled_from([1e-300, 1.0, 1e6, 1e300, 0.0, -1.0]),
        "tol": st.sampled_from([0.0, 1e-3, 1e300]),
        "max_iter": st.sampled_from([0, 1, 7, 3.0, True]),
        "n_threads": st.sampled_from([1, 2, 0, None]),
    },
)


@examples(150)
@given(hostile_arrays(3, square=True), PARAMETERS, st.sampled_from(["dual", "ialm"]))
def test_tlrr(W, parameters, solver):
    parameters = {"max_iter": 12, **parameters}
    result = survives(lambda: published_tlrr(W, solver=solver, **parameters), W)
    if result is not None:
        assert result.tensor.shape == W.shape
        assert np.isfinite(result.tensor).all()


@examples(40)
@given(hostile_arrays(3, square=True), st.sampled_from([trpca, snn]))
def test_recovery(W, method):
    result = survives(lambda: method(W, max_iter=8), W)
    if result is not None:
        assert np.isfinite(result.tensor).all()


@examples(60)
@given(st.lists(hostile_arrays(2), max_size=3), st.booleans())
def test_views(arrays, same_samples):
    if same_samples and arrays:
        n = min(len(A) for A in arrays)
        arrays = [A[:n] for A in arrays]
    views = survives(lambda: check_views(arrays), *arrays)
    if views is None:
        return
    for make in (similarity.self_representation, similarity.nearest_neighbors, similarity.rbf):
        W = survives(lambda make=make: make(views))
        assert W is None or np.isfinite(W).all()
    result = survives(lambda: tsvd_msc(views, max_iter=4))
    assert result is None or np.isfinite(result.representation).all()


@pytest.fixture(scope="module")
def seeds(tmp_path_factory):
    """Valid files of every kind, to be damaged."""
    folder = tmp_path_factory.mktemp("seeds")
    X = np.arange(12.0).reshape(4, 3)
    np.savez(folder / "a.npz", view_0=X, view_1=X[:, :2], y=np.arange(4))
    np.savez_compressed(folder / "b.npz", view_0=X)
    np.save(folder / "c.npy", X)
    np.savetxt(folder / "d.csv", X, delimiter=",", header="a,b,c", comments="")
    cells = np.empty((2, 1), dtype=object)
    cells[:, 0] = [X, X[:, :2]]
    scipy.io.savemat(folder / "e.mat", {"X": cells, "gt": np.arange(4)})
    scipy.io.savemat(folder / "f.mat", {"X1": X, "y": np.arange(4)}, format="4")
    return {path.suffix: [] for path in folder.iterdir()} | {
        suffix: [p.read_bytes() for p in sorted(folder.glob(f"*{suffix}"))]
        for suffix in (".npz", ".npy", ".csv", ".mat")
    }


@st.composite
def damage(draw):
    """What to do to the bytes of a file."""
    cut = draw(st.one_of(st.none(), st.floats(0, 1)))
    flips = draw(st.lists(st.tuples(st.floats(0, 1), st.integers(0, 255)), max_size=4))
    extra = draw(st.binary(max_size=20))
    return cut, flips, extra


def apply_damage(content, cut, flips, extra):
    content = bytearray(content if cut is None else content[: int(cut * len(content))])
    for where, value in flips:
        if content:
            content[min(int(where * len(content)), len(content) - 1)] = value
    return bytes(content) + extra


def read_damaged(content, recipe, path):
    path.write_bytes(apply_damage(content, *recipe))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            data = load_data([path])
            views, y = list(data.views.values()), data.y
    except (ValueError, OSError) as error:
        assert str(path) in str(error)
    else:
        # What was read is safe to use: every number is inside the array's own memory.
        views = [A if scipy.sparse.issparse(A) else np.asarray(A) for A in views]
        assert len(views) >= 1 and all(A.dtype != object for A in views)
        assert y is None or (y.ndim == 1 and y.dtype != object)
        for A in views:
            dense = A.toarray() if scipy.sparse.issparse(A) else A
            assert len(dense.tobytes()) == np.prod(A.shape, dtype=int) * A.dtype.itemsize


@examples(150)
@given(st.sampled_from([".npz", ".npy", ".csv"]), st.integers(0, 1), damage())
def test_damaged_files(seeds, tmp_path_factory, suffix, which, recipe):
    content = seeds[suffix][which % len(seeds[suffix])]
    read_damaged(content, recipe, tmp_path_factory.getbasetemp() / f"damaged{suffix}")


@examples(8)
@given(st.integers(0, 1), damage())
def test_damaged_matlab_files(seeds, tmp_path_factory, which, recipe):
    """Few, as each is tried in a process of its own."""
    read_damaged(seeds[".mat"][which], recipe, tmp_path_factory.getbasetemp() / "damaged.mat")


def test_a_matlab_file_that_crashes_its_reader(seeds, tmp_path):
    """Found at random: SciPy looks a number type that does not exist up beyond its table."""
    content = bytearray(seeds[".mat"][0])
    assert content[376] == 9  # double precision
    content[376] = 212
    path = tmp_path / "crash.mat"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="crash.mat: the MATLAB file is damaged"):
        load_data([path])


class Bomb:
    """Runs code where it is unpickled."""

    def __reduce__(self):
        return (pytest.fail, ("a pickle was loaded",))


def test_no_pickle_is_ever_loaded(tmp_path):
    objects = np.array([Bomb(), Bomb()], dtype=object)
    np.savez(tmp_path / "a.npz", view_0=objects)
    np.savez(tmp_path / "b.npz", view_0=np.eye(3), y=objects)
    np.save(tmp_path / "c.npy", objects)
    (tmp_path / "d.npy").write_bytes(pickle.dumps(Bomb()))
    with zipfile.ZipFile(tmp_path / "e.npz", "w") as archive:
        archive.writestr("view_0.npy", pickle.dumps(Bomb()))
    for path in sorted(tmp_path.iterdir()):
        with pytest.raises(ValueError, match=path.name):
            load_data([path])


def test_a_header_that_promises_more_than_the_file_holds(tmp_path):
    """A few bytes must not make numpy reserve terabytes."""
    path = tmp_path / "huge.npy"
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000, 1000000), }"
    header = header.ljust(117) + b"\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header)
    with pytest.raises(ValueError, match="huge.npy"):
        load_data([path])
