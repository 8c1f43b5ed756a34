"""LAPACK routines that fail: every failure ends in a clear error, and the next call works."""

from pathlib import Path

from processes import run_python

LAPACK_FAULTS = """
import sys
sys.path.insert(0, {tests!r})
import numpy as np
import lapack_faults
names = [prefix + name for prefix in "ds" for name in
         ("sterf", "stedc", "steqr", "stemr", "sytrd", "ormtr", "potrf", "geqrf", "orgqr")]
names += ["dsyev", "dgesvd", "zheev", "zhetrd", "zunmtr"]
routines = {{name: lapack_faults.Routine(name) for name in names}}
from conftest import fitted, random_similarities, recovered
from mvsc_fast import datasets
from mvsc_fast.methods import ETLMSC, LTMSC, SNN, TRPCA, TSVDMSC, UtSVDMSC
from mvsc_fast.solvers import tlrr
views = datasets.make_multiview_subspaces(18, 3, random_state=0)[0]
W = random_similarities(3, 18)
U = np.linalg.qr(np.random.default_rng(0).standard_normal((202, 3)))[0]
large = (U * [9, 7, -5]) @ U.T + 0.002 * random_similarities(2, 202)
large += large.transpose(0, 2, 1).copy()
def learned(model):
    return fitted(model, views).representation_
calls = {{
    "dual": lambda: tlrr(W, alpha=0.5, lam=1.0, tol=1e-9, max_iter=25).tensor,
    "dual float32": lambda: tlrr(W.astype(np.float32), alpha=0.5, lam=1.0, max_iter=9).tensor,
    "ialm": lambda: tlrr(W, lam=2.0, solver="ialm", max_iter=100).tensor,
    "ialm, partial": lambda: tlrr(500 * large, lam=2e-3, solver="ialm", max_iter=6).tensor,
    "ialm, SVD": lambda: tlrr(W, omega1=1 - 1e-9, solver="ialm", max_iter=5).tensor,
    "tsvd_msc": lambda: learned(TSVDMSC(3, sample_transform="dft", max_iter=60)),
    "etlmsc": lambda: learned(ETLMSC(3, sample_transform="dft", max_iter=20)),
    "ut_svd_msc": lambda: learned(UtSVDMSC(3, max_iter=30)),
    "lt_msc": lambda: learned(LTMSC(3, max_iter=30)),
    "trpca": lambda: recovered(TRPCA, W, max_iter=40).tensor_,
    "snn": lambda: recovered(SNN, W, max_iter=40).tensor_,
}}
tried = fallbacks = 0
for label, call in calls.items():
    for routine in routines.values():
        routine.disarm()
    expected = call()
    calls_of = {{name: routine.calls for name, routine in routines.items() if routine.calls}}
    for name, used in calls_of.items():
        always, middle = 10**9, used // 2 + 1
        for info, first, count in [(2, 1, 1), (2, 1, always), (2, middle, 1), (2, middle, always),
                                   (2, used, 1), (-3, middle, 1)]:
            routines[name].arm(info, first, count)
            tried += 1
            try:
                result = call()
                assert np.isfinite(result).all()
                np.testing.assert_allclose(result, expected, rtol=1e-3, atol=2e-4)
                assert routines[name].failures > 0
                fallbacks += 1
            except np.linalg.LinAlgError as error:
                assert "LAPACK" in str(error), (label, name, info, str(error))
                assert ("refused argument 3" in str(error)) == (info < 0), (label, name, info)
                assert str(error).split(":")[0][-1].isdigit(), str(error)
            routines[name].disarm()
        np.testing.assert_array_equal(call(), expected)
        print(label, name, used)
print("tried", tried, "of which a second driver solved", fallbacks)
"""


def test_every_lapack_routine_may_fail():
    """At the first, a middle and the last call, once and for good, with either sign of info."""
    out = run_python(LAPACK_FAULTS.format(tests=str(Path(__file__).parents[1])))
    reached = {line.split()[-2] for line in out.splitlines()[:-1]}
    assert {"dsterf", "dstedc", "dstemr", "dsytrd", "dormtr", "dsyev", "dgesvd"} <= reached, out
    assert {"dpotrf", "dgeqrf", "dorgqr", "ssytrd", "zheev", "zhetrd"} <= reached, out
    words = out.splitlines()[-1].split()
    assert int(words[-1]) > 50, out
