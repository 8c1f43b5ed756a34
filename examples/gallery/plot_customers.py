"""
Customers: a table of mixed columns
===================================

Numbers, categories, dates and free text of 1500 customers, some of them missing, are clustered
into segments of very different size. Next month's customers then get labels.
"""

# %%
# The table
# ---------
# Simulated customers in six segments, the smallest of 2 %. Half of them wrote a review, and some
# incomes and regions are unknown.

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from mvsc_fast import ConsensusTLRR, explain
from mvsc_fast.preprocessing import ViewSplitter
from mvsc_fast.views import missing

WORDS = np.array(
    "cheap fast late broken friendly helpful price delivery quality size colour shop app staff "
    "return refund gift child garden kitchen office travel music repair".split()
)
TODAY = pd.Timestamp("2026-01-01")
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
    years = rng.exponential(population.uniform(1, 4, 6)[segment])
    table["joined"] = TODAY - pd.to_timedelta((365 * years).round(), unit="D")
    return table, segment


table, segment = simulate(1500, seed=0)
table.head(3)

# %%
# A transformer for each view
# ---------------------------
# Numbers are brought to one scale, a category becomes a column of 0 and 1 for each of its values,
# a date becomes a number, and the words of texts are counted. A sample without a word lacks the
# view.


def days(dates):
    """Days from dates to today."""
    return dates.apply(lambda column: (TODAY - column).dt.days)


behaviour = make_column_transformer(
    (StandardScaler(), ["visits", "orders", "returns", "calls"]),
    verbose_feature_names_out=False,
)
person = make_column_transformer(
    (StandardScaler(), ["age", "income"]),
    (
        OneHotEncoder(handle_unknown="ignore", sparse_output=False),
        ["region", "contract"],
    ),
    (
        make_pipeline(
            FunctionTransformer(days, feature_names_out="one-to-one"),
            StandardScaler(),
        ),
        ["joined"],
    ),
    verbose_feature_names_out=False,
)
review = make_pipeline(
    make_column_transformer(
        (TfidfVectorizer(), "review"), verbose_feature_names_out=False
    ),
    FunctionTransformer(missing, feature_names_out="one-to-one"),
)
encoder = ViewSplitter({"behaviour": behaviour, "person": person, "review": review})
pipeline = make_pipeline(encoder, ConsensusTLRR(6, random_state=0))
labels = pipeline.fit_predict(table)
print("customers of each segment:", np.bincount(segment))
print("customers of each cluster:", np.bincount(labels))
print(f"adjusted Rand index: {adjusted_rand_score(segment, labels):.2f}")

# %%
# What distinguishes the segments, in standard deviations for numbers:

print(explain(pipeline, table))

# %%
# Next month
# ----------

new, segment = simulate(400, seed=1)
labels = pipeline.predict(new)
print(f"adjusted Rand index: {adjusted_rand_score(segment, labels):.2f}")
