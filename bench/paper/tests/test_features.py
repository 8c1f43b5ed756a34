import importlib.util
import itertools
import re
import sys

import numpy as np
import pytest

from mvsc_fast import TLRR, TSVDMSC, features, metrics, validation
from mvsc_fast.features import gabor_magnitudes, image_views, intensity, lbp_cells, load_images

pytest.importorskip("skimage", reason="features of images need scikit-image")
Image = pytest.importorskip("PIL.Image")

RNG = np.random.default_rng(0)
IMAGES = RNG.integers(0, 256, (4, 21, 30), dtype=np.uint8)
EXTRACTORS = [intensity, lbp_cells, gabor_magnitudes]


@pytest.fixture(scope="module")
def views():
    return image_views(IMAGES)


# Features


def test_dimensions_of_the_literature(views):
    assert [X.shape for X in views] == [(4, 4096), (4, 3304), (4, 6750)]
    assert image_views(IMAGES[:1], intensity_size=(32, 32))[0].shape == (1, 1024)
    for X, extract in zip(views, EXTRACTORS, strict=True):
        np.testing.assert_array_equal(X, extract(IMAGES))


def test_every_image_is_described_alone(views):
    order = [2, 0, 3, 1]
    before = IMAGES.copy()
    for X, Y, extract in zip(views, image_views(IMAGES[order]), EXTRACTORS, strict=True):
        np.testing.assert_array_equal(Y, X[order])
        np.testing.assert_array_equal(extract(IMAGES[1:2]), X[1:2])
    np.testing.assert_array_equal(IMAGES, before)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_floats_from_0_to_1_are_the_same_images(views, dtype):
    scaled = (IMAGES / dtype(255)).astype(dtype)
    found = image_views(scaled)
    np.testing.assert_allclose(found[0], views[0], rtol=0, atol=1e-7)
    np.testing.assert_array_equal(found[1], views[1])
    np.testing.assert_allclose(found[2], views[2], rtol=0, atol=1e-7)


@pytest.mark.parametrize("extract", EXTRACTORS)
def test_sixteen_bits_and_black_and_white(extract):
    size = {"size": (18, 20)}
    flat = IMAGES[:2, :18, :20]
    wide = extract(flat * np.uint16(257), **size)
    np.testing.assert_allclose(wide, extract(flat, **size), rtol=0, atol=1e-13)
    white = flat > 127
    np.testing.assert_array_equal(extract(white, **size), extract(white * np.uint8(255), **size))


def test_images_of_different_sizes(views):
    mixed = [IMAGES[0], np.full((5, 3), 7, dtype=np.uint8), IMAGES[1]]
    for X, Y in zip(views, image_views(mixed), strict=True):
        np.testing.assert_array_equal(Y[[0, 2]], X[:2])


def test_float32_results():
    for X, extract in zip(image_views(IMAGES, dtype=np.float32), EXTRACTORS, strict=True):
        assert X.dtype == np.float32
        np.testing.assert_array_equal(X, extract(IMAGES).astype(np.float32))


def test_intensity_keeps_images_of_the_right_size_and_flat_ones():
    np.testing.assert_array_equal(intensity(IMAGES, size=(21, 30)), IMAGES.reshape(4, -1) / 255)
    for shape in ((1, 1), (7, 100), (200, 3)):
        flat = np.full((1, *shape), 51, dtype=np.uint8)
        np.testing.assert_allclose(intensity(flat), 0.2, rtol=1e-14)


def test_smaller_images_are_means_rather_than_samples():
    stripes = np.tile(np.array([0, 255], dtype=np.uint8), (1, 64, 32))
    assert np.ptp(intensity(stripes, size=(16, 16))) < 0.25


def circle_of_bits(image, row, column):
    """Which of 8 interpolated neighbours are at least as bright, beyond the border 0."""

    def pixel(r, c):
        inside = 0 <= r < image.shape[0] and 0 <= c < image.shape[1]
        return float(image[r, c]) if inside else 0.0

    bits = []
    for angle in 2 * np.pi * np.arange(8) / 8:
        r, c = row - np.round(np.sin(angle), 5), column + np.round(np.cos(angle), 5)
        above, left = int(np.floor(r)), int(np.floor(c))
        down, right = r - above, c - left
        top = (1 - right) * pixel(above, left) + right * pixel(above, left + 1)
        bottom = (1 - right) * pixel(above + 1, left) + right * pixel(above + 1, left + 1)
        bits.append((1 - down) * top + down * bottom >= image[row, column])
    return tuple(bits)


