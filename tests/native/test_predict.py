"""Labels of new rows in C: those of Python, within their memory, from intact files only."""

import ctypes
import os
import shutil
import subprocess

import numpy as np
import pytest
from conftest import FULL
from extensions import c_compiler
from hypothesis import given
from hypothesis import strategies as st
from native_calls import TESTS, guarded, is_intact
from reference.prediction import fields
from reference.prediction import margins as reference_margins

import mvsc_fast
from mvsc_fast import ConsensusTLRR, SavedPredictor, datasets
from mvsc_fast.judge._model_file import pack, panels, parts, with_names
from mvsc_fast.judge._predict import Model, checksum

OK, BAD_ARGUMENT, NO_FILE, NO_MEMORY, NOT_A_MODEL, VERSION, DAMAGED, SMALL = range(8)
NOT_FINITE, BAD_ARITHMETIC = 8, 9


class Loaded(ctypes.Structure):
    """mvsc_model"""

    _fields_ = [
        *((name, ctypes.c_ssize_t) for name in ("n_inputs", "n_views", "n_clusters")),
        *((name, ctypes.c_ssize_t) for name in ("n_landmarks", "scale_neighbors")),
        *((name, ctypes.c_void_p) for name in ("bytes", "owned")),
    ]


def load(library, image):
    model = Loaded()
    return library.mvsc_model_load(ctypes.byref(model), image.ctypes.data, image.nbytes), model


def changed_arguments(arguments, changes):
    """Arguments of a call; the name of another one stands for its address."""
    assert set(changes) <= set(arguments)
    return [arguments.get(value, value) for value in (arguments | changes).values()]


def call(library, image, rows, /, *, spare=0, **changes):
    """Status, scores and labels of rows, a list with an array or None for each view of the fit."""
    status, model = load(library, image)
    assert status == OK
    given = next(X for X in rows if X is not None)
    m, c = len(given), model.n_clusters
    all_scores, scores = guarded(m * c, np.float32)
    all_labels, labels = guarded(m, np.int64)
    size = library.mvsc_model_workspace(ctypes.byref(model), m) + spare
    workspace, work = guarded(size, np.int8)
    table = (ctypes.c_void_p * len(rows))(*[None if X is None else X.ctypes.data for X in rows])
    arguments = {
        "model": ctypes.addressof(model),
        "m": m,
        "rows": ctypes.addressof(table),
        "dtype": 1 if given.dtype == np.float32 else 2,
        "workspace": work.ctypes.data,
        "size": len(work),
        "scores": scores.ctypes.data,
        "labels": labels.ctypes.data,
    }
    status = library.mvsc_model_predict(*changed_arguments(arguments, changes))
    assert is_intact(all_scores) and is_intact(all_labels) and is_intact(workspace)
    return status, scores.reshape(m, c).copy(), labels.copy()


def margins(library, image, scores, /, **changes):
    """Status, margins, and whether rows with these scores are unlike."""
    _, model = load(library, image)
    m = len(scores)
    all_margins, found = guarded(m, np.float32)
    all_unlike, unlike = guarded(m, np.int8)
    arguments = {
        "model": ctypes.addressof(model),
        "m": m,
        "scores": scores.ctypes.data,
        "margins": found.ctypes.data,
        "unlike": unlike.ctypes.data,
    }
    status = library.mvsc_model_margins(*changed_arguments(arguments, changes))
    assert is_intact(all_margins) and is_intact(all_unlike)
    return status, found.copy(), unlike.copy()


