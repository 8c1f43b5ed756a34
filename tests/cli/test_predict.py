"""Models that are saved and label new samples, and labels that are compared."""

import io
import json
import pickle
import re
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline

from mvsc_fast import ConsensusTLRR, __version__, datasets, metrics
from mvsc_fast.cli import main
from mvsc_fast.methods import _base
from mvsc_fast.preprocessing import FrameEncoder

IDS = np.array([f"s{i:03d}" for i in range(150)])
STANDARD = ["--scale", "standard"]


@pytest.fixture(scope="module")
def cohort(tmp_path_factory):
    """Two tables of 100 samples, whose columns have different units, and their saved models."""
    folder = tmp_path_factory.mktemp("cohort")
    views, y = datasets.make_multiview_subspaces(150, 3, random_state=0)
    tables = {}
    for name, X in zip(("rna", "mirna"), views[:2], strict=True):
        units = 10.0 ** np.random.RandomState(0).randint(0, 3, X.shape[1])
        columns = [f"{name}_{j}" for j in range(X.shape[1])]
        tables[name] = pd.DataFrame(X * units + 5 * units, pd.Index(IDS, name="who"), columns)
        tables[name].iloc[:100].to_csv(folder / f"{name}.csv")
    for model in ("model.pkl", "model.mvsc"):
        fit(folder, "rna.csv", "mirna.csv", *STANDARD, model=model)
    return folder, tables, y


def fit(folder, *arguments, model="model.pkl"):
    files = [folder / text if str(text).endswith((".csv", ".npy")) else text for text in arguments]
    outputs = ["--save", str(folder / model), "--labels", str(folder / "fitted.csv")]
    assert main(["cluster", *map(str, files), "--clusters", "3", *outputs]) == 0


def predicted(folder, *files, model="model.pkl", options=(), code=0):
    """The table that the command writes, by id."""
    out = folder / "labels.csv"
    arguments = [folder / model, *files, *options, "--labels", out]
    assert main(["predict", *map(str, arguments)]) == code
    return pd.read_csv(out, index_col=0)


def labelled(folder, *files, model="model.pkl"):
    return predicted(folder, *files, model=model).cluster


def score(y, labels):
    positions = [IDS.tolist().index(text) for text in labels.index]
    return metrics.clustering_scores(y[positions], labels.to_numpy())["acc"]


def test_new_samples_are_labelled_as_the_fitted_ones(cohort, tmp_path, capsys):
    folder, tables, y = cohort
    fitted = pd.read_csv(folder / "fitted.csv", index_col=0).cluster
    again = labelled(folder, folder / "rna.csv", folder / "mirna.csv")
    assert (again == fitted.loc[again.index]).mean() > 0.97
    for name, table in tables.items():
        new = table.iloc[100:].sample(frac=1, random_state=len(name)).iloc[:, ::-1]
        new.assign(sex="f", target=1).to_csv(tmp_path / f"{name}.csv")
    labels = labelled(folder, tmp_path / "rna.csv", tmp_path / "mirna.csv")
    assert set(labels.index) == set(IDS[100:]) and labels.index.name == "who"
    assert score(y, pd.concat([fitted, labels])) > 0.9
    err = capsys.readouterr().err
    assert "50 samples by cluster: " in err and "warning" not in err
    files = [str(tmp_path / f"{name}.csv") for name in tables]
    assert main(["predict", str(folder / "model.pkl"), *files]) == 0
    assert pd.read_csv(io.StringIO(capsys.readouterr().out), index_col=0).cluster.equals(labels)


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("scaled", [[], STANDARD], ids=["as they are", "scaled"])
def test_files_without_names_of_columns_warn(cohort, tmp_path, capsys, scaled):
    folder, tables, _ = cohort
    for name, table in tables.items():
        np.save(tmp_path / f"{name}.npy", table.iloc[100:].to_numpy())
    fit(folder, "rna.csv", "mirna.csv", *scaled, model="names.pkl")
    labelled(folder, *(f"{name}={tmp_path / name}.npy" for name in tables), model="names.pkl")
    err = capsys.readouterr().err
    assert err.count("warning: ") == err.count("warning: no column names, unlike in fit") == 1


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("model", ["model.pkl", "model.mvsc"])
def test_margins_are_written_beside_the_labels(cohort, tmp_path, capsys, model):
    folder, tables, _ = cohort
    files, rng = [], np.random.default_rng(0)
    for name, table in tables.items():
        new, files = table.iloc[100:].copy(), [*files, tmp_path / f"{name}.csv"]
        scale = table.std().to_numpy() * rng.standard_normal((25, table.shape[1]))
        new.iloc[25:] = table.mean().to_numpy() + scale
        new.to_csv(files[-1])
    labels = labelled(folder, *files, model=model)
    table = predicted(folder, *files, model=model, options=["--certainty"])
    assert list(table) == ["cluster", "margin", "unlike"] and table.cluster.equals(labels)
    assert table.margin.between(0, 1).all() and set(table.unlike) == {0, 1}
    assert table.margin[:25].mean() > table.margin[25:].mean() + 0.2
    assert table.unlike[:25].mean() < 0.3 < table.unlike[25:].mean()
    far = table.unlike.sum()
    told = f"{far} of 50 new samples ({2 * far:.1f}%) are farther from their clusters"
    err = capsys.readouterr().err
    assert err.count(told) == 2 and "--certainty" in err  # of either call, once


