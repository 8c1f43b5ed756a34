"""
Customers: a table of mixed columns
===================================

Numbers, categories and free text of 1500 customers, some of them missing, are clustered into
segments of very different size. Next month's customers then get labels.
"""

# %%
# The table
# ---------
# Simulated customers in six segments, the smallest of 2 %. Half of them wrote a review, and some
# incomes and regions are unknown.

import numpy as np
import pandas as pd
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline

from mvsc_fast import ConsensusTLRR, explain
from mvsc_fast.preprocessing import FrameEncoder

WORDS = np.array(
    "cheap fast late broken friendly helpful price delivery quality size colour shop app staff "
    "return refund gift child garden kitchen office travel music repair".split()
)
SHARES = [0.35, 0.25, 0.2, 0.1, 0.08, 0.02]


def simulate(n, seed):
    """A data frame of customers, and their segments."""
    population, rng = np.random.default_rng(3), np.random.default_rng(seed)
    segment = rng.choice(len(SHARES), n, p=SHARES)
    visits = population.gamma(2.0, 3.0, (6, 4))[segment]
    age, income = (
        population.normal(45, 14, 6),
        np.exp(population.normal(10.3, 0.5, 6)),
    )
    regions, contracts = (
        population.dirichlet([0.6] * 4, 6),
        population.dirichlet([0.5] * 3, 6),
    )
    topics = population.dirichlet(np.full(len(WORDS), 0.15), 6)
    table = pd.DataFrame(
        rng.poisson(visits * rng.gamma(8, 1 / 8, (n, 1))),
        columns=["visits", "orders", "returns", "calls"],
    )
    table["age"] = (age[segment] + rng.normal(0, 7, n)).clip(18).round()
    table["income"] = (income[segment] * np.exp(rng.normal(0, 0.3, n))).round(-2)
    table["region"] = [
        rng.choice(["north", "south", "east", "west"], p=regions[s]) for s in segment
    ]
    table["contract"] = [
        rng.choice(["monthly", "yearly", "none"], p=contracts[s]) for s in segment
    ]
    table["review"] = [" ".join(rng.choice(WORDS, 12, p=topics[s])) for s in segment]
    table.loc[rng.random(n) < 0.1, "income"] = np.nan
    table.loc[rng.random(n) < 0.05, "region"] = None
    table.loc[rng.random(n) < 0.5, "review"] = ""
    return table, segment


table, segment = simulate(1500, seed=0)
table.head(3)

# %%
# Three lines
# -----------
# The encoder standardises numbers, makes a column of each category, and counts words. What is
# missing stays missing.

groups = {
    "behaviour": ["visits", "orders", "returns", "calls"],
    "person": ["age", "income", "region", "contract"],
    "review": ["review"],
}
pipeline = make_pipeline(FrameEncoder(groups), ConsensusTLRR(6, random_state=0))
labels = pipeline.fit_predict(table)
print("customers of each segment:", np.bincount(segment))
print("customers of each cluster:", np.bincount(labels))
print(f"adjusted Rand index: {adjusted_rand_score(segment, labels):.2f}")

# %%
# What distinguishes the segments:

print(explain(pipeline, table))

# %%
# Next month
# ----------

new, segment = simulate(400, seed=1)
labels = pipeline.predict(new)
print(f"adjusted Rand index: {adjusted_rand_score(segment, labels):.2f}")
