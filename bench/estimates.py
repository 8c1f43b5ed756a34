"""What fits were said to need, and what they needed: peak memory and time of every method.

Every fit runs in a process of its own on one thread; time is that of its CPU, and what it needs is
estimated before it. For Linux only, as others do not tell a peak since some moment.

    python bench/estimates.py [METHOD ...] [--samples 400] [--features 50]
"""

import argparse
import json
import subprocess
import sys

CHILD = """
import json, sys, time, warnings
warnings.simplefilter("ignore")
from mvsc_fast import datasets, methods
name, n, d, c, parameters = json.loads(sys.argv[1])
estimator = methods.ESTIMATORS[name](c, random_state=0, n_threads=1, **parameters)
small = datasets.make_multiview_subspaces(60, c, random_state=0)[0]
estimator.fit(small)  # loads what it needs
views = datasets.make_multiview_subspaces(n, c, n_features=(d,) * 3, random_state=0)[0]
cost = estimator._cost(views)
seconds = cost.seconds
def status(field):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith(field))
with open("/proc/self/clear_refs", "w") as file:
    file.write("5")  # VmHWM starts again
before, start = status("VmRSS"), time.process_time()
estimator.fit(views)
took = time.process_time() - start
print(json.dumps([cost.memory, status("VmHWM") - before, seconds, took]))
"""
SIZES = ("dense", "sparse", "sample")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("methods", nargs="*")
    parser.add_argument("--samples", type=int, default=400)
    parser.add_argument("--features", type=int, default=50)
    args = parser.parse_args()
    print(f"{'method':<16}{'said, MiB':>11}{'peak':>8}{'ratio':>7}{'said, s':>9}{'took':>8}"
          f"{'ratio':>7}")  # fmt: skip
    for name in args.methods or _all_methods():
        method, _, size = name.partition("/")
        parameters = {"size": size} if size else {}
        if size == "sample":
            parameters["max_samples"] = args.samples // 4
        given = json.dumps([method, args.samples, args.features, 5, parameters])
        run = subprocess.run(
            [sys.executable, "-c", CHILD, given], stdout=subprocess.PIPE, check=True, text=True
        )
        memory, peak, seconds, took = json.loads(run.stdout)
        print(f"{name:<16}{memory / 2**20:11.0f}{peak / 2**20:8.0f}{memory / peak:7.2f}"
              f"{seconds:9.2f}{took:8.2f}{seconds / took:7.2f}", flush=True)  # fmt: skip


def _all_methods():
    from mvsc_fast.methods import ESTIMATORS

    names = [name for name in ESTIMATORS if name != "tlrr"]
    return [*(f"tlrr/{size}" for size in SIZES), *names]


if __name__ == "__main__":
    main()
