"""What is reproduced: data sets, methods with their parameters and reasons, the paper's numbers.

The paper is Jia, Liu, Hou, Kwong, Zhang: Multi-view spectral clustering tailored tensor low-rank
representation, IEEE TCSVT 31(12), 2021.
"""

from collections.abc import Callable
from typing import NamedTuple

from mvsc_fast.methods import (
    AWP,
    ETLMSC,
    LMSC,
    LTMSC,
    MCLES,
    SCMV3DT,
    SNN,
    TLRR,
    TRPCA,
    TSVDMSC,
    ConsensusTLRR,
    DiMSC,
    UtSVDMSC,
)
from mvsc_fast.spectral import fuse, spectral_labels

# Name in the paper: name of the .npz file, and of images the size at which pixels are a view.
SETS = {
    "ORL": ("orl_images", (64, 64)),
    "Yale": ("yale_images", (64, 64)),
    "Coil20": ("coil20_images", (32, 32)),
    "YaleB": ("yaleb10", None),
    "UCI": ("uci_digit", None),
}


class PublishedTLRR(TLRR):
    """TLRR whose low-rank tensor is cut as published, without a share of its input."""

    def fit(self, X, y=None):
        """Clean the views' similarities and cluster the samples."""
        super().fit(X)
        self.affinity_matrix_ = fuse(self.tensor_)
        self.labels_, self.embedding_ = spectral_labels(
            self.affinity_matrix_, self.n_clusters, random_state=self.random_state
        )
        return self


class Method(NamedTuple):
    """A row of the tables.

    ``make`` is called with the number of clusters and the ``parameters``, of which ``by_set``
    replaces some on a set of the paper. ``affinity`` among them may say which method makes the
    input tensor: its name as ``method``, and its parameters. ``reason`` says where they come from.
    A method has several seeds if it is ``random`` or, on shuffled samples, not ``order_free``, but
    one if it is ``slow``. Without ``kmeans`` its own labels count; otherwise k-means of
    ``embedding_`` is repeated on one fit. ``only`` is the name of its set if there is just one.
    """

    make: Callable
    parameters: dict
    reason: str
    by_set: dict = {}
    order_free: bool = True
    random: bool = False
    slow: bool = False
    kmeans: bool = True
    only: str | None = None

    def parameters_on(self, data):
        """The parameters on a data set, with those of the method that makes its input."""
        return {**self.parameters, **self.by_set.get(data, {})}

    def seeds(self, order, count):
        """Random states of the fits in an order of the samples."""
        several = self.random or (order == "shuffled" and not self.order_free)
        return range(count if several and not self.slow else 1)


DFT = {"sample_transform": "dft"}  # as published: along the samples, so their order matters


def _tsvd(lam, update="joint"):
    return {"method": "t-SVD-MSC", "lam": lam, "update": update, **DFT}


INPUT = {
    "ORL": _tsvd(0.1),
    "Yale": _tsvd(0.1),
    "Coil20": _tsvd(0.05),
    "YaleB": _tsvd(0.5),
    "UCI": _tsvd(0.03, "sequential"),
}
OTHER_INPUT = _tsvd(0.1)
INPUT_BY_SET = {data: {"affinity": affinity} for data, affinity in INPUT.items()}
PRINTED = {"omega1": 0.5, "alpha": 5.0, "lam": 15.0}  # ORL, Yale and Coil20
YALEB = {"omega1": 0.4, "alpha": 9.0, "lam": 15.0}
# The paper prints lam = 40; its accuracy is reached with 80, that is, with W twice as large.
UCI = {"omega1": 0.4, "alpha": 4.0, "lam": 80.0}
TLRR_BY_SET = {data: {"affinity": affinity} for data, affinity in INPUT.items()}
TLRR_BY_SET["YaleB"] |= YALEB
TLRR_BY_SET["UCI"] |= UCI

INPUT_REASON = (
    "Input: t-SVD-MSC, whose lam and order of updates the paper does not print; here those with "
    "which TLRR reaches the paper's accuracy in file order."
)
ENOUGH = 1e-6
ENOUGH_REASON = (
    "Stopped at 1e-6, after three quarters of the iterations to the published 1e-8; on ORL and "
    "Yale the clusters are the same."
)


