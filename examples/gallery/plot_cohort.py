"""
Patients in three assays
========================

From the tables of a study to subtypes: orientation, transformation, the most variable columns, the
number of clusters, their markers and stability, and a new patient who lacks an assay. The study is
simulated, so that everything can be checked; the steps are those for real tables.
"""

# %%
# Tables with ids
# ---------------
# Portals have genes in rows and patients in columns. Views have patients in rows, so such a table
# is transposed. Each assay has other patients, in another order: `views.align` joins them by id,
# with rows of NaN for patients who lack an assay.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.metrics import adjusted_rand_score

from mvsc_fast import ConsensusTLRR, datasets, explain, suggest_n_clusters
from mvsc_fast.explanation import (
    markers,
    plot_markers,
    plot_n_clusters,
    plot_stability,
    stability,
)
from mvsc_fast.views import align

cohort = datasets.make_cohort(effect=1.7, random_state=0)
rna_of_portal = cohort.views["rna"].T
print(rna_of_portal.iloc[:3, :4])

tables = align({**cohort.views, "rna": rna_of_portal.T})
for name, table in tables.items():
    lacking = table.isna().all(axis=1).sum()
    print(
        f"{name}: {table.shape[1]} columns, {lacking} of {len(table)} patients lack it"
    )

# %%
# Logarithms, and the most variable columns
# -----------------------------------------
# Counts are divided by their sum per patient, and their logarithm is taken. Beta values of
# methylation become M values, their logits. Of each assay the 60 columns that vary most are kept,
# in standard units. What is learned here (columns, means, deviations) is needed for new patients.


def log_counts(counts):
    return np.log2(1e4 * counts.div(counts.sum(axis=1), axis=0) + 1)


def m_values(beta):
    beta = beta.clip(0.001, 0.999)
    return np.log2(beta / (1 - beta))


transform = {"methylation": m_values, "mirna": log_counts, "rna": log_counts}
logs = {name: transform[name](table) for name, table in tables.items()}
columns = {name: X.var().nlargest(60).index for name, X in logs.items()}
means = {name: X[columns[name]].mean() for name, X in logs.items()}
deviations = {name: X[columns[name]].std() for name, X in logs.items()}


def prepared(tables):
    views = {}
    for name, table in tables.items():
        X = transform[name](table)[columns[name]]
        views[name] = (X - means[name]) / deviations[name]
    return views


views = prepared(tables)

# %%
# How many subtypes
# -----------------
# The candidates are all worth a look; low confidence means that they are close.

found = suggest_n_clusters(views, max_clusters=10, random_state=0)
print(
    f"{found.n_clusters}, or {found.candidates[1:]}; {found.confidence} confidence"
)

figure, ax = plt.subplots(figsize=(6, 3.8), layout="constrained")
ax = plot_n_clusters(found, ax=ax)

# %%
# Clusters, and patients between two of them
# ------------------------------------------

model = ConsensusTLRR(n_clusters=found.n_clusters, random_state=0).fit(views)
model.run_ = {
    "processing": "counts were divided by their sum and log-transformed, beta values became M "
    "values; the 60 columns of each assay with the largest variance were standardised"
}
labels = pd.Series(model.labels_, index=tables["rna"].index, name="cluster")
explanation = explain(model, views, counts=found)
print(explanation)

subtypes = cohort.target[labels.index]
print("adjusted Rand index with the subtypes:", end=" ")
print(f"{adjusted_rand_score(subtypes, labels):.2f}")

# %%
# Markers
# -------
# Columns that differ most between a cluster and all other patients. As the clusters were found in
# these columns, p and q rank columns and are not valid tests.

table = markers(model, views)
print(table)
best = table.to_frame().groupby("cluster").head(8)
true = best["feature"].isin(cohort.markers["column"])
print(f"{true.sum()} of the first {len(best)} are markers of a subtype")

figure, ax = plt.subplots(figsize=(5, 4.4), layout="constrained")
ax = plot_markers(table, ax=ax)

# %%
# Stability
# ---------
# Clusters of subsamples of 80 % of the patients, compared with those of all: bars for clusters,
# points for patients.

subsampled = stability(model, views, n_resamples=5, random_state=0)
print(subsampled)

figure, ax = plt.subplots(figsize=(5, 3.4), layout="constrained")
ax = plot_stability(subsampled, ax=ax)

# %%
# New patients, without methylation
# ---------------------------------
# The model is fitted on 200 patients, and the others are new. They are transformed as the fitted
# ones. An assay that all of them lack is left out of the dict; the patients who have neither of the
# others cannot be labelled.

fitted = {name: X.iloc[:200] for name, X in views.items()}
new = {name: X.iloc[200:] for name, X in views.items() if name != "methylation"}
known = pd.concat(new.values(), axis=1).notna().any(axis=1)
new = {name: X[known] for name, X in new.items()}

model.fit(fitted)
predicted = model.predict(new)
print(f"adjusted Rand index of {len(predicted)} new patients:", end=" ")
print(f"{adjusted_rand_score(subtypes.iloc[200:][known], predicted):.2f}")
