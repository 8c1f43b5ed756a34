"""CPU seconds of imports, of the shell command, and of first calls on few samples.

Usage: python bench/start.py

Medians of five processes of one thread. Calls are the first of their process, without imports, on
300 digits in three views.
"""

import os
import subprocess
import sys

import numpy as np
from timing import ONE_THREAD, print_table, run

PROCESS = """
import atexit, time
atexit.register(lambda: print(time.process_time() - start))
start = 0.0
"""
DATA = """
from mvsc_fast import ConsensusTLRR, datasets, explain, structure_test, suggest_n_clusters
views = [X[:300] for X in datasets.load_handwritten()[0][:3]]
model = ConsensusTLRR(10, random_state=0)
"""
BEGIN = "start = time.process_time()\n"
CODES = {
    "import numpy, scipy.linalg": "import numpy, scipy.linalg",
    "import sklearn.cluster, sklearn.neighbors": "import sklearn.cluster, sklearn.neighbors",
    "import mvsc_fast": "import mvsc_fast",
    "mvsc-fast --version": "from mvsc_fast.cli import main; main(['--version'])",
    "fit": f"{DATA}{BEGIN}model.fit(views)",
    "explain": f"{DATA}model.fit(views)\n{BEGIN}explain(model, views)",
    "structure_test": f"{DATA}{BEGIN}structure_test(views, 10)",
    "suggest_n_clusters": f"{DATA}{BEGIN}suggest_n_clusters(views)",
}


def seconds(code):
    """CPU seconds of a process, from its start or from where it says."""
    command = [sys.executable, "-W", "ignore", "-c", PROCESS + code]
    text = subprocess.check_output(command, text=True, env=os.environ | ONE_THREAD)
    return float(text.split()[-1])


def main():
    medians = {name: np.median([seconds(code) for _ in range(5)]) for name, code in CODES.items()}
    print_table("start, or call | CPU seconds", [f"{n} | {s:.2f}" for n, s in medians.items()])


if __name__ == "__main__":
    run(main, __doc__)