def test_views_that_new_samples_lack(cohort, tmp_path, capsys):
    folder, tables, y = cohort
    paths = [tmp_path / "a.csv", tmp_path / "b.csv"]
    tables["rna"].iloc[100:140].to_csv(paths[0])
    tables["mirna"].iloc[120:].to_csv(paths[1])
    both = labelled(folder, *paths)
    assert len(both) == 50 and score(y, both) > 0.9
    err = capsys.readouterr().err
    assert "20 of 50 samples in every file" in err and "--join" not in err
    assert " of 20 new samples (" in err  # of those with all views
    alone = labelled(folder, f"rna={paths[0]}")
    assert len(alone) == 40 and score(y, alone) > 0.9
    assert "mirna is not given" in capsys.readouterr().err
    swapped = labelled(folder, f"mirna={paths[1]}", f"rna={paths[0]}")
    assert (swapped == both.loc[swapped.index]).all()


@pytest.mark.parametrize("mark", ".,")
@pytest.mark.parametrize("model", ["model.pkl", "model.mvsc"])
@pytest.mark.filterwarnings("ignore:the labels agree little", "ignore:.*unlike")
def test_the_decimal_mark_is_that_of_the_fit(cohort, tmp_path, mark, model):
    """A single sample may have values that all look like thousands, such as 140.884."""
    _, tables, _ = cohort
    forms = {"decimal": mark, "sep": ";"}
    tables["rna"].iloc[:100].to_csv(tmp_path / "rna.csv", **forms)
    fit(tmp_path, "rna.csv", *(["--decimal", mark] if mark == "," else []), model=model)
    sample, new = tables["rna"].iloc[[120]] * 0 + 140.884, tmp_path / "new.csv"
    sample.to_csv(new, **forms)
    labels = predicted(tmp_path, new, model=model)
    sample.to_csv(new)
    assert predicted(tmp_path, new, model=model, options=["--decimal", "."]).equals(labels)


def test_arrays_tell_no_decimal_mark(cohort, tmp_path, refused):
    _, tables, _ = cohort
    np.save(tmp_path / "rna.npy", tables["rna"].to_numpy())
    fit(tmp_path, "rna.npy")
    (tables["rna"].iloc[[120]] * 0 + 140.884).to_csv(tmp_path / "new.csv", index=False)
    assert "'140.884'" in refused("predict", tmp_path / "model.pkl", tmp_path / "new.csv")


@pytest.mark.filterwarnings("default")
def test_files_with_few_ids_in_common(cohort, tmp_path, capsys, refused):
    folder, tables, _ = cohort
    paths = [tmp_path / "a.csv", tmp_path / "b.csv"]
    tables["rna"].iloc[100:130].to_csv(paths[0])
    tables["mirna"].iloc[100:130].rename(index="q{}x".format).to_csv(paths[1])
    message = refused("predict", folder / "model.pkl", *paths)
    assert "have 0 ids in common (only in" in message and "--join" not in message
    for first, few in ((117, True), (115, False)):
        tables["mirna"].iloc[first:150].to_csv(paths[1])
        labelled(folder, *paths)
        told = f"b.csv and {paths[0]} have {130 - first} ids in common"
        assert (told in capsys.readouterr().err) == few


