"""Everything shows itself in a notebook, in all natural forms, with and without pyplot."""

import os

import pytest

nbclient = pytest.importorskip("nbclient", reason="pip install nbclient ipykernel")
nbformat = pytest.importorskip("nbformat")
pytest.importorskip("ipykernel")

BEFORE = """
import numpy as np
from mvsc_fast import ConsensusTLRR, datasets, explain, explanation
from mvsc_fast import structure_test, suggest_n_clusters
views, y = datasets.make_multiview_subspaces(60, 3, random_state=0)
model = ConsensusTLRR(3, random_state=0).fit(views)
told = explain(model, views)
"""
PICTURES = [
    "told.plot()",
    "explanation.plot_similarity(model.affinity_matrix_, y)",
    "explanation.plot_similarity(model.affinity_matrix_, y).figure",
    "explanation.plot_embedding(np.eye(60), y).figure",
    "explanation.plot_markers(explanation.markers(model, views))",
    "counts = suggest_n_clusters(views, max_clusters=4, random_state=0)\ncounts.plot()",
    "test = structure_test(views, 3, n_rotations=2, random_state=0)\ntest.plot().figure",
]
TABLES = ["told", "told.clusters", "told.parts[0]", "counts", "test"]
WITH_PYPLOT = """
import matplotlib.pyplot as plt
figure, ax = plt.subplots()
ax = explanation.plot_embedding(np.eye(60), y, ax=ax)
"""


def test_pictures_and_tables_are_shown_once():
    """Pictures without pyplot, tables, then pictures with pyplot."""
    pictures = [(source, "image/png") for source in PICTURES]
    tables = [(source, "text/html") for source in TABLES]
    shown = [*pictures, *tables, (WITH_PYPLOT, "image/png"), *pictures]
    sources = [BEFORE, *(source for source, _ in shown)]
    notebook = nbformat.v4.new_notebook(cells=list(map(nbformat.v4.new_code_cell, sources)))
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    nbclient.NotebookClient(notebook, timeout=300).execute(env=environment)
    for (source, kind), cell in zip(shown, notebook.cells[1:], strict=True):
        kinds = [key for output in cell.outputs for key in output.get("data", {})]
        assert kinds.count(kind) == 1, source
