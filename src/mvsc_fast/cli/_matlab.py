"""A program that turns a MATLAB file into an .npz file without objects.

It runs in a process of its own, because SciPy's reader can bring the interpreter down on a damaged
file. Usage: python _matlab.py FILE.mat OUT.npz; exit status 2 means an error, with a message.
"""

import sys

import numpy as np
import scipy.io
import scipy.sparse


def parts(name, value):
    """(key, array) of everything that makes up a value; cells of cells get longer keys."""
    if scipy.sparse.issparse(value):
        A = value.tocsc()  # as it stands in the file: other forms may be larger by orders
        yield f"{name}/shape", np.array(A.shape)
        for part in ("data", "indices", "indptr"):
            yield f"{name}/{part}", getattr(A, part)
    elif isinstance(value, np.ndarray) and value.dtype.kind == "O":
        for i, cell in enumerate(value.ravel()):
            yield from parts(f"{name}/{i}", cell)
    elif isinstance(value, np.ndarray) and value.dtype.kind != "V":
        yield f"{name}/array", value
    else:
        yield f"{name}/array", np.empty(0)  # structs and others, which are no matrices


def main(source, target):
    try:
        content = scipy.io.loadmat(source)
        arrays = {}
        for name, value in content.items():
            if not name.startswith("__"):
                arrays.update(parts(name, value))
        np.savez(target, **arrays)
    except NotImplementedError:
        return "MATLAB 7.3 file; save it with save(..., '-v7')"
    except Exception as error:
        return f"the MATLAB file cannot be read ({type(error).__name__}: {error})"
    return None


if __name__ == "__main__":
    message = main(*sys.argv[1:])
    if message is not None:
        print(message, file=sys.stderr)
        sys.exit(2)