@pytest.mark.filterwarnings("default")
def test_samples_without_a_label_are_written_with_minus_one(cohort, tmp_path, capsys):
    folder, tables, _ = cohort
    table = tables["rna"].iloc[100:].copy()
    table.iloc[:2] = np.nan
    table.to_csv(tmp_path / "a.csv")
    labels = labelled(folder, f"rna={tmp_path / 'a.csv'}")
    assert (labels[:2] == -1).all() and (labels[2:] >= 0).all()
    assert "50 samples by cluster: 2 without a label, " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("files", "message"),
    [
        (["{lacks}", "{mirna}"], "lacks 4 columns of view 'rna' of the model, such as 'rna_0'"),
        (["{mirna}", "{rna}"], "files in the order rna, mirna"),
        (
            ["{turned}", "{mirna}"],
            "such as 'rna_0', 'rna_1', 'rna_2', ... (40 in all): give files in the order rna, ",
        ),
        (["{rna}"], "the model has the views rna, mirna: give a file for each"),
        (["dna={rna}"], "or some of them as rna=FILE"),
        (["rna={rna}", "rna={rna}"], "a view is given more than once"),
    ],
)
def test_files_that_are_not_those_of_the_model(cohort, tmp_path, refused, files, message):
    folder, tables, _ = cohort
    tables["rna"].iloc[:, 4:].to_csv(tmp_path / "lacks.csv")
    tables["rna"].T.to_csv(tmp_path / "turned.csv")
    paths = {name: tmp_path / f"{name}.csv" for name in ("lacks", "turned")}
    paths |= {name: folder / f"{name}.csv" for name in tables}
    files = [file.format(**paths) for file in files]
    assert message in refused("predict", folder / "model.pkl", *files)


def test_predict_advises_nothing_that_it_refuses(cohort, tmp_path, refused):
    folder, tables, _ = cohort
    path = tmp_path / "rna.csv"
    words = ["predict", folder / "model.pkl", path, folder / "mirna.csv"]
    for rows, cell, message in (
        (3, -999, "3 cells of -999, .* empty .*: 'rna_2'; correct the file"),
        (1, "low", "line 2, column 'rna_2' is 'low', not a number: correct it, or leave it empty"),
    ):
        table = tables["rna"].astype(object)
        table.iloc[:rows, 2] = cell
        table.to_csv(path)
        error = refused(*words)
        assert re.search(message, error) and "--columns" not in error
    table = tables["rna"].rename(columns={"rna_3": "rna_2"}).assign(rna_3=1.0)
    table.to_csv(path)
    assert "columns of the model more than once: 'rna_2'" in refused(*words)


def test_views_from_one_table(cohort, tmp_path, capsys):
    folder, tables, y = cohort
    table = tables["rna"].join(tables["mirna"])
    table.iloc[:100].to_csv(tmp_path / "all.csv")
    fit(tmp_path, "all.csv", "--columns", "rna_*", "--columns", "mirna_*", "--scale", "standard")
    table.iloc[100:, ::-1].assign(extra=1).to_csv(tmp_path / "new.csv")
    capsys.readouterr()
    labels = labelled(tmp_path, tmp_path / "new.csv")
    assert len(labels) == 50 and score(y, labels) > 0.9
    notes = [line for line in capsys.readouterr().err.splitlines() if "ignored" in line]
    assert len(notes) == 1 and notes[0].endswith("ignored: 'extra'")


def test_a_file_for_c_programs_has_the_labels_of_a_pickle(cohort, capsys, refused):
    folder, _, _ = cohort
    fit(folder, "rna.csv", "mirna.csv", *STANDARD, model="model.mvsc")
    files = folder / "rna.csv", folder / "mirna.csv"
    assert labelled(folder, *files, model="model.mvsc").equals(labelled(folder, *files))
    assert "model.mvsc contains rows of the data" in capsys.readouterr().err
    (folder / "damaged.mvsc").write_bytes((folder / "model.mvsc").read_bytes()[:-9])
    message = refused("predict", folder / "damaged.mvsc", *files)
    assert "damaged.mvsc: the model is damaged or incomplete" in message