def test_lbp_against_a_loop_over_pixels():
    image = IMAGES[0, :18, :20] // 16  # many equal neighbours
    uniform = [
        bits
        for bits in itertools.product((False, True), repeat=8)
        if sum(bits[k] != bits[k - 1] for k in range(8)) <= 2
    ]
    assert len(uniform) == 58
    counts = np.zeros((4, 59), dtype=int)
    for row, column in np.ndindex(image.shape):
        bits = circle_of_bits(image, row, column)
        pattern = uniform.index(bits) if bits in uniform else 58
        counts[2 * (row // 9) + column // 10, pattern] += 1
    (found,) = lbp_cells(image[None], size=(18, 20)).reshape(1, 4, 59)
    np.testing.assert_array_equal(found.sum(axis=1), 90)
    np.testing.assert_array_equal(found[:, 58], counts[:, 58])
    # The others have whatever number scikit-image gives them.
    np.testing.assert_array_equal(found[:, np.lexsort(found)], counts[:, np.lexsort(counts)])


def test_gabor_against_direct_convolution():
    image, wavelength = IMAGES[0, :9, :11], 3.0
    s = wavelength / np.pi * np.sqrt(np.log(2) / 2) * 3
    mean = np.zeros(image.shape)
    for angle in np.deg2rad([0, 45, 90, 135]):
        ct, st = np.cos(angle), np.sin(angle)
        tall = int(np.ceil(max(abs(6 * s * ct), abs(3 * s * st))))
        wide = int(np.ceil(max(abs(3 * s * ct), abs(6 * s * st))))
        y, x = np.mgrid[-tall : tall + 1, -wide : wide + 1]
        along, across = x * ct + y * st, y * ct - x * st
        filter_ = np.exp(-(along**2 + across**2 / 4) / (2 * s**2) + 2j * np.pi * along / wavelength)
        filter_ /= 2 * np.pi * s * 2 * s
        for row, column in np.ndindex(image.shape):
            rows = np.clip(row - y, 0, image.shape[0] - 1)
            columns = np.clip(column - x, 0, image.shape[1] - 1)
            mean[row, column] += abs(np.sum(filter_ * image[rows, columns] / 255)) / 4
    found = gabor_magnitudes(image[None], size=image.shape, wavelength=wavelength)
    np.testing.assert_allclose(found[0], mean.ravel(), rtol=1e-11)


def test_gabor_answers_its_own_wavelength_and_no_flat_image():
    x = np.arange(90)
    own, twice = (np.tile(0.5 + 0.5 * np.cos(2 * np.pi * x / w), (75, 1)) for w in (4, 8))
    strength = gabor_magnitudes([own, twice, np.ones((75, 90)), np.zeros((75, 90))]).mean(axis=1)
    assert strength[0] > 3 * strength[1] > 3 * strength[2] > strength[3] == 0


def test_yale_in_file_order_as_published(load_shared):
    """The row of the paper: ACC .988, NMI .988, ARI .975."""
    (X,), y = load_shared("yale_images")
    graph = TSVDMSC(lam=0.1, sample_transform="dft")
    model = TLRR(
        15, graph=graph, omega1=0.5, alpha=5, lam=15, solver="ialm", tail=0, random_state=0
    )
    with pytest.warns(UserWarning, match="labels depend on their order"):
        labels = model.fit_predict(image_views(X.reshape(-1, 64, 64)))
    scores = metrics.clustering_scores(y, labels)
    assert abs(scores["acc"] - 0.988) < 0.005
    assert abs(scores["nmi"] - 0.988) < 0.005
    assert abs(scores["ari"] - 0.975) < 0.005


# Bad input


@pytest.mark.parametrize(
    "images, message",
    [
        ([], "no images were given"),
        (iter(IMAGES), "images must be an array or a sequence"),
        (IMAGES[0], "image 0 has shape (30,): a matrix (height, width)"),
        (IMAGES[..., None], "image 0 has shape (21, 30, 1)"),
        ([IMAGES[0], np.ones((0, 3))], "image 1 has shape (0, 3)"),
        (IMAGES.astype(int), "image 0 has dtype int64"),
        (IMAGES.astype(complex), "image 0 has dtype complex128"),
        ([IMAGES[0], IMAGES[1] / 2], "image 1 has values from"),
        ([IMAGES[0], -(IMAGES[1] / 255)], "floats must lie from 0 to 1"),
        (np.full((1, 2, 2), np.nan), "image 0 has values from nan to nan"),
    ],
)
@pytest.mark.parametrize("extract", [*EXTRACTORS, image_views])
def test_what_is_no_image(images, message, extract):
    with pytest.raises(ValueError, match=re.escape(message)):
        extract(images)


@pytest.mark.parametrize(
    "extract, parameters, message",
    [
        (intensity, {"size": 64}, "size=64: a pair (height, width) is needed"),
        (intensity, {"size": (64, 0)}, "size[1] == 0, must be >= 1"),
        (intensity, {"dtype": int}, "dtype=int64: float32 or float64 is needed"),
        (lbp_cells, {"size": (70, 72)}, "(70, 72) does not divide into cells of 9 x 10 pixels"),
        (lbp_cells, {"cell": (0, 10)}, "cell[0] == 0, must be >= 1"),
        (gabor_magnitudes, {"wavelength": 1.0}, "wavelength == 1.0, must be >= 2"),
        (gabor_magnitudes, {"wavelength": np.inf}, "wavelength == inf, must be a finite number"),
        (image_views, {"intensity_size": (1, 2, 3)}, "a pair (height, width) is needed"),
    ],
)
def test_bad_parameters(extract, parameters, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        extract(IMAGES, **parameters)


@pytest.mark.parametrize("extract", EXTRACTORS)
def test_memory_is_asked_for_before_the_work(extract, monkeypatch):
    monkeypatch.setattr(validation, "available_memory", lambda: 1000)
    with pytest.raises(MemoryError, match="features of 4 images needs about"):
        extract(IMAGES)


def test_without_scikit_image(monkeypatch, tmp_path):
    save(tmp_path / "a.png", IMAGES[0])
    monkeypatch.setitem(sys.modules, "skimage", None)
    spec = importlib.util.spec_from_file_location(
        "mvsc_fast._another", features.__file__, submodule_search_locations=features.__path__
    )
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "mvsc_fast._another", module)
    spec.loader.exec_module(module)  # imports without it
    for extract in (module.intensity, module.lbp_cells, module.gabor_magnitudes):
        with pytest.raises(ImportError, match=re.escape("pip install mvsc_fast[features]")):
            extract(IMAGES)
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(ImportError, match=re.escape("pip install mvsc_fast[features]")):
        module.load_images(tmp_path)


# Files


def save(path, values, **options):
    path.parent.mkdir(exist_ok=True)
    Image.fromarray(values).save(path, **options)


def test_class_folders_in_numerical_order(tmp_path):
    files = ["s10/1.pgm", "s2/10.png", "s2/9.bmp", "s2/.hidden.png", "s2/9b.tif"]
    for k, name in enumerate(files):
        save(tmp_path / name, IMAGES[0] + np.uint8(k))
    images, labels, names = load_images(tmp_path)
    assert names == ["s2/9.bmp", "s2/9b.tif", "s2/10.png", "s10/1.pgm"]
    np.testing.assert_array_equal(labels, ["s2", "s2", "s2", "s10"])
    expected = [IMAGES[0] + np.uint8(k) for k in (2, 4, 1, 0)]
    np.testing.assert_array_equal(images, expected)
    assert images.dtype == np.uint8


def test_flat_folder(tmp_path):
    for k in (0, 10, 2):
        save(tmp_path / f"obj1__{k}.PNG", IMAGES[0] + np.uint8(k))
    images, labels, names = load_images(str(tmp_path))
    assert labels is None
    assert names == ["obj1__0.PNG", "obj1__2.PNG", "obj1__10.PNG"]
    np.testing.assert_array_equal(images[2], IMAGES[0] + np.uint8(10))


def test_colour_becomes_grey_with_a_warning(tmp_path):
    rgb = RNG.integers(0, 256, (21, 30, 3), dtype=np.uint8)
    save(tmp_path / "a.png", IMAGES[0])
    save(tmp_path / "b.png", rgb)
    save(tmp_path / "c.png", np.repeat(IMAGES[1][:, :, None], 3, axis=2))
    with pytest.warns(UserWarning, match=r"1 of 3 images are in colour, first b.png") as caught:
        images, _, _ = load_images(tmp_path)
    assert [w.filename for w in caught] == [__file__]
    np.testing.assert_allclose(images[1], rgb @ [0.299, 0.587, 0.114], atol=0.51)
    np.testing.assert_array_equal(images[[0, 2]], IMAGES[:2])


def test_grey_values_in_other_clothes(tmp_path):
    """Palettes, transparency, one bit, and a camera held upside down."""
    grey = Image.fromarray(IMAGES[0])
    palette = grey.convert("P")
    palette.save(tmp_path / "1.gif")
    palette.save(tmp_path / "2.png", transparency=bytes(range(256)))
    Image.merge("LA", [grey, grey]).save(tmp_path / "3.png")
    Image.merge("RGBA", [grey] * 4).save(tmp_path / "4.png")
    exif = Image.Exif()
    exif[0x0112] = 3  # rotated by 180 degrees
    Image.fromarray(IMAGES[0][::-1, ::-1]).save(tmp_path / "5.png", exif=exif)
    images, _, _ = load_images(tmp_path)
    np.testing.assert_array_equal(images, [IMAGES[0]] * 5)
    Image.fromarray(IMAGES[0] > 127).save(tmp_path / "6.png")
    np.testing.assert_array_equal(load_images(tmp_path)[0][5], (IMAGES[0] > 127) * 255)


@pytest.mark.parametrize("names", [("a.png", "b.png"), ("b.png", "a.png")])
@pytest.mark.parametrize("suffix", [".png", ".pgm", ".tif"])
def test_sixteen_bits_beside_eight(names, suffix, tmp_path):
    eight, sixteen = (str((tmp_path / name).with_suffix(suffix)) for name in names)
    Image.fromarray(IMAGES[0]).save(eight)
    deep = IMAGES[1].astype(np.uint16) * 256 + 3
    Image.fromarray(deep).save(sixteen)
    images, _, found = load_images(tmp_path)
    assert images.dtype == np.uint16
    order = [found.index(name.replace(".png", suffix)) for name in names]
    np.testing.assert_array_equal(images[order], [IMAGES[0] * np.uint16(257), deep])


def test_different_sizes_are_refused_or_resized(tmp_path):
    save(tmp_path / "a.png", IMAGES[0])
    save(tmp_path / "b.png", IMAGES[1, :20, :30])
    with pytest.raises(ValueError, match=r"b.png has 20 x 30 pixels, a.png 21 x 30: give size="):
        load_images(tmp_path)
    images, _, _ = load_images(tmp_path, size=(21, 30))
    assert images.shape == (2, 21, 30)
    np.testing.assert_array_equal(images[0], IMAGES[0])
    resized = intensity(IMAGES[1:2, :20], size=(21, 30)).reshape(21, 30)
    np.testing.assert_allclose(images[1] / 255, resized, atol=0.501 / 255)


@pytest.mark.parametrize(
    "name, content, message",
    [
        ("text.png", b"no picture", "text.png cannot be read as an image"),
        ("cut.png", "half", "cut.png cannot be read as an image"),
        ("empty.jpg", b"", "empty.jpg cannot be read as an image"),
        ("script.gif", b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n", "script.gif cannot"),
    ],
)
def test_unreadable_files_are_named(name, content, message, tmp_path):
    save(tmp_path / "a.png", IMAGES[0])
    if content == "half":
        whole = (tmp_path / "a.png").read_bytes()
        content = whole[: len(whole) // 2]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=message):
        load_images(tmp_path)


def test_values_without_a_scale_are_refused(tmp_path):
    save(tmp_path / "a.tif", IMAGES[0].astype(np.float32))
    with pytest.raises(ValueError, match="a.tif cannot .* save it with 8 or 16 bits"):
        load_images(tmp_path)
    save(tmp_path / "a.tif", IMAGES[0].astype(np.int32) * 1000)
    with pytest.raises(ValueError, match="a.tif cannot .* beyond 16 bits"):
        load_images(tmp_path)


def test_folders_without_images_or_with_both_kinds(tmp_path):
    with pytest.raises(ValueError, match=r"no image in it nor in its folders \(0 other files"):
        load_images(tmp_path)
    (tmp_path / "notes.txt").write_text("")
    with pytest.raises(ValueError, match=r"\(1 other files; images are .bmp, .gif"):
        load_images(tmp_path)
    save(tmp_path / "a.png", IMAGES[0])
    with pytest.warns(UserWarning, match="1 entries are no images .* passed over: notes.txt$") as w:
        load_images(tmp_path)
    assert w[0].filename == __file__
    save(tmp_path / "class" / "a.png", IMAGES[0])
    with pytest.raises(ValueError, match="as a.png, and in folders in it, as class/a.png"):
        load_images(tmp_path)
    with pytest.raises(FileNotFoundError):
        load_images(tmp_path / "nowhere")
    with pytest.raises(NotADirectoryError):
        load_images(tmp_path / "a.png")
    with pytest.raises(ValueError, match="a pair"):
        load_images(tmp_path / "nowhere", size=5)


def test_memory_for_images_is_asked_for_before_they_are_read(monkeypatch, tmp_path):
    save(tmp_path / "a.png", IMAGES[0])
    monkeypatch.setattr(validation, "available_memory", lambda: 100)
    with pytest.raises(MemoryError, match="1 images of 21 x 30 pixels needs about"):
        load_images(tmp_path)
