"""The three views of images that papers of this field use: intensities, local binary patterns,
Gabor magnitudes.

The feature files of those papers came without the code that made them. Sizes, cells and filters
here follow from the dimensions (4096, or 1024 for Coil20; 3304; 6750), and with them TLRR on
t-SVD-MSC, in the order of the files, has the accuracies of its paper (Jia et al. 2021) on ORL, Yale
and Coil20. Samples are not scaled: every method of the package scales them to unit length.

``images`` are grey values, uint8, of shape (n_images, height, width). Each is resized bilinearly,
after a Gaussian filter if it shrinks, without regard to its aspect ratio.
"""

import numpy as np
import scipy.signal
from skimage.feature import local_binary_pattern
from skimage.filters import gabor_kernel
from skimage.transform import resize

PATTERNS = 59  # of 8 neighbours: 58 with at most two changes around the circle, one for the others
ANGLES = (0, 45, 90, 135)  # degrees
BANDWIDTH = 1.0  # octaves
ASPECT = 0.5  # of the Gaussian: its width along the wave over its width along the crests


def intensity(images, size=(64, 64)):
    """Grey values of the resized images, row by row, from 0 to 1."""
    return np.stack([_resized(image, size).ravel() / 255 for image in images])


def lbp_cells(images, size=(72, 70), cell=(9, 10)):
    """Histograms of uniform local binary patterns in cells, row by row.

    Eight neighbours at distance 1, interpolated, are compared with each pixel (beyond the border
    they count as black): a circle of eight bits. The 58 circles with at most two changes have a bin
    each, all others share the last (scikit-image's ``nri_uniform``). Resized images are rounded to
    8 bits, so that equal neighbours stay equal (Ahonen, Hadid, Pietikainen: Face description with
    local binary patterns: application to face recognition. IEEE TPAMI 28(12), 2006).
    """
    height, width = size
    tall, wide = cell
    # Bins of the cells one after the other: one count gives all histograms of an image.
    cells = np.arange(height)[:, None] // tall * (width // wide) + np.arange(width) // wide
    count = (height // tall) * (width // wide) * PATTERNS

    def histograms(image):
        levels = np.rint(_resized(image, size)).astype(np.uint16)
        patterns = local_binary_pattern(levels, 8, 1, "nri_uniform")
        bins = cells * PATTERNS + patterns.astype(np.intp)
        return np.bincount(bins.ravel(), minlength=count)

    return np.stack([histograms(image) for image in images]).astype(np.float64)


def gabor_magnitudes(images, size=(75, 90), wavelength=4.0):
    """Magnitude of the responses to Gabor filters of one wavelength, averaged over four angles.

    The filter is ``exp(-(x^2 + (y/2)^2) / (2 s^2) + 2 pi i x / wavelength)`` up to a factor,
    rotated by 0, 45, 90 and 135 degrees, with the ``s = .56 wavelength`` of a bandwidth of one
    octave, cut off at three standard deviations; beyond its border the image is continued as it
    ends there (Daugman: Uncertainty relation for resolution in space, spatial frequency, and
    orientation optimized by two-dimensional visual cortical filters. J. Opt. Soc. Am. A 2(7),
    1985).
    """
    filters = _gabor_filters(wavelength)
    border = filters.shape[1] // 2

    def magnitudes(image):
        wider = np.pad(_resized(image, size) / 255, border, mode="edge")
        responses = scipy.signal.fftconvolve(wider[None], filters, mode="valid", axes=(1, 2))
        return np.abs(responses).mean(axis=0).ravel()

    return np.stack([magnitudes(image) for image in images])


def image_views(images, intensity_size=(64, 64)):
    """The three views, of 4096, 3304 and 6750 features."""
    if images.dtype != np.uint8:
        raise ValueError(f"images have dtype {images.dtype}: grey values as uint8 are expected")
    return [intensity(images, intensity_size), lbp_cells(images), gabor_magnitudes(images)]


def _resized(image, size):
    """The image at another size, as floats from 0 to 255.

    In whole grey levels, so that interpolation halfway between two of them is exact.
    """
    levels = image.astype(np.float64)
    if levels.shape == size:
        return levels
    return resize(levels, size, order=1, mode="edge", anti_aliasing=True)


def _gabor_filters(wavelength):
    """Complex filters of all angles, of shape (4, m, m) with m odd."""
    octave = 2.0**BANDWIDTH
    along = wavelength / np.pi * np.sqrt(np.log(2) / 2) * (octave + 1) / (octave - 1)
    filters = [
        gabor_kernel(1 / wavelength, theta=np.deg2rad(angle), sigma_x=along, sigma_y=along / ASPECT)
        for angle in ANGLES
    ]
    longest = max(max(g.shape) for g in filters)
    margins = [[(longest - length) // 2 for length in g.shape] for g in filters]
    return np.stack(
        [np.pad(g, ((a, a), (b, b))) for g, (a, b) in zip(filters, margins, strict=True)]
    )
