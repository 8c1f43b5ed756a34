"""The views that the paper takes from images."""

import itertools

import numpy as np
from features import gabor_magnitudes, image_views, intensity, lbp_cells

IMAGES = np.random.default_rng(0).integers(0, 256, (4, 21, 30), dtype=np.uint8)


def test_dimensions_of_the_literature():
    assert [X.shape for X in image_views(IMAGES)] == [(4, 4096), (4, 3304), (4, 6750)]
    assert image_views(IMAGES[:1], intensity_size=(32, 32))[0].shape == (1, 1024)


def test_intensity_keeps_images_of_the_right_size_and_flat_ones():
    np.testing.assert_array_equal(intensity(IMAGES, (21, 30)), IMAGES.reshape(4, -1) / 255)
    for shape in ((1, 1), (7, 100), (200, 3)):
        flat = np.full((1, *shape), 51, dtype=np.uint8)
        np.testing.assert_allclose(intensity(flat), 0.2, rtol=1e-14)


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