@pytest.mark.filterwarnings("default")
def test_a_model_of_another_version_warns(cohort, monkeypatch, capsys):
    folder, _, _ = cohort
    monkeypatch.setattr(_base, "__version__", "9.9")
    labelled(folder, folder / "rna.csv", folder / "mirna.csv")
    assert "this is 9.9: attributes may be missing" in capsys.readouterr().err


def test_other_files_are_refused(cohort, tmp_path, monkeypatch, refused):
    folder, _, _ = cohort
    content = pickle.loads((folder / "model.pkl").read_bytes())
    others = {"list": [1, 2], "dict": {"model": 1}, "other": {**content, "model": 1}}
    for name, value in others.items():
        (tmp_path / f"{name}.pkl").write_bytes(pickle.dumps(value))
    (tmp_path / "text.pkl").write_text("no model")
    for name in (*others, "text"):
        message = refused("predict", tmp_path / f"{name}.pkl", "a.csv")
        assert f"{name}.pkl is not a model that mvsc-fast cluster" in message
    monkeypatch.setitem(sys.modules, "skops", None)
    (tmp_path / "a.skops").write_text("")
    message = refused("predict", tmp_path / "a.skops", "a.csv")
    assert "needs skops: pip install skops" in message
    options = ["--clusters", "3", "--method", "snn", "--save", tmp_path / "m.pkl"]
    assert "--save: snn cannot predict" in refused("cluster", folder / "rna.csv", *options)


def test_the_certainty_of_fitted_samples(cohort):
    folder, _, _ = cohort
    fit(folder, "rna.csv", "mirna.csv", *STANDARD, "--certainty", model="certain.pkl")
    table = pd.read_csv(folder / "fitted.csv", index_col=0)
    assert list(table.columns) == ["cluster", "certainty", "second"]
    assert (table.second != table.cluster).all() and table.certainty.between(-0.5, 1).all()


# ------------------------------------------------------------------ summaries of regular runs


def summarised(folder, *files, code=0, model="model.pkl"):
    """The table of labels, and the summary, that the command writes with an exit code."""
    summary = folder / "new" / "summary.json"
    options = ["--certainty", "--summary", summary]
    table = predicted(folder, *files, model=model, options=options, code=code)
    return table, json.loads(summary.read_text("utf-8"))


@pytest.mark.parametrize("model", ["model.pkl", "model.mvsc"])
def test_a_summary_counts_what_a_regular_run_keeps(cohort, tmp_path, capsys, model):
    folder, tables, _ = cohort
    paths = [tmp_path / "a.csv", tmp_path / "b.csv"]
    tables["rna"].iloc[100:140].to_csv(paths[0])
    tables["mirna"].iloc[120:].to_csv(paths[1])
    table, summary = summarised(folder, *paths, model=model)
    assert summary["samples"] == 50 and summary["complete"] == 20 and summary["alarm"] is None
    assert summary["without_label"] == 0 and summary["without_view"] == {"rna": 10, "mirna": 20}
    assert summary["versions"] == {"mvsc_fast": __version__, "model": __version__}
    complete = table.loc[IDS[120:140]]
    for c, row in enumerate(summary["clusters"]):
        assert row["cluster"] == c and row["samples"] == (table.cluster == c).sum()
        assert row["complete"] == (complete.cluster == c).sum()
        assert row["unlike"] == complete.unlike[complete.cluster == c].sum()
    assert summary["unlike"] == complete.unlike.sum()
    told = f"{summary['unlike']} of 20 new samples ({summary['unlike_share']:.1%})"
    assert told in capsys.readouterr().err
    # A cluster without new samples has a row, and a view without a file is missing everywhere.
    ids = table.index[table.cluster == 1].intersection(IDS[100:140])
    tables["rna"].loc[ids].to_csv(paths[0])
    table, summary = summarised(folder, f"rna={paths[0]}", model=model)
    assert summary["without_view"] == {"rna": 0, "mirna": len(ids)}
    assert summary["unlike_share"] is None
    assert len(summary["clusters"]) == 3 and summary["complete"] == summary["unlike"] == 0
    sizes = [(table.cluster == c).sum() for c in range(3)]
    assert [row["samples"] for row in summary["clusters"]] == sizes and 0 in sizes


