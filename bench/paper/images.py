"""Files of images: which a folder holds, and their grey values."""

import re
import warnings

import numpy as np

SUFFIXES = (".bmp", ".gif", ".jpeg", ".jpg", ".pbm", ".pgm", ".png", ".pnm", ".ppm", ".tif",
            ".tiff", ".webp")  # fmt: skip
FORMATS = ("BMP", "GIF", "JPEG", "PNG", "PPM", "TIFF", "WEBP")  # no parser of anything else


def find_images(folder):
    """Paths of all images, and whether they lie in class folders."""
    here, other = _images_in(folder)
    classes = [path for path in other if path.is_dir()]
    passed = [path for path in other if not path.is_dir()]
    below = []
    for path in classes:
        found, rest = _images_in(path)
        below += found
        passed += rest
    if here and below:
        raise ValueError(
            f"{folder} has images in it, as {here[0].name}, and in folders in it, as "
            f"{below[0].relative_to(folder).as_posix()}: either all or none lie in class folders"
        )
    if not here and not below:
        raise ValueError(
            f"{folder}: no image in it nor in its folders ({len(passed)} other files; images are "
            f"{', '.join(SUFFIXES)})"
        )
    if passed:
        shown = ", ".join(path.relative_to(folder).as_posix() for path in passed[:3])
        more = ", ..." if len(passed) > 3 else ""
        warnings.warn(
            f"{folder}: {len(passed)} entries are no images by their names and are passed over: "
            f"{shown}{more}",
            UserWarning,
            stacklevel=3,
        )
    return here or below, bool(below)


def _images_in(folder):
    """Images of one folder, and everything else in it that is not hidden."""
    entries = sorted((p for p in folder.iterdir() if p.name[0] != "."), key=_numbers_by_value)
    named = [p.suffix.lower() in SUFFIXES and not p.is_dir() for p in entries]
    images = [p for p, is_image in zip(entries, named, strict=True) if is_image]
    return images, [p for p, is_image in zip(entries, named, strict=True) if not is_image]


def _numbers_by_value(path):
    parts = re.split(r"(\d+)", path.name)  # every second one is a number
    return [int(part) if k % 2 else part for k, part in enumerate(parts)], path.name


def read_grey(path):
    """Grey values of a file, uint8 or uint16, and whether it had colours."""
    try:
        from PIL import Image, ImageOps
    except ImportError as error:
        raise ImportError(
            "images need Pillow, which comes with pip install mvsc_fast[features]"
        ) from error
    try:
        with Image.open(path, formats=FORMATS) as opened:
            return _grey_values(ImageOps.exif_transpose(opened))
    except Exception as error:  # decoders of damaged files raise whatever they like
        if isinstance(error, OSError) and error.filename is not None:
            raise
        message = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ValueError(f"{path} cannot be read as an image: {message}") from error


def _grey_values(image):
    if image.mode.startswith("I"):
        values = np.asarray(image)
        if values.min() < 0 or values.max() > 65535:
            raise ValueError(f"values from {values.min()} to {values.max()} are beyond 16 bits")
        return values.astype(np.uint16), False
    if image.mode == "F":
        raise ValueError("floating-point values have no scale; save it with 8 or 16 bits")
    if image.mode in ("1", "L", "LA"):
        return np.asarray(image.convert("L")), False
    if image.has_transparency_data:
        image = image.convert("RGBA")
    image = image.convert("RGB")
    red, green, blue = np.moveaxis(np.asarray(image), 2, 0)
    has_color = not (np.array_equal(red, green) and np.array_equal(green, blue))
    return np.asarray(image.convert("L")), has_color
