"""A representation of results that does not print arrays."""

import numpy as np


class ShortRepr:
    """Mixin of results: shapes of arrays, values of figures, nothing else."""

    def __repr__(self):
        fields = [
            f"{name}={_short(value)}"
            for name, value in vars(self).items()
            if value is not None and not isinstance(value, dict)
        ]
        return f"{type(self).__name__}({', '.join(fields)})"


def _short(value):
    if isinstance(value, np.ndarray):
        return f"<{value.dtype} {value.shape}>"
    if isinstance(value, list):
        return f"<{len(value)} x {type(value[0]).__name__} {value[0].shape}>"
    return f"{value:.3g}" if isinstance(value, float) else repr(value)
