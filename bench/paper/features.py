"""Images to views: intensities, local binary patterns, Gabor magnitudes (``mvsc_fast[features]``).

The features that the papers of this field take from faces and objects, in their usual dimensions:

==================  =========================================================  =============
function            each image becomes                                         numbers
==================  =========================================================  =============
`intensity`         its pixels at 64 x 64 (Coil20: 32 x 32)                    4096 (1024)
`lbp_cells`         histograms of its 59 uniform local binary patterns in      3304 = 56 * 59
                    cells of 9 x 10 pixels, at 72 x 70
`gabor_magnitudes`  magnitudes of its Gabor responses at wavelength 4, mean    6750 = 75 * 90
                    over four angles, at 75 x 90
==================  =========================================================  =============

The feature files of those papers came without the code that made them. Sizes, cells and filters
here follow from the dimensions, and with them TLRR on t-SVD-MSC, in the order of the files, has the
accuracies of its paper (Jia et al. 2021) on ORL, Yale and Coil20. Samples are not scaled: every
method of this package brings them to unit length in each view.

An image is a matrix (height, width) of grey values: uint8, uint16, bool, or floats from 0 to 1.
``images`` is an array (n_images, height, width) or any sequence of such matrices, also of different
sizes, for each is resized alone: bilinearly, after a Gaussian where it shrinks, without regard to
its aspect ratio. A row depends on its own image only, neither on the others nor on their order, and
nothing but the result grows with their number.
"""

import warnings
from pathlib import Path

import numpy as np
import scipy.signal
from images import find_images, read_grey

from mvsc_fast.validation import check_integer, check_memory, check_number

__all__ = ["gabor_magnitudes", "image_views", "intensity", "lbp_cells", "load_images"]

PATTERNS = 59  # of 8 neighbours: 58 with at most two changes around the circle, one for the others
ANGLES = (0, 45, 90, 135)  # degrees
BANDWIDTH = 1.0  # octaves
ASPECT = 0.5  # of the Gaussian: its width along the wave over its width along the crests


def intensity(images, *, size=(64, 64), dtype=np.float64):
    """Grey values of the resized images, row by row.

    Parameters
    ----------
    images : array-like of shape (n_images, height, width), or sequence of matrices
        Grey values, see `mvsc_fast.features`.
    size : (int, int), default=(64, 64)
        Height and width; (32, 32) is usual for Coil20.
    dtype : {float64, float32}, default=float64
        float32 halves the memory here and in every method; the published solvers, whose stopping
        rules lie below its rounding, need float64.

    Returns
    -------
    ndarray of shape (n_images, height * width)
        From 0 to 1.

    Raises
    ------
    ValueError
        If there is no image, or one that is not a matrix of grey values; the message has its
        number.
    ImportError
        Without scikit-image.
    """
    size = _check_size(size, "size")
    return _rows(
        images,
        size[0] * size[1],
        dtype,
        lambda image: _resized(image, size).ravel() / _white(image),
    )


