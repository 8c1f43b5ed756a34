"""Models that are saved and label new samples, and labels that are compared."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from mvsc_fast import __version__, datasets, metrics
from mvsc_fast.cli import main

IDS = np.array([f"s{i:03d}" for i in range(150)])


@pytest.fixture(scope="module")
def cohort(tmp_path_factory):
    """Two tables of 100 samples, whose columns have different units, and their saved model."""
    folder = tmp_path_factory.mktemp("cohort")
    views, y = datasets.make_multiview_subspaces(150, 3, random_state=0)
    tables = {}
    for name, X in zip(("rna", "mirna"), views[:2], strict=True):
        units = 10.0 ** np.random.RandomState(0).randint(0, 3, X.shape[1])
        columns = [f"{name}_{j}" for j in range(X.shape[1])]
        tables[name] = pd.DataFrame(X * units + 5 * units, pd.Index(IDS, name="who"), columns)
        tables[name].iloc[:100].to_csv(folder / f"{name}.csv")
    fit(folder, "rna.csv", "mirna.csv", "--scale", "standard")
    return folder, tables, y


def fit(folder, *arguments, model="model.mvsc"):
    files = [folder / text if str(text).endswith((".csv", ".npy")) else text for text in arguments]
    outputs = ["--save", str(folder / model), "--labels", str(folder / "fitted.csv")]
    assert main(["cluster", *map(str, files), "--clusters", "3", *outputs]) == 0


def labelled(folder, *files, model="model.mvsc"):
    """Labels that the command writes, by id."""
    out = folder / "labels.csv"
    arguments = [str(folder / model), *map(str, files), "--labels", str(out)]
    assert main(["predict", *arguments]) == 0
    return pd.read_csv(out, index_col=0).cluster


def summarised(folder, *files, code=0, model="model.mvsc"):
    """The table of labels, and the summary, that the command writes with an exit code."""
    labels, summary = folder / "labels.csv", folder / "new" / "summary.json"
    arguments = ["--certainty", "--labels", str(labels), "--summary", str(summary)]
    assert main(["predict", str(folder / model), *map(str, files), *arguments]) == code
    return pd.read_csv(labels, index_col=0), json.loads(summary.read_text("utf-8"))


def score(y, labels):
    places = [IDS.tolist().index(one) for one in labels.index]
    return metrics.clustering_scores(y[places], labels.to_numpy())["acc"]


@pytest.mark.filterwarnings("default")
def test_margins_and_a_summary_tell_unlike_samples(cohort, tmp_path, capsys, refused):
    """Half of the new samples are noise; an exit code with a summary says so."""
    folder, tables, _ = cohort
    rng, files = np.random.default_rng(0), []
    for name, table in tables.items():
        new = table.iloc[100:].copy()
        scale = table.std().to_numpy() * rng.standard_normal((25, table.shape[1]))
        new.iloc[25:] = table.mean().to_numpy() + scale
        files.append(tmp_path / f"{name}.csv")
        new.to_csv(files[-1])
    found, summary = summarised(folder, *files, code=3)
    far = found.unlike.sum()
    assert summary["alarm"] == "changed" and summary["unlike"] == far > 10
    told = f"{far} of 50 new samples ({2 * far:.1f}%) are farther from their clusters"
    err = capsys.readouterr().err
    assert err.count(told) == 1 and "Check that columns, units" in err
    assert list(found) == ["cluster", "margin", "unlike"]
    assert found.margin.between(0, 1).all() and set(found.unlike) == {0, 1}
    assert found.margin[:25].mean() > found.margin[25:].mean() + 0.2
    assert found.unlike[:25].mean() < 0.3 < found.unlike[25:].mean()
    assert labelled(folder, *files).equals(found.cluster)  # without a summary, the exit code is 0
    err = capsys.readouterr().err
    assert err.count(told) == 1 and "--certainty" in err
    same = tmp_path / "same.csv"
    outputs = ["--summary", same, "--labels", same]
    message = refused("predict", folder / "model.mvsc", *files, *outputs)
    assert "same.csv is a folder, an input file or another output" in message


@pytest.mark.filterwarnings("default")
def test_new_samples_may_lack_views_and_a_summary_counts_them(cohort, tmp_path, capsys):
    folder, tables, y = cohort
    paths = [tmp_path / "a.csv", tmp_path / "b.csv"]
    rna = tables["rna"].iloc[100:140].copy()
    rna.iloc[:2] = np.nan
    rna.to_csv(paths[0])
    tables["mirna"].iloc[120:].to_csv(paths[1])
    table, summary = summarised(folder, *paths)
    assert np.flatnonzero(table.cluster < 0).tolist() == [0, 1]
    assert len(table) == 50 and score(y, table.cluster[2:]) > 0.9
    assert summary == {
        "samples": 50,
        "complete": 20,
        "unlike": table.loc[IDS[120:140]].unlike.sum(),
        "alarm": None,
        "without_label": 2,
        "clusters": [(table.cluster == c).sum() for c in range(3)],
        "version": __version__,
    }
    err = capsys.readouterr().err
    assert "20 of 50 samples in every file" in err and "--join" not in err
    assert f"{summary['unlike']} of 20 new samples with all views (" in err
    assert "50 samples by cluster: 2 without a label, " in err
    swapped = labelled(folder, f"mirna={paths[1]}", f"rna={paths[0]}")
    assert (swapped == table.cluster.loc[swapped.index]).all()
    # A cluster without new samples is counted, and so is a view without a file.
    some = table.index[table.cluster == 1].intersection(IDS[102:140])
    tables["rna"].loc[some].to_csv(paths[0])
    alone, summary = summarised(folder, f"rna={paths[0]}")
    assert score(y, alone.cluster) > 0.9 and len(summary["clusters"]) == 3
    assert summary["complete"] == summary["unlike"] == 0
    err = capsys.readouterr().err
    assert "mirna is not given" in err
    assert "no new sample has all views, so the share of unlike" in err


@pytest.mark.parametrize(
    ("files", "message"),
    [
        (["{named}", "{mirna}"], "no column 'rna_2'; the nearest name to 'rna_2' is 'RNA.2'"),
        (["{lacks}", "{mirna}"], "lacks.csv: no column 'rna_0', 'rna_1', 'rna_2', ... .4 in all."),
        (["{mirna}", "{rna}"], "mirna.csv: no column 'rna_0'"),
        (["{rna}"], "rna.csv: no column 'mirna_0'"),
        (["{rna}", "{rna}", "{rna}"], "the model has 2 views, rna, mirna: give a file for each"),
        (["dna={rna}"], "dna=.*: No such file"),
        (["{upper}", "{mirna}"], "shares no id"),
        (["{words}", "{mirna}"], "words.csv: row 1 .'s000'. of column 'rna_2' is 'low'"),
    ],
)
def test_files_that_are_not_those_of_the_model(cohort, tmp_path, refused, files, message):
    folder, tables, _ = cohort
    rna = tables["rna"]
    wrong = {
        "lacks": rna.iloc[:, 4:],
        "named": rna.rename(columns={"rna_2": "RNA.2"}),
        "upper": rna.rename(index=str.upper),
        "words": rna.assign(rna_2=["low", *rna.rna_2[1:]]),
    }
    paths = {name: folder / f"{name}.csv" for name in tables}
    for name, table in wrong.items():
        paths[name] = tmp_path / f"{name}.csv"
        table.to_csv(paths[name])
    words = [file.format(**paths) for file in files]
    assert re.search(message, refused("predict", folder / "model.mvsc", *words))


@pytest.mark.filterwarnings("default")
def test_views_from_one_table_and_arrays(cohort, tmp_path, capsys):
    folder, tables, y = cohort
    table = tables["rna"].join(tables["mirna"])
    table.iloc[:100].to_csv(tmp_path / "all.csv")
    fit(tmp_path, "all.csv", "--columns", "rna_*", "--columns", "mirna_*", "--scale", "standard")
    table.iloc[100:, ::-1].assign(extra="text").to_csv(tmp_path / "new.csv")
    capsys.readouterr()
    labels = labelled(tmp_path, tmp_path / "new.csv")
    assert set(labels.index) == set(IDS[100:]) and labels.index.name == "who"
    fitted = pd.read_csv(tmp_path / "fitted.csv", index_col=0).cluster
    assert score(y, pd.concat([fitted, labels])) > 0.9
    assert "warning" not in capsys.readouterr().err
    for name in tables:
        np.save(tmp_path / f"{name}.npy", tables[name].to_numpy()[100:])
    found = labelled(folder, tmp_path / "rna.npy", tmp_path / "mirna.npy")
    assert metrics.clustering_scores(y[100:], found.to_numpy())["acc"] > 0.9
    assert capsys.readouterr().err.count("warning: no column names, unlike in fit") == 1


def test_each_file_has_a_column_of_ids_of_its_own(cohort, tmp_path):
    folder, tables, _ = cohort
    paths = [tmp_path / "rna.csv", tmp_path / "mirna.csv"]
    tables["rna"].iloc[:100].to_csv(paths[0])
    mirna = tables["mirna"].reset_index(names="plate")
    mirna[[*mirna.columns[1:], "plate"]].iloc[:100].to_csv(paths[1], index=False)
    fit(tmp_path, *paths, "--id-column", "who", "--id-column", "plate")
    alone = labelled(tmp_path, f"mirna={paths[1]}")
    assert alone.index.name == "plate" and alone.index.tolist() == IDS[:100].tolist()


def test_a_table_with_columns_of_two_views_is_of_neither(cohort, tmp_path, refused):
    for name, table in cohort[1].items():
        columns = [f"f{k}" for k in range(table.shape[1])]
        table.set_axis(columns, axis=1).to_csv(tmp_path / f"{name}.csv")
    fit(tmp_path, "rna.csv", "mirna.csv")
    message = refused("predict", tmp_path / "model.mvsc", tmp_path / "rna.csv")
    assert "2 views, rna, mirna" in message and "VIEW=FILE" in message


@pytest.mark.filterwarnings("default")
def test_a_kind_of_samples_that_the_fit_lacks_is_an_alarm(tmp_path, capsys):
    views, y = datasets.make_multiview_subspaces(600, 4, random_state=0)
    is_new = (y == 3) | (np.arange(600) % 2 == 1)
    rows = np.flatnonzero(is_new & ((y < 3) | (np.arange(600) % 7 == 0)))
    for i, X in enumerate(views[:2]):
        np.save(tmp_path / f"v{i}.npy", X[~is_new])
        np.save(tmp_path / f"n{i}.npy", X[rows])
    fit(tmp_path, "v0.npy", "v1.npy")
    table, summary = summarised(tmp_path, tmp_path / "n0.npy", tmp_path / "n1.npy", code=3)
    assert summary["alarm"] == "unseen"
    assert summary["unlike"] == table.unlike.sum()
    assert "a kind that the fit has not seen" in capsys.readouterr().err
