"""
Patients in three assays
========================

From the tables of a study to subtypes, and to the label of a patient who arrives later: ids,
missing assays, the number of clusters, how sure they are, their markers, survival, a report. The
study is simulated, so that every answer can be checked; the steps are those for real tables.
"""

# %%
# Tables as they come
# -------------------
# Portals have genes in rows and samples in columns. Here RNA is such a table: its samples have a
# suffix, and one patient has two of them, the tumour (01A) and a metastasis (06A). Each assay has
# other patients, in another order. Forty patients arrive after the analysis.

import pickle
import tempfile
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy.stats import CensoredData, ecdf, false_discovery_control, logrank
from sklearn.metrics import adjusted_rand_score

from mvsc_fast import ConsensusTLRR, explain, suggest_n_clusters
from mvsc_fast.explanation import markers, plot_markers, stability
from mvsc_fast.views import align

# A simulated study: four subtypes of different sizes, each with eight markers in each assay, a
# factor that affects all patients to different extents, and patients who lack an assay.
rng = np.random.RandomState(0)
n = 280
ids = np.array([f"P{i + 1:03d}" for i in range(n)])
sizes = np.linspace(2, 1, 4) / np.linspace(2, 1, 4).sum()
y = rng.permutation(np.searchsorted(np.cumsum(sizes)[:-1], (np.arange(n) + 0.5) / n))
factor = rng.standard_normal((n, 1))
is_missing = rng.uniform(size=(3, n)) < 0.2
is_missing[rng.randint(3, size=n), np.arange(n)] = False  # nobody lacks all assays
assays, true_markers = {}, []
for assay, d, level, spread, missing in zip(
    ["methylation", "mirna", "rna"],
    [300, 120, 500],
    [-1.0, 5.0, 7.0],
    [2.0, 2.5, 2.0],
    is_missing,
    strict=True,
):
    names = np.array([f"{assay}_{j}" for j in range(d)])
    levels = (
        level
        + spread * rng.standard_normal(d)
        + 0.3 * factor * rng.standard_normal(d)
    )
    levels = levels + rng.gamma(4, 0.15, d) * rng.standard_normal((n, d))
    for k, columns in enumerate(rng.permutation(d)[:32].reshape(4, 8)):
        levels[np.ix_(y == k, columns)] += 1.8 * np.where(np.arange(8) % 2, 1, -1)
        true_markers += names[columns].tolist()
    if assay == "methylation":  # shares, the others are counts of a random depth
        values = np.round(1 / (1 + 2.0**-levels), 4)
    else:
        depth = 2 ** (0.4 * rng.standard_normal((n, 1)))
        values = rng.poisson(depth * 2.0 ** np.minimum(levels, 25))
    order = rng.permutation(np.flatnonzero(~missing))
    assays[assay] = pd.DataFrame(values[order], ids[order], names)
time, follow_up = rng.exponential(60 / (1 + y)), rng.uniform(12, 90, n)
outcomes = {"time": np.minimum(time, follow_up).round(1), "event": time <= follow_up}
target, outcomes = pd.Series(y, ids), pd.DataFrame(outcomes, ids)

# %%
# The tables of the first 240 patients, with RNA as a portal has it.

later = ids[240:]
early = {name: X.drop(later, errors="ignore") for name, X in assays.items()}
portal = early["rna"].T.add_suffix("-01A")
portal[portal.columns[0].replace("01A", "06A")] = portal.iloc[:, 1]
print(portal.iloc[:3, -4:])

# %%
# Patients in rows, one row for each, and ids that are equal in all tables: then `views.align`
# joins the tables. A patient who lacks an assay has a row of NaN there and stays in the study.

tumours = portal.loc[:, portal.columns.str.endswith("-01A")]
rna = tumours.T
rna.index = rna.index.str.removesuffix("-01A")
tables = align({**early, "rna": rna})
patients = tables["rna"].index
lacks = pd.DataFrame({name: X.isna().all(axis=1) for name, X in tables.items()})
print(f"{len(patients)} patients, {lacks.any(axis=1).sum()} of them lack an assay")
print(lacks.sum().to_string())

# %%
# Logarithms, and the most variable columns
# -----------------------------------------
# Counts are divided by their sum per patient, and their logarithm is taken. Beta values of
# methylation become M values, their logits. Of each assay the 60 columns that vary most are kept,
# in standard units. Columns, means and deviations are kept for patients who come later.


def log_counts(counts):
    return np.log2(1e4 * counts.div(counts.sum(axis=1), axis=0) + 1)


def m_values(beta):
    beta = beta.clip(0.001, 0.999)
    return np.log2(beta / (1 - beta))


transform = {"methylation": m_values, "mirna": log_counts, "rna": log_counts}
units = {}
for name, X in tables.items():
    logs = transform[name](X)
    logs = logs[logs.var().nlargest(60).index]
    units[name] = pd.DataFrame({"mean": logs.mean(), "deviation": logs.std()})

# %%
# The same is done to every patient, now and later.


def prepared(name, X):
    logs = transform[name](X)[units[name].index]
    return (logs - units[name]["mean"]) / units[name]["deviation"]


views = {name: prepared(name, X) for name, X in tables.items()}

# %%
# How many clusters?
# ------------------
# The suggestion comes with its confidence. If that is low, compare the stability of the candidates
# and their neighbours: subsamples of 80 % of the patients should give the same clusters.

counts = suggest_n_clusters(views, max_clusters=8, random_state=0)
print(f"suggested: {counts.n_clusters}, {counts.confidence} confidence;", end=" ")
print(f"other candidates: {counts.candidates[1:]}, supported: {counts.levels}")