@pytest.mark.filterwarnings("default")
def test_unlike_samples_have_an_exit_code_with_a_summary(cohort, tmp_path, capsys, refused):
    folder, tables, _ = cohort
    for name, table in tables.items():
        (50 * table.iloc[100:]).to_csv(tmp_path / f"{name}.csv")
    files = tmp_path / "rna.csv", tmp_path / "mirna.csv"
    table, summary = summarised(folder, *files, code=3)
    assert summary["alarm"] == "changed" and summary["unlike_share"] == table.unlike.mean() > 0.2
    assert "Check that columns, units" in capsys.readouterr().err
    assert labelled(folder, *files).equals(table.cluster)  # without it, the exit code is 0
    arguments, same = ["predict", folder / "model.pkl", *files, "--summary"], tmp_path / "same.csv"
    refused(*arguments, "-")
    predicted(folder, *files, options=["--summary", "-"], code=3)
    assert json.loads(capsys.readouterr().out) == summary
    assert "same.csv would be written twice" in refused(*arguments, same, "--labels", same)


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
    assert summary["alarm"] == "unseen" and 0.1 < summary["unlike_share"] < 0.2
    assert summary["unlike"] == table.unlike.sum()
    assert "a kind that the fit has not seen" in capsys.readouterr().err


# --------------------------------------------------------------------- groups of mixed columns


def test_groups_of_mixed_columns_are_encoded_in_both_commands(
    tmp_path, monkeypatch, capsys, refused
):
    monkeypatch.chdir(tmp_path)
    rng, y = np.random.default_rng(0), np.arange(90) % 3
    table = pd.DataFrame(rng.normal(5 * np.eye(3)[y], 1), columns=["visits", "spend_a", "spend_b"])
    table["age"] = (20 * y + rng.normal(30, 2, 90)).round()
    table["city"] = np.array(["Rome", "Oslo", "Bern"])[y]
    table["review"] = [" ".join(["fast", "late", "kind"][k] for _ in range(5)) for k in y]
    table.index = pd.Index([f"c{i}" for i in range(90)], name="customer")
    table.to_csv("all.csv")
    table.iloc[:30].to_csv("new.csv")
    groups = {"use": ["visits", "spend_a", "spend_b"], "who": ["age", "city"], "text": ["review"]}
    options = ["--columns", "use=visits,spend_*", "--columns", "who=age,city"]
    options += ["--columns", "text=review", "--clusters", "3", "--labels", "l.csv"]
    assert main(["cluster", "all.csv", *options, "--save", "m.pkl"]) == 0
    pipeline = make_pipeline(FrameEncoder(groups), ConsensusTLRR(3, random_state=0))
    labels = pd.read_csv("l.csv", index_col="customer").cluster
    np.testing.assert_array_equal(labels, pipeline.fit_predict(table))
    assert "city (category), review (text)" in capsys.readouterr().err
    assert main(["predict", "m.pkl", "new.csv", "--labels", "n.csv"]) == 0
    new = pd.read_csv("n.csv", index_col="customer").cluster
    np.testing.assert_array_equal(new, pipeline.predict(table.iloc[:30]))
    assert "ignored" not in capsys.readouterr().err
    # What cannot be encoded stops.
    wrong = table.astype(object)
    wrong.iloc[3, 0] = "many"
    wrong.to_csv("wrong.csv")
    table.drop(columns="city").to_csv("less.csv")
    for arguments, message in (
        (["cluster", "all.csv", *options, "--save", "m.mvsc"], "m.mvsc"),
        (["cluster", "all.csv", *options, "--columns", "age"], "'age'"),
        (["cluster", "all.csv", *options, "--columns", "who=visits"], "'who'"),
        (["cluster", "wrong.csv", *options], "line 5, column 'visits' is 'many'"),
        (["predict", "m.pkl", "less.csv"], "less.csv: .*'city'"),
        (["predict", "m.pkl", "who=new.csv"], "who=new.csv"),
    ):
        assert re.search(message, refused(*arguments))