def lbp_cells(images, *, size=(72, 70), cell=(9, 10), dtype=np.float64):
    """Histograms of uniform local binary patterns in cells.

    Eight neighbours at distance 1, interpolated, are compared with each pixel (beyond the border
    they count as black): a circle of eight bits. The 58 circles with at most two changes have a bin
    each, all others share the last (scikit-image's ``nri_uniform``). Resized images are rounded to
    the 8 bits, or the 16 of uint16, that grey values come in, so that equal neighbours stay equal.

    Parameters
    ----------
    images : array-like of shape (n_images, height, width), or sequence of matrices
    size : (int, int), default=(72, 70)
        Height and width at which patterns are taken; multiples of those of ``cell``.
    cell : (int, int), default=(9, 10)
    dtype : {float64, float32}, default=float64

    Returns
    -------
    ndarray of shape (n_images, n_cells * 59)
        Counts; cells row by row.

    Raises
    ------
    ValueError
        If ``size`` does not divide into cells, and as for `intensity`.
    ImportError
        Without scikit-image.

    References
    ----------
    Ahonen, Hadid, Pietikainen: Face description with local binary patterns: application to face
    recognition. IEEE TPAMI 28(12), 2006.
    """
    height, width = size = _check_size(size, "size")
    tall, wide = _check_size(cell, "cell")
    if height % tall or width % wide:
        raise ValueError(f"size {size} does not divide into cells of {tall} x {wide} pixels")
    # Bins of the cells one after the other: one count gives all histograms of an image.
    cells = np.arange(height)[:, None] // tall * (width // wide) + np.arange(width) // wide
    count = (height // tall) * (width // wide) * PATTERNS

    def histograms(image):
        levels = np.rint(_resized(image, size)).astype(np.uint16)
        patterns = _scikit_image().feature.local_binary_pattern(levels, 8, 1, "nri_uniform")
        bins = cells * PATTERNS + patterns.astype(np.intp)
        return np.bincount(bins.ravel(), minlength=count)

    return _rows(images, count, dtype, histograms)


def gabor_magnitudes(images, *, size=(75, 90), wavelength=4.0, dtype=np.float64):
    """Magnitude of the responses to Gabor filters of one wavelength, averaged over four angles.

    The filter is ``exp(-(x^2 + (y/2)^2) / (2 s^2) + 2 pi i x / wavelength)`` up to a factor, turned
    by 0, 45, 90 and 135 degrees, with the ``s = .56 wavelength`` of a bandwidth of one octave, cut
    off at three standard deviations; the image goes on beyond its border as it ends there.

    Parameters
    ----------
    images : array-like of shape (n_images, height, width), or sequence of matrices
    size : (int, int), default=(75, 90)
        Height and width of the image that is filtered.
    wavelength : float, default=4.0
        In its pixels, at least 2.
    dtype : {float64, float32}, default=float64

    Returns
    -------
    ndarray of shape (n_images, height * width)

    Raises
    ------
    ValueError
        As for `intensity`.
    ImportError
        Without scikit-image.

    References
    ----------
    Daugman: Uncertainty relation for resolution in space, spatial frequency, and orientation
    optimized by two-dimensional visual cortical filters. J. Opt. Soc. Am. A 2(7), 1985.
    """
    size = _check_size(size, "size")
    filters = _gabor_filters(check_number(wavelength, "wavelength", 2.0))
    border = filters.shape[1] // 2

    def magnitudes(image):
        wider = np.pad(_resized(image, size) / _white(image), border, mode="edge")
        responses = scipy.signal.fftconvolve(wider[None], filters, mode="valid", axes=(1, 2))
        return np.abs(responses).mean(axis=0).ravel()

    return _rows(images, size[0] * size[1], dtype, magnitudes)


def image_views(images, *, intensity_size=(64, 64), dtype=np.float64):
    """The three views of the papers: intensities, local binary patterns, Gabor magnitudes.

    Parameters
    ----------
    images : array-like of shape (n_images, height, width), or sequence of matrices
        Grey values, see `mvsc_fast.features`.
    intensity_size : (int, int), default=(64, 64)
        Of `intensity`; (32, 32) is usual for Coil20.
    dtype : {float64, float32}, default=float64
        See `intensity`; an image takes 113 KB in float64.

    Returns
    -------
    list of three ndarray of shape (n_images, n_features_i)
        Of 4096, 3304 and 6750 features.

    Raises
    ------
    ValueError, ImportError
        As for `intensity`.
    """
    return [
        intensity(images, size=intensity_size, dtype=dtype),
        lbp_cells(images, dtype=dtype),
        gabor_magnitudes(images, dtype=dtype),
    ]


def load_images(folder, *, size=None):
    """Read the images of a folder, or of its class folders, as grey values.

    Parameters
    ----------
    folder : str or Path
        With image files (BMP, GIF, JPEG, PNG, PBM, PGM, PPM, TIFF, WebP) either directly in it, or
        in the folders in it, one for each class. Files of other names, and folders further down,
        are passed over with a warning, hidden ones without.
    size : (int, int), optional
        Height and width to which every image is resized. None keeps them as they are, and refuses
        images of different sizes.

    Returns
    -------
    images : ndarray of shape (n_images, height, width)
        uint8; uint16 if a file has 16 bits for each pixel. Upright, if a camera noted how it was
        held; the first picture of an animation; without transparency. Colour becomes
        ``.299 red + .587 green + .114 blue``, with a warning.
    labels : ndarray of str of shape (n_images,) or None
        Name of each image's class folder; None for a flat folder.
    names : list of str
        File names from ``folder`` on, numbers in them in numerical order (``s2/9.pgm`` before
        ``s2/10.pgm`` before ``s10/1.pgm``), on every machine.

    Raises
    ------
    ValueError
        If there is no image, images lie both in the folder and in folders in it, sizes differ
        without ``size``, or a file cannot be read as an image of 8 or 16 bits; the message names
        it.
    OSError
        If the folder or a file cannot be opened.
    ImportError
        Without scikit-image, with which Pillow comes.
    """
    folder = Path(folder)
    size = None if size is None else _check_size(size, "size")
    paths, in_classes = find_images(folder)
    names = [path.relative_to(folder).as_posix() for path in paths]
    images, colored = None, []
    for i, path in enumerate(paths):
        image, has_color = read_grey(path)
        if has_color:
            colored.append(names[i])
        if size is not None:
            image = np.rint(_resized(image, size)).astype(image.dtype)
        if images is None:
            needed = len(paths) * image.nbytes
            check_memory(needed, f"{len(paths)} images of {_by(image)} pixels")
            images = np.empty((len(paths), *image.shape), dtype=image.dtype)
        if image.shape != images.shape[1:]:
            raise ValueError(
                f"{path} has {_by(image)} pixels, {names[0]} {_by(images[0])}: give "
                "size=(height, width) to bring all images to one size"
            )
        if image.dtype.itemsize > images.dtype.itemsize:
            images = images * np.uint16(257)  # 255 becomes 65535
        images[i] = image if image.dtype == images.dtype else image * np.uint16(257)
    if colored:
        warnings.warn(
            f"{len(colored)} of {len(paths)} images are in colour, first {colored[0]}: their grey "
            "values .299 red + .587 green + .114 blue are taken",
            UserWarning,
            stacklevel=2,
        )
    labels = np.array([path.parent.name for path in paths]) if in_classes else None
    return images, labels, names


def _scikit_image():
    try:
        import skimage.feature
        import skimage.filters
        import skimage.transform
    except ImportError as error:
        raise ImportError(
            "features of images need scikit-image: pip install mvsc_fast[features]"
        ) from error
    return skimage


def _check_size(size, name):
    """The pair of positive integers ``size``."""
    try:
        height, width = size
    except (TypeError, ValueError):
        raise ValueError(f"{name}={size!r}: a pair (height, width) is needed") from None
    return check_integer(height, f"{name}[0]", 1), check_integer(width, f"{name}[1]", 1)


def _rows(images, count, dtype, describe):
    """One row ``describe(image)`` of ``count`` numbers for each image."""
    _scikit_image()
    if not hasattr(images, "__len__"):
        raise ValueError(
            f"images must be an array or a sequence, got {type(images).__name__}: pass list(images)"
        )
    dtype = np.dtype(dtype)
    if dtype not in (np.float32, np.float64):
        raise ValueError(f"dtype={dtype}: float32 or float64 is needed")
    if len(images) == 0:
        raise ValueError("no images were given")
    for i in range(len(images)):
        _check_image(np.asarray(images[i]), f"image {i}")
    n = len(images)
    check_memory(n * count * dtype.itemsize, f"{count} features of {n} images")
    out = np.empty((n, count), dtype=dtype)
    for i in range(n):
        out[i] = describe(np.asarray(images[i]))
    return out


def _check_image(image, name):
    if image.ndim != 2 or image.size == 0:
        raise ValueError(
            f"{name} has shape {image.shape}: a matrix (height, width) of grey values is needed. "
            "Rows of pixels are yours to reshape, colours to make grey"
        )
    if image.dtype.kind == "f":
        low, high = image.min(), image.max()
        if not (low >= 0 and high <= 1):  # NaN is neither
            raise ValueError(
                f"{name} has values from {low:.4g} to {high:.4g}: floats must lie from 0 to 1"
            )
    elif image.dtype not in (np.uint8, np.uint16, bool):
        raise ValueError(
            f"{name} has dtype {image.dtype}: grey values are uint8, uint16, bool, or floats from "
            "0 to 1"
        )


def _white(image):
    return 65535 if image.dtype == np.uint16 else 255


def _resized(image, size):
    """The image at another size, as floats from 0 to ``_white(image)``.

    In whole grey levels, so that interpolation halfway between two of them is exact.
    """
    levels = (image if image.dtype.kind == "u" else image * 255.0).astype(np.float64)
    if levels.shape == size:
        return levels
    return _scikit_image().transform.resize(levels, size, order=1, mode="edge", anti_aliasing=True)


def _gabor_filters(wavelength):
    """Complex filters of all angles, of shape (4, m, m) with m odd."""
    octave = 2.0**BANDWIDTH
    along = wavelength / np.pi * np.sqrt(np.log(2) / 2) * (octave + 1) / (octave - 1)
    filters = [
        _scikit_image().filters.gabor_kernel(
            1 / wavelength, theta=np.deg2rad(angle), sigma_x=along, sigma_y=along / ASPECT
        )
        for angle in ANGLES
    ]
    longest = max(max(g.shape) for g in filters)
    margins = [[(longest - length) // 2 for length in g.shape] for g in filters]
    return np.stack(
        [np.pad(g, ((a, a), (b, b))) for g, (a, b) in zip(filters, margins, strict=True)]
    )


def _by(image):
    height, width = image.shape
    return f"{height} x {width}"
