"""Input that is not what it seems: damaged sparse matrices, odd containers, extreme numbers."""

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from conftest import FULL

CASES, BATCH = (10_000, 1000) if FULL else (400, 400)


def run_apart(*args):
    """Output of a fresh interpreter, which malformed input would bring down."""
    run = subprocess.run([sys.executable, *args], capture_output=True, text=True, timeout=600)
    assert run.returncode == 0, run.stderr[-2000:]
    return run.stdout


# ------------------------------------------------------------------ sparse matrices


@pytest.mark.parametrize("first", range(0, CASES, BATCH))
def test_damaged_sparse_matrices_are_refused(first):
    script = Path(__file__).with_name("malformed_sparse.py")
    refused = int(run_apart(str(script), str(first), str(first + BATCH)).split()[0])
    assert refused > 2 * BATCH  # of five readers


KINDS = """
S.indices[5] = 10**6
S.indices[5] = 2**31 - 1
S.indices[5] = -3
S.indptr[5] = 10**7
S.indptr[5] = S.indptr[6] + 3
S.indptr[5], S.indptr[-1] = 10**7, 0
S.indptr[5], S.indptr[6] = 2**31 - 1, -2**31
S.data = S.data[:-4]
""".split("\n")[1:-1]


def test_estimators_name_the_damaged_view():
    told = run_apart(
        "-c",
        textwrap.dedent(f"""
        import numpy as np, scipy.sparse as sp
        from mvsc_fast import ConsensusTLRR, TLRR, methods
        rng = np.random.RandomState(0)
        C, B = rng.poisson(1.0, (60, 30)) * 1.0, rng.rand(60, 30)
        fitted = ConsensusTLRR(3).fit([B, B])
        calls = [
            lambda S: ConsensusTLRR(3).fit([B, S]),
            lambda S: fitted.predict([B, S]),
            lambda S: methods.AWP(3).fit([B, S]),
            lambda W: TLRR(3, affinity="precomputed").fit([B @ B.T, W]),
            lambda W: methods.SNN(3, affinity="precomputed").fit([B @ B.T, W]),
        ]
        for kind in {KINDS}:
            for i, call in enumerate(calls):
                S = sp.csr_array(C if i < 3 else C @ C.T)
                exec(kind)
                try:
                    call(S)
                except ValueError as error:
                    print(error)
        """),
    ).splitlines()
    views = ["view 1", "view 1", "view 1", "X: slice 1", "X: slice 1"] * len(KINDS)
    assert len(told) == len(views)
    for line, view in zip(told, views, strict=True):
        assert line.startswith(f"{view} is not a valid sparse csr matrix: ")


def test_damaged_blocks_of_dask_are_refused():
    pytest.importorskip("dask", reason="dask is not installed")
    told = run_apart(
        "-c",
        textwrap.dedent("""
        import dask, dask.array as da, numpy as np, scipy.sparse as sp
        from mvsc_fast import ConsensusTLRR
        S = sp.csr_matrix(np.random.RandomState(0).poisson(1.0, (60, 30)) * 1.0)
        S.indices[5] = 10**6
        block = da.from_delayed(dask.delayed(S), (60, 30), meta=sp.csr_matrix((0, 0)))
        try:
            ConsensusTLRR(3).fit([block])
        except ValueError as error:
            print(error)
        """),
    )
    assert "is not a valid sparse csr matrix: indices must lie between 0 and 29" in told