def problem(
    rng, v=2, n_clusters=3, n_landmarks=7, d=(4, 5, 3), mapped=False, scaled=False, lift=False
):
    """A model of random numbers; with ``mapped`` the first view has 6 columns more than d.

    With ``lift`` the first view is lifted, if it has more than one column after that.
    """

    def normal(*shape):
        return rng.standard_normal(shape).astype(np.float32)

    views = []
    for i in range(v):
        width = d[i] + 6 * (mapped and i == 0)
        is_lifted = lift and i == 0 and width > 1
        landmarks = normal(n_landmarks, d[i])
        view = {
            "input": 2 * i,
            "n_features": width - is_lifted,
            "d": d[i],
            "form": (1, 2, 1)[i],
            "least_scale": 1e-3,
            "mean": normal(d[i]),
            "landmarks": panels(landmarks.T),
            "squares": (landmarks**2).sum(axis=1),
            "scales": np.abs(normal(n_landmarks)) + np.float32(0.1),
            "coefficients": panels(normal(d[i], n_clusters)),
            "fill": panels(normal(n_landmarks, d[i])) if v > 1 else None,
            "mean_row": normal(width - is_lifted),
            "lift": np.append(rng.standard_normal(width - 1), 1.5) if is_lifted else None,
        }
        if width > d[i]:
            view["codes"] = rng.integers(-127, 128, (width, d[i]), dtype=np.int8)
            view["steps"] = np.abs(normal(width)) / 127
        views.append(view)
    views[0]["limits"] = np.abs(normal(2 * n_clusters)) + 1
    head = {"n_clusters": n_clusters, "n_landmarks": n_landmarks, "scale_neighbors": 10}
    head["kernel_coefficients"] = panels(normal(n_landmarks, n_clusters))
    widths = [views[i // 2]["n_features"] if i % 2 == 0 else 9 for i in range(2 * v - 1)]
    head |= {"n_inputs": len(widths), "widths": np.zeros((len(widths), 2), np.int64)}
    for view in views if scaled else ():
        view["centres"] = rng.standard_normal(view["n_features"])
        view["deviations"] = rng.random(view["n_features"]) + 0.5
    names = [f"view {i}" for i in range(len(widths))]
    columns = [[f"{i}.{j}" for j in range(k)] if i == 0 else None for i, k in enumerate(widths)]
    image = with_names(pack(head, views), names, columns, widths, "a note")
    return image, widths


def rows_of(rng, widths, m, dtype=np.float64):
    """Rows of the views that are used, every second one."""
    return [
        None if i % 2 else rng.standard_normal((m, k)).astype(dtype) for i, k in enumerate(widths)
    ]


def changed(image, head=(), records=()):
    """A copy of a model with other numbers in its head and records, and the right checksum."""
    image = image.copy()
    both = parts(image)
    for known, numbers in zip(both, (head, records), strict=True):
        for name, value in dict(numbers).items():
            known[name] = value
    both[0]["checksum"] = checksum(image)
    return image


@pytest.fixture
def small():
    rng = np.random.default_rng(0)
    image, widths = problem(rng, mapped=True)
    return image, rows_of(rng, widths, 5)


@pytest.mark.parametrize("c", [1, 2, 5, 17])
def test_margins_equal_their_definition(predict_library, c):
    rng = np.random.default_rng(c)
    image, _ = problem(rng, n_clusters=c)
    limits = fields(image)[1][0]["limits"].astype(float)
    scores = np.vstack([rng.standard_normal((200, c)), np.eye(c) / limits[:c]]).astype(np.float32)
    scores[0], scores[1], scores[2, 0] = 0, -1, np.nan
    scores[3, : c // 2 + 1] = 2  # equal scores
    status, found, unlike = margins(predict_library, image, scores)
    assert status == OK and found[2] == unlike[2] == -1
    expected, apart = reference_margins(scores, limits)
    rest = np.arange(len(scores)) != 2
    np.testing.assert_allclose(found[rest], expected[rest], atol=1e-6)
    limit = limits[c:][np.nan_to_num(scores).argmax(axis=1)]
    clear = rest & (abs(apart - limit) > 1e-5)
    np.testing.assert_array_equal(unlike[clear], apart[clear] > limit[clear])
    assert not unlike[-c:].any() and unlike[1] and 0 < (unlike == 1).sum() < 200
    for one, again in zip((found, unlike), Model(image).margins(scores), strict=True):
        assert one.tobytes() == again.tobytes()


def test_files_without_limits_have_labels_and_margins_only(predict_library, tmp_path):
    """Of views with more columns than samples and of counts."""
    views, _ = datasets.make_multiview_subspaces(1300, 4, n_features=(20, 400), random_state=0)
    views = [*views, np.exp(views[0][:, :9])]
    model = ConsensusTLRR(4, random_state=0).fit([X[:300] for X in views])
    model.to_native(tmp_path / "model.mvsc")
    image, new = np.fromfile(tmp_path / "model.mvsc", np.uint8), [X[300:] for X in views]
    old = changed(image, records={"limits": 0})
    scores = model.predictor_.scores(new)
    status, found, unlike = margins(predict_library, old, scores)
    assert status == OK and (unlike == -1).all()
    assert found.tobytes() == margins(predict_library, image, scores)[1].tobytes()
    old.tofile(tmp_path / "old.mvsc")
    saved = SavedPredictor(tmp_path / "old.mvsc")
    np.testing.assert_array_equal(saved.predict(new), model.predict(new))
    assert saved.predict_margin(new).tobytes() == found.tobytes()
    with pytest.raises(ValueError, match="distances"):
        saved.predict_margin(new, return_unlike=True)


def test_names_and_columns_are_in_the_file(predict_library):
    image, widths = problem(np.random.default_rng(0))
    status, model = load(predict_library, image)
    name, model = predict_library.mvsc_model_name, ctypes.byref(model)
    names = [name(model, i, -1) for i in range(3)]
    assert status == OK and names == [b"view 0", b"view 1", b"view 2"]
    assert name(model, 0, widths[0] - 1) == f"0.{widths[0] - 1}".encode()
    for place in ((0, widths[0]), (1, 0), (3, -1), (-1, -1)):
        assert name(model, *place) is None
    columns = [predict_library.mvsc_model_columns(model, i) for i in range(-1, 4)]
    assert columns == [0, *widths, 0]


MISUSES = {
    margins: [
        ({"m": 0, "scores": None}, OK),
        ({"m": 2**61}, BAD_ARGUMENT),
        ({"scores": None}, BAD_ARGUMENT),
        ({"margins": None}, OK),
        ({"unlike": None}, OK),
        ({"margins": None, "unlike": None}, BAD_ARGUMENT),
    ],
    call: [
        ({"m": 0, "rows": None}, OK),
        ({"m": 2**60, "size": 2**62}, BAD_ARGUMENT),
        ({"rows": None}, BAD_ARGUMENT),
        ({"dtype": 3}, BAD_ARGUMENT),
        ({"workspace": None}, BAD_ARGUMENT),
        ({"spare": -1}, SMALL),
        ({"spare": 100}, OK),
        ({"scores": None}, OK),
        ({"labels": None}, OK),
        ({"scores": None, "labels": None}, BAD_ARGUMENT),
    ],
}


@pytest.mark.parametrize("function", MISUSES)
def test_every_misuse_has_its_status(predict_library, small, function):
    image, rows = small
    given = rows if function is call else np.ones((5, 3), dtype=np.float32)
    anywhere = [({"model": None}, BAD_ARGUMENT), ({"m": -1}, BAD_ARGUMENT)]
    for changes, status in anywhere + MISUSES[function]:
        assert function(predict_library, image, given, **changes)[0] == status, changes


@pytest.mark.parametrize(
    ("function", "written"),
    [
        *((call, name) for name in ("workspace", "scores", "labels")),
        *((margins, name) for name in ("margins", "unlike")),
    ],
)
def test_outputs_may_not_overlap_what_is_read_or_written(predict_library, small, function, written):
    image, rows = small
    given = rows if function is call else np.ones((5, 3), dtype=np.float32)
    # Inputs: the first byte, and the last.
    for array in (image, rows[0], rows[2]) if function is call else (image, given):
        for address in (array.ctypes.data - 3, array.ctypes.data + array.nbytes - 1):
            assert function(predict_library, image, given, **{written: address})[0] == BAD_ARGUMENT
    for other in ("model", "rows") if function is call else ("model",):
        assert function(predict_library, image, given, **{written: other})[0] == BAD_ARGUMENT
    # Other outputs.
    memory = np.zeros(10**6, dtype=np.int8)
    at = memory.ctypes.data
    outputs = ("workspace", "scores", "labels") if function is call else ("margins", "unlike")
    for other in set(outputs) - {written}:
        places = {written: at, other: at + 3}
        assert function(predict_library, image, given, **places)[0] == BAD_ARGUMENT


def test_every_row_without_a_label_is_reported(predict_library):
    """All other rows keep their scores and labels, to the last bit."""
    rng = np.random.default_rng(0)
    image, widths = problem(rng)
    rows = rows_of(rng, widths, 300)
    rows[0][7] = np.nan
    _, scores, labels = call(predict_library, image, rows)
    expected = {3: -1, 70: -4, 140: -2, 141: -2, 299: -1}
    for row, label in expected.items():
        if label == -1:
            rows[0][row], rows[2][row] = np.nan, np.nan
        else:
            rows[-2 - label][row, -1] = np.inf
    rows[2][140] = np.nan
    rows[0][141], rows[0][141, 0] = np.nan, -np.inf
    status, found_scores, found = call(predict_library, image, rows)
    assert status == NOT_FINITE
    lost = np.array(list(expected))
    assert np.isnan(found_scores[lost]).all()
    np.testing.assert_array_equal(found[lost], list(expected.values()))
    np.testing.assert_array_equal(np.delete(found, lost), np.delete(labels, lost))
    assert np.delete(found_scores, lost, axis=0).tobytes() == np.delete(scores, lost, 0).tobytes()
    alone = [None if X is None else X[3:4] for X in rows]  # the sample without views
    assert call(predict_library, image, alone)[0] == OK
    image[parts(image)[0]["kernel_coefficients"] :][:4] = 255
    status, _, found = call(predict_library, changed(image), rows)
    assert status == NOT_FINITE and set(found) == {-1, -2, -4, -5}


def test_rows_of_nan_have_no_label_where_they_cannot_be_filled(predict_library):
    rng = np.random.default_rng(0)
    image, widths = problem(rng)
    rows = rows_of(rng, widths, 130)
    rows[2][70] = np.nan
    status, _, labels = call(predict_library, changed(image, records={"fill": 0}), rows)
    assert status == NOT_FINITE and labels[70] == -4 and (np.delete(labels, 70) >= 0).all()


@given(
    st.integers(1, 200),
    st.integers(1, 3),
    st.integers(1, 40),
    st.integers(1, 130),
    st.lists(st.integers(1, 90), min_size=3, max_size=3),
    *[st.booleans()] * 5,
    st.integers(0, 2**32 - 1),
)
def test_any_problem_stays_within_its_memory(
    predict_library, m, v, n_clusters, n_landmarks, d, mapped, single, lacking, scaled, lift, seed
):
    rng = np.random.default_rng(seed)
    image, widths = problem(rng, v, n_clusters, n_landmarks, d, mapped, scaled=scaled, lift=lift)
    rows = rows_of(rng, widths, m, np.float32 if single else np.float64)
    if lacking and v > 1:
        rows[2 * rng.integers(v)][rng.random(m) < 0.3] = np.nan
    status, scores, labels = call(predict_library, image, rows)
    assert status == OK
    np.testing.assert_array_equal(labels, scores.argmax(axis=1))
    used = [np.ascontiguousarray(X) for X in rows if X is not None]
    found = np.empty_like(scores)
    np.testing.assert_array_equal(Model(image).predict(used, found, 2), labels)
    assert found.tobytes() == scores.tobytes()


@pytest.mark.parametrize(
    "command",
    [
        "gcc -ffast-math",
        "gcc -ffinite-math-only",
        "gcc -funsafe-math-optimizations",
        "gcc -freciprocal-math",
        "g++ -Ofast",
        "clang -ffinite-math-only",
    ],
)
def test_flags_that_change_arithmetic_do_not_compile(tmp_path, command):
    if shutil.which(command.split()[0]) is None:
        pytest.skip(f"no {command.split()[0]}")
    source = tmp_path / ("flags.cpp" if "++" in command else "flags.c")
    source.write_text("#include <mvsc_predict.h>\n")
    for words, code in ((command.split(), 1), (command.split()[:1], 0)):
        run = subprocess.run(
            [*words, "-E", f"-I{mvsc_fast.get_include()}", source], capture_output=True, text=True
        )
        assert run.returncode == code and ("without -ffast-math" in run.stderr) == (code == 1)


@pytest.mark.parametrize(
    "command",
    [
        "clang -O2 -fno-honor-nans",
        "clang -O2 -fassociative-math -fno-signed-zeros -fno-trapping-math",
        "gcc -O2 -ffinite-math-only -U__FINITE_MATH_ONLY__",
        "gcc -O2 -ffast-math -U__FAST_MATH__ -U__FINITE_MATH_ONLY__ "
        "-U__ASSOCIATIVE_MATH__ -U__RECIPROCAL_MATH__",
    ],
)
def test_flags_that_no_macro_tells_keep_labels_or_load_no_model(
    predict_library, predict_with, small, command
):
    image, rows = small
    rows[0][0], rows[2][0], rows[0][1], rows[2][2, 1], rows[2][3, 0] = (*[np.nan] * 4, np.inf)
    other = predict_with(command)
    status = load(other, image)[0]
    assert status in (OK, BAD_ARITHMETIC)
    if status == OK:
        expected, result = call(predict_library, image, rows), call(other, image, rows)
        assert expected[0] == result[0] == NOT_FINITE
        assert list(expected[2][[0, 3]]) == [-1, -4]
        np.testing.assert_array_equal(result[2], expected[2])
        np.testing.assert_allclose(result[1], expected[1], rtol=1e-5)


@pytest.mark.parametrize("change", ["sqrtf(x) (x)", "sqrt(x) (x)", "NAN 0.0f"])
def test_other_arithmetic_loads_no_model(predict_with, small, change):
    """The built-in model has other scores, or labels."""
    # In C23 float.h defines NAN anew.
    library = predict_with(f"{c_compiler()} -O1 -std=c11", f"#include <math.h>\n#define {change}\n")
    status, model = load(library, small[0])
    assert status == BAD_ARITHMETIC and model.bytes is None
    assert b"such as -ffast-math" in library.mvsc_model_strerror(status)


def test_what_is_no_model_file_has_a_status(predict_library, small, tmp_path):
    small[0].tofile(tmp_path / "model.mvsc")
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "text").write_text("x" * 999)
    (tmp_path / "half").write_bytes(small[0].tobytes()[:-64])
    with (tmp_path / "large").open("wb") as file:
        file.truncate(2**42)  # without contents: there is no memory for so many bytes
    for name, expected in (
        ("model.mvsc", OK),
        ("", NO_FILE),  # a folder
        ("absent", NO_FILE),
        ("empty", NOT_A_MODEL),
        ("text", NOT_A_MODEL),
        ("large", NOT_A_MODEL),
        ("half", DAMAGED),
    ):
        model = Loaded()
        address = ctypes.byref(model)
        assert predict_library.mvsc_model_read(address, bytes(tmp_path / name)) == expected, name
        predict_library.mvsc_model_free(address)
        predict_library.mvsc_model_free(address)  # which may be called again


@pytest.mark.parametrize("value", [-1, 0, 7, 2**31, 2**40, 2**62, -(2**63)])
def test_numbers_that_cannot_be_are_refused(predict_library, value):
    """Every number of the head and of the records, but those that may have any small value."""
    image, _ = problem(np.random.default_rng(0), mapped=True, scaled=True, lift=True)
    free = {"magic", "checksum", "least_scale", "reserved", "scale_neighbors", "note"}
    optional = {
        0: {"coefficients", "mean_row", "note_size", "input", "unused", "limits", "lift"},
        7: {"note_size", "n_clusters", "d"},  # there is room for as many
    }.get(value, set())
    for i, known in enumerate((parts(image)[0], parts(image)[1][0])):
        for name in set(known.dtype.names) - free - optional:
            if known[name] != value:
                # The other records stay, so that those that differ are seen.
                other = image.copy()
                head, records = parts(other)
                (records[0] if i else head)[name] = value
                head["checksum"] = checksum(other)
                status, _ = load(predict_library, other)
                expected = {"order": NOT_A_MODEL, "version": VERSION}.get(name, DAMAGED)
                assert status == expected, (name, value)


def test_scales_that_are_not_positive_are_refused(predict_library):
    image, _ = problem(np.random.default_rng(0), mapped=True)
    for value in (np.nan, 0):
        image[parts(image)[1][0]["scales"] :].view(np.float32)[2] = value
        assert load(predict_library, changed(image))[0] == DAMAGED, value


def test_every_changed_byte_is_found(predict_library):
    image, _ = problem(np.random.default_rng(0))
    rng = np.random.default_rng(1)
    for place in rng.integers(len(image), size=2000 if FULL else 200):
        damaged = image.copy()
        damaged[place] ^= 1 << rng.integers(8)
        assert load(predict_library, damaged)[0] in (DAMAGED, NOT_A_MODEL, VERSION)
    for size in (0, 8, 127, 128, 1000, len(image) - 64):
        assert load(predict_library, image[:size].copy())[0] in (DAMAGED, NOT_A_MODEL)


def test_damaged_files_with_right_checksums_do_no_harm(tmp_path):
    """Under the address sanitizer: what is accepted predicts, within the file and the workspace."""
    compiler, program = c_compiler(), tmp_path / "mutate"
    level = "-O1" if FULL else "-O0"  # which compiles in a quarter of the time
    flags = ["-std=c99", level, "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    source = TESTS / "native_probe" / "mutate_model.c"
    command = [compiler, *flags, f"-I{mvsc_fast.get_include()}", source, "-o", program, "-lm"]
    environment = {**os.environ, "LD_PRELOAD": "", "ASAN_OPTIONS": "detect_leaks=0"}
    options = {"capture_output": True, "text": True, "env": environment}
    # A cross compiler has the sanitizers, and not their libraries.
    if any(subprocess.run(each, **options).returncode for each in (command, [program, "0"])):
        pytest.skip("no sanitizers")
    rng = np.random.default_rng(0)
    for k, (mapped, more) in enumerate(((False, False), (True, False), (True, True))):
        image, _ = problem(rng, n_landmarks=20, mapped=mapped, scaled=more, lift=more)
        image.tofile(tmp_path / f"{k}.mvsc")
    models = [str(tmp_path / f"{k}.mvsc") for k in range(3)]
    run = subprocess.run([program, str(10**5 if FULL else 150), *models], **options)
    assert run.returncode == 0, run.stderr[-3000:]
    accepted = [int(line.split()[0]) for line in run.stdout.splitlines()]
    assert len(accepted) == 3 and min(accepted) > 0, run.stdout
