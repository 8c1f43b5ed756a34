"""Write the golden trace of TLRR at 60 samples: `python tests/golden/make_trace.py`.

Made by the NumPy twins alone: `trace.csv` is every tenth step of the published iteration,
`ends.json` what it and the exact minimiser end at. NumPy's legacy generator gives the same numbers
for ever.
"""

import json
import sys
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).resolve().parent
PARAMETERS = {"omega1": 0.4, "alpha": 9.0, "lam": 3.0}


def similarities():
    """Three views of three noisy blocks of 20 samples, shuffled: an array of shape (3, 60, 60)."""
    rng = np.random.RandomState(0)
    y = rng.permutation(np.repeat(np.arange(3), 20))
    same = y[:, None] == y
    W = rng.uniform(0, 0.3, (3, 60, 60)) + same * rng.uniform(0, 1, (3, 60, 60)) ** 2
    W = (W + W.transpose(0, 2, 1)) / 2
    W[:, np.arange(60), np.arange(60)] = 0
    return W


def main():
    sys.path.insert(0, str(FOLDER.parent))
    from reference import dual, tlrr

    W = similarities()
    ranks = []

    def watch(L1, L2, L3):
        ranks.append(np.linalg.matrix_rank(L1, tol=1e-9, hermitian=True))

    L, residuals, penalties = tlrr.tlrr(W, **PARAMETERS, watch=watch)
    rows = [
        f"{i + 1},{mu:.12g},{residual:.12g}," + ",".join(map(str, rank))
        for i, (mu, residual, rank) in enumerate(zip(penalties, residuals, ranks, strict=True))
    ]
    header = "iteration,mu,residual,rank_view0,rank_view1,rank_view2"
    (FOLDER / "trace.csv").write_text("\n".join([header, *rows[::10]]) + "\n")

    minimiser, gaps = dual.tlrr(W, **PARAMETERS, iterations=400)
    ends = {
        "n_iter": len(rows),
        "norm": np.linalg.norm(L),
        "largest": L.max(),
        "minimiser": {
            "objective": tlrr.objective(minimiser, W, **PARAMETERS),
            "gap": gaps[-1],
            "norm": np.linalg.norm(minimiser),
        },
    }
    (FOLDER / "ends.json").write_text(json.dumps(ends, indent=2) + "\n")


if __name__ == "__main__":
    main()