METHODS = {
    "TLRR": Method(
        PublishedTLRR,
        {**PRINTED, "affinity": OTHER_INPUT, "solver": "ialm"},
        "Published iteration, omega1, alpha and lam as printed in the paper (UCI: lam 80, the "
        "printed 40 with W doubled). " + INPUT_REASON,
        by_set=TLRR_BY_SET,
        order_free=False,
    ),
    "TLRR exact": Method(
        TLRR,
        {**PRINTED, "affinity": OTHER_INPUT, "solver": "dual"},
        "The same problem solved to its certified minimum; .01 of W's own affinity is added before "
        "the cut, as in this package.",
        by_set=TLRR_BY_SET,
        order_free=False,
    ),
    "t-SVD-MSC": Method(
        TSVDMSC,
        {"lam": 0.05, **DFT},
        "lam that comes nearest to the paper's row, of .01 to 1. On Yale with these features no "
        "lam from .1 to 1.1, with either order of updates, has more than .89.",
        by_set={
            "ORL": {"lam": 0.5},
            "Yale": {"lam": 0.5, "update": "sequential"},
            "Coil20": {"lam": 0.01},
            "UCI": {"lam": 0.5},
        },
        order_free=False,
    ),
    "Ut-SVD-MSC": Method(
        UtSVDMSC,
        {"lam": 0.5},
        "No values are published: the default here, best over shuffled sets. The released code "
        "shrinks one pair of slices twice, which these updates do not.",
    ),
    "LT-MSC": Method(
        LTMSC,
        {"lam": 2.0},
        "The consistent algorithm with its default here; the released code, at lam .1, enters only "
        "one of three copies into Z, and has .468 on YaleB.",
    ),
    "ETLMSC": Method(
        ETLMSC,
        {"lam": None, **DFT},
        "Released scripts: lam .0055 along the columns (UCI), .004 (Coil20); elsewhere 11 / n, the "
        "published .0055 at n = 2000. The paper's values for the faces are not known.",
        by_set={"UCI": {"lam": 0.0055, "axis": 1}, "Coil20": {"lam": 0.004}},
        order_free=False,
    ),
    "SCMV-3DT": Method(
        SCMV3DT,
        {"lam": 10.0, "alpha": 0.1, "beta": 0.001},
        "No code and no values are published: derived iteration, defaults here.",
        slow=True,
    ),
    "TRPCA": Method(
        TRPCA,
        {"affinity": OTHER_INPUT, "tol": ENOUGH},
        "lam = 1 / sqrt(n v), as theory says; the paper tuned it per set without printing it. On "
        "the input of TLRR. " + ENOUGH_REASON,
        by_set=INPUT_BY_SET,
        slow=True,
        order_free=False,
    ),
    "SNN": Method(
        SNN,
        {"affinity": OTHER_INPUT, "tol": ENOUGH},
        "Weights sqrt(n) / 3 for all unfoldings; the paper's are not printed. On the input of "
        "TLRR. " + ENOUGH_REASON,
        by_set=INPUT_BY_SET,
        slow=True,
        order_free=False,
    ),
    "L-MSC": Method(
        LMSC,
        {"lam": 0.1},
        "lam of the released demo, K = 100 as published; the right sign in the step to H.",
        random=True,
    ),
    "DiMSC": Method(
        DiMSC,
        {"lam_s": 0.01, "lam_d": 20.0},
        "Best of the documented settings on samples of unit length; those of the released demo "
        "(1, 100) have .25 or less on YaleB. The paper's are not printed: hence the gap.",
    ),
    "MCLES": Method(
        MCLES,
        {},
        "Released demo (MSRC-v1), the only published values, not tuned to these sets: hence the "
        "gap.",
        slow=True,
        random=True,
    ),
    "AWP": Method(
        AWP,
        {"n_neighbors": 10, "init": "pivots"},
        "10 neighbors as in the released wrapper. Its rotations start from the identity, so that "
        "the result hangs on arbitrary signs of eigenvectors (.51 to .56 on YaleB); here from "
        "pivots. No k-means.",
        kmeans=False,
    ),
    "TLRR default": Method(
        TLRR,
        {"n_neighbors": 15},
        "This package's TLRR(n_clusters), nothing tuned, free of the order of the samples.",
    ),
    "ConsensusTLRR default": Method(
        ConsensusTLRR,
        {},
        "This package's ConsensusTLRR(n_clusters), nothing tuned, free of the order of the "
        "samples.",
        kmeans=False,
    ),
}
# At the .5 of the table two of the three come out .02 lower than in the paper; at this they do not,
# and TLRR itself has .949.
for name, change in {
    "alpha = 0": {"alpha": 0.0},
    "omega1 = 0": {"omega1": 0.0},
    "omega2 = 0": {"omega1": 1.0},
    "all terms": {},
}.items():
    METHODS[f"TLRR, {name}"] = METHODS["TLRR"]._replace(
        parameters={**YALEB, "solver": "ialm", "affinity": _tsvd(0.3, "sequential"), **change},
        by_set={},
        reason="Terms of TLRR left out, on the input that reproduces these numbers.",
        only="YaleB",
        order_free=True,  # in file order only
    )


# (ACC, NMI, ARI) in its tables of results, as far as they are at hand; None is not.
PAPER = {
    ("ORL", "TLRR"): (1.000, 1.000, 1.000),
    ("Yale", "TLRR"): (0.988, 0.988, 0.975),
    ("Coil20", "TLRR"): (1.000, 1.000, 1.000),
    ("YaleB", "TLRR"): (0.954, 0.908, 0.900),
    ("UCI", "TLRR"): (0.998, 0.993, 0.994),
    ("ORL", "t-SVD-MSC"): (0.964, 0.992, 0.965),
    ("Yale", "t-SVD-MSC"): (0.955, 0.954, 0.913),
    ("Coil20", "t-SVD-MSC"): (0.836, 0.924, 0.799),
    ("YaleB", "t-SVD-MSC"): (0.668, 0.696, 0.513),
    ("UCI", "t-SVD-MSC"): (0.966, 0.934, 0.928),
    ("UCI", "ETLMSC"): (0.941, 0.970, 0.933),
    ("YaleB", "Ut-SVD-MSC"): (0.502, 0.506, None),
    ("YaleB", "LT-MSC"): (0.617, 0.623, None),
    ("YaleB", "TRPCA"): (0.682, 0.699, None),
    ("YaleB", "SNN"): (0.687, 0.708, None),
    ("YaleB", "L-MSC"): (0.472, 0.438, None),
    ("YaleB", "DiMSC"): (0.520, 0.496, None),
    ("YaleB", "AWP"): (0.514, 0.567, None),
    ("YaleB", "TLRR, alpha = 0"): (0.605,),
    ("YaleB", "TLRR, omega1 = 0"): (0.138,),
    ("YaleB", "TLRR, omega2 = 0"): (0.609,),
    ("YaleB", "TLRR, all terms"): (0.954,),
}