fits, subsamples = {}, {}
for c in range(2, 7):
    fits[c] = ConsensusTLRR(n_clusters=c, random_state=0).fit(views)
    subsamples[c] = stability(fits[c], views, n_resamples=5, random_state=0)
    print(
        f"{c} clusters: least agreement of a cluster {subsamples[c]['agreement'].min():.2f}"
    )

# %%
# Subtypes are often nested, so that several numbers are right. A rule that needs no truth is to
# take the most clusters of which each is very stable.

n_clusters = max(c for c in subsamples if subsamples[c]["agreement"].min() > 0.85)
model = fits[n_clusters]
labels = pd.Series(model.labels_, index=patients, name="cluster")
print(subsamples[n_clusters])

# %%
# How sure is each patient?
# -------------------------
# The margin is 1 if all evidence is for the patient's cluster, and about 0 between two clusters.

explanation = explain(model, views, counts=counts)
table = explanation.samples.to_frame().set_index("sample")
table["lacks"] = [", ".join(lacks.columns[row]) for row in lacks.to_numpy()]
print(table.sort_values("margin").head(6).round(2).to_string())
by_lack = table.groupby(lacks.sum(axis=1))["margin"].agg(["size", "mean", "min"])
print(by_lack.rename_axis("assays that are missing").round(2).to_string())

# %%
# The study is simulated, so that we can look at the truth. Two other ways with missing assays are
# usual: to leave out the patients concerned, and to fill in the mean of each column.

subtypes = target[patients]
complete = ~lacks.any(axis=1)
usual = ConsensusTLRR(n_clusters=n_clusters, random_state=0)
without = {name: X[complete] for name, X in views.items()}
filled = {
    name: X.fillna(0) for name, X in views.items()
}  # means are 0 in standard units
print("adjusted Rand index with the true subtypes")
print(f"rows of NaN        {adjusted_rand_score(subtypes, labels):.2f}")
left_out = adjusted_rand_score(subtypes[complete], usual.fit_predict(without))
print(f"left out           {left_out:.2f}, of {complete.sum()} patients only")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # "rows that are all zero"
    means = adjusted_rand_score(subtypes, usual.fit_predict(filled))
print(f"filled with means  {means:.2f}")

# %%
# To leave patients out costs a third of them. Means do no harm here, as few rows are missing, but
# the fit warns of rows of zeros, which the means are in standard units; in
# :doc:`another example <plot_missing_views>` they do harm.

# %%
# What distinguishes the clusters
# -------------------------------
# Columns that differ most between a cluster and all other patients. As the clusters were found in
# these columns, effects rank columns and are no tests.

marked = markers(model, views)
best = marked.to_frame().groupby("cluster").head(8)
true = best["feature"].isin(true_markers)
print(f"{true.sum()} of the first {len(best)} are markers of a simulated subtype")

figure, ax = plt.subplots(figsize=(5, 4.6), layout="constrained")
ax = plot_markers(marked, ax=ax)

# %%
# Survival
# --------
# Survival took no part in the clustering, so that tests of it are valid. Each cluster is compared
# with all other patients by the log-rank test, corrected for the number of clusters.

clinical = outcomes.loc[patients]


def survival(rows):
    return CensoredData.right_censored(
        clinical["time"][rows], ~clinical["event"][rows]
    )


names = np.unique(labels)
p = [logrank(survival(labels == c), survival(labels != c)).pvalue for c in names]
q = false_discovery_control(p)

# %%
# Curves by Kaplan and Meier, with the corrected p values:

figure, ax = plt.subplots(figsize=(6, 3.8), layout="constrained")
for c, color in zip(
    names, ["#0072b2", "#e69f00", "#009e73", "#cc79a7"], strict=True
):
    rows = labels == c
    deaths = clinical["event"][rows].sum()
    text = f"{c}: {deaths} of {rows.sum()} died, q = {q[c]:.1g}"
    ecdf(survival(rows)).sf.plot(ax, label=text, color=color)
ax.set(xlabel="months", ylabel="survival", xlim=(0, 90), ylim=(0, 1))
legend = ax.legend(title="cluster")

# %%
# Report
# ------
# One page with tables and plots, for colleagues.

folder = tempfile.TemporaryDirectory()
report = Path(folder.name, "report.html")
explanation.write_report(report)
print(f"{report.name}: {report.stat().st_size / 1000:.0f} kB")

# %%
# Saving, and patients who come later
# -----------------------------------
# Save the model with what the transformation has learned. The file holds data of patients.

saved = Path(folder.name, "subtypes.pkl")
saved.write_bytes(pickle.dumps({"model": model, "units": units}))

# %%
# Months later: the forty patients have RNA or miRNA, but methylation is not measured any more. An
# assay that all of them lack is left out.

loaded = pickle.loads(saved.read_bytes())  # only files that you trust
arrived = align({name: assays[name].reindex(later) for name in ("mirna", "rna")})
new = {name: prepared(name, X) for name, X in arrived.items()}
known = pd.concat(new.values(), axis=1).notna().any(axis=1)
predicted = loaded["model"].predict({name: X[known] for name, X in new.items()})
agreement = adjusted_rand_score(target[later][known], predicted)
print(f"{known.sum()} of {len(later)} patients have one of the assays;", end=" ")
print(f"adjusted Rand index {agreement:.2f}")
folder.cleanup()

# %%
# Conclusion
# ----------
# For tables of your own, replace the first section by `pandas.read_csv`, and compare clusters with
# batches and centres before anything else. Report the number of clusters that you tried,
# stability, and patients with small margins as uncertain. Real subtypes are less distinct than
# these: with 1.6 in place of 1.8 in the first section, the same rule joins two of them. The
# :doc:`guide </patients>` has the steps in more detail, and for the command line.
