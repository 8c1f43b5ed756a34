"""Models that are saved and label new samples, and labels that are compared."""

import json
import pickle
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline

from mvsc_fast import ConsensusTLRR, __version__, datasets, metrics
from mvsc_fast.cli import main
from mvsc_fast.preprocessing import FrameEncoder

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


def fit(folder, *arguments, model="model.pkl"):
    files = [folder / text if str(text).endswith((".csv", ".npy")) else text for text in arguments]
    outputs = ["--save", str(folder / model), "--labels", str(folder / "fitted.csv")]
    assert main(["cluster", *map(str, files), "--clusters", "3", *outputs]) == 0


def labelled(folder, *files, model="model.pkl"):
    """Labels that the command writes, by id."""
    out = folder / "labels.csv"
    arguments = [str(folder / model), *map(str, files), "--labels", str(out)]
    assert main(["predict", *arguments]) == 0
    return pd.read_csv(out, index_col=0).cluster


def score(y, labels):
    places = [IDS.tolist().index(one) for one in labels.index]
    return metrics.clustering_scores(y[places], labels.to_numpy())["acc"]


@pytest.mark.filterwarnings("default")
def test_margins_are_written_beside_the_labels(cohort, tmp_path, capsys):
    folder, tables, _ = cohort
    rng, new = np.random.default_rng(0), {}
    for name, table in tables.items():
        new[name] = table.iloc[100:].copy()
        scale = table.std().to_numpy() * rng.standard_normal((25, table.shape[1]))
        new[name].iloc[25:] = table.mean().to_numpy() + scale
        new[name].to_csv(tmp_path / f"{name}.csv")
    labels = labelled(folder, tmp_path / "rna.csv", tmp_path / "mirna.csv")
    out = tmp_path / "margins.csv"
    arguments = [*map(str, (folder / "model.pkl", tmp_path / "rna.csv", tmp_path / "mirna.csv"))]
    assert main(["predict", *arguments, "--certainty", "--labels", str(out)]) == 0
    found = pd.read_csv(out, index_col=0)
    assert list(found) == ["cluster", "margin", "unlike"] and found.cluster.equals(labels)
    assert found.margin.between(0, 1).all() and set(found.unlike) == {0, 1}
    assert found.margin[:25].mean() > found.margin[25:].mean() + 0.2
    assert found.unlike[:25].mean() < 0.3 < found.unlike[25:].mean()
    far = found.unlike.sum()
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
    assert " of 20 new samples with all views (" in err
    alone = labelled(folder, f"rna={paths[0]}")
    assert len(alone) == 40 and score(y, alone) > 0.9
    assert "mirna is not given" in capsys.readouterr().err
    swapped = labelled(folder, f"mirna={paths[1]}", f"rna={paths[0]}")
    assert (swapped == both.loc[swapped.index]).all()


@pytest.mark.parametrize("mark", ".,")
@pytest.mark.filterwarnings(
    "ignore:the labels agree little", "ignore:.*unlike", "ignore:no column names"
)
def test_new_samples_need_the_decimal_mark_if_in_doubt(cohort, tmp_path, capsys, refused, mark):
    """A single sample may have values that all look like thousands, such as 140.884."""
    _, tables, _ = cohort
    forms = {"decimal": mark, "sep": ";"}
    tables["rna"].iloc[:100].to_csv(tmp_path / "rna.csv", **forms)
    decimal = ["--decimal", mark] if mark == "," else []
    fit(tmp_path, "rna.csv", "--scale", "standard", *decimal)
    sample = tables["rna"].iloc[[120]] * 0 + 140.884
    sample.to_csv(tmp_path / "new.csv", **forms)
    np.save(tmp_path / "new.npy", sample)
    capsys.readouterr()
    arguments = ["predict", str(tmp_path / "model.pkl"), str(tmp_path / "new.csv"), "--certainty"]
    assert f"'140{mark}884'" in refused(*arguments)

    def row(*arguments):
        assert main(list(arguments)) == 0
        return capsys.readouterr().out.splitlines()[1].split(",")[1:]

    expected = row(*arguments[:2], str(tmp_path / "new.npy"), "--certainty")
    assert row(*arguments, "--decimal", mark) == expected
    sample.to_csv(tmp_path / "new.csv")
    assert row(*arguments, "--decimal", ".") == expected


@pytest.mark.filterwarnings("default")
def test_files_with_few_ids_in_common(cohort, tmp_path, capsys):
    folder, tables, _ = cohort
    paths = [tmp_path / "a.csv", tmp_path / "b.csv"]
    tables["rna"].iloc[100:130].to_csv(paths[0])
    for first, few in ((117, True), (115, False)):
        tables["mirna"].iloc[first:150].to_csv(paths[1])
        labelled(folder, *paths)
        told = f"b.csv and {paths[0]} have {130 - first} ids in common"
        assert (told in capsys.readouterr().err) == few


@pytest.mark.parametrize(
    ("files", "message"),
    [
        (["{lacks}", "{mirna}"], "lacks 4 columns of view 'rna' of the model, such as 'rna_0'"),
        (["{mirna}", "{rna}"], "files in the order rna, mirna"),
        (["{turned}", "{mirna}"], r"'rna_0', .* \(40 in all\): give files in the order rna, "),
        (["{rna}"], "the model has the views rna, mirna: give a file for each"),
        (["dna={rna}"], "or some of them as rna=FILE"),
        (["rna={rna}", "rna={rna}"], "a view is given more than once"),
        (["{upper}", "{mirna}"], r"0 ids in common \(only in"),
        (["{coded}", "{mirna}"], "3 cells of -999, .* empty .*: 'rna_2'; correct the file"),
        (["{words}", "{mirna}"], "line 2, column 'rna_2' is 'low', .*: correct it, or leave it"),
        (["{twice}", "{mirna}"], "columns of the model more than once: 'rna_2'"),
    ],
)
def test_files_that_are_not_those_of_the_model(cohort, tmp_path, refused, files, message):
    folder, tables, _ = cohort
    rna = tables["rna"]
    wrong = {
        "lacks": rna.iloc[:, 4:],
        "turned": rna.T,
        "upper": rna.rename(index=str.upper),
        "coded": rna.assign(rna_2=np.where(np.arange(150) < 3, -999, rna.rna_2)),
        "words": rna.assign(rna_2=["low", *rna.rna_2[1:]]),
        "twice": rna.rename(columns={"rna_3": "rna_2"}).assign(rna_3=1.0),
    }
    paths = {name: folder / f"{name}.csv" for name in tables}
    for name, table in wrong.items():
        paths[name] = tmp_path / f"{name}.csv"
        table.to_csv(paths[name])
    words = [file.format(**paths) for file in files]
    error = refused("predict", folder / "model.pkl", *words)
    # Nothing is advised that the command refuses.
    assert re.search(message, error) and not re.search("--columns|--join", error)


@pytest.mark.filterwarnings("default")
def test_views_from_one_table_and_arrays(cohort, tmp_path, capsys, refused):
    folder, tables, y = cohort
    table = tables["rna"].join(tables["mirna"])
    table.iloc[:100].to_csv(tmp_path / "all.csv")
    fit(tmp_path, "all.csv", "--columns", "rna_*", "--columns", "mirna_*", "--scale", "standard")
    table.iloc[100:, ::-1].assign(extra=1).to_csv(tmp_path / "new.csv")
    capsys.readouterr()
    labels = labelled(tmp_path, tmp_path / "new.csv")
    assert set(labels.index) == set(IDS[100:]) and labels.index.name == "who"
    fitted = pd.read_csv(tmp_path / "fitted.csv", index_col=0).cluster
    assert score(y, pd.concat([fitted, labels])) > 0.9
    err = capsys.readouterr().err
    assert err.count("ignored") == 1 and "ignored: 'extra'\n" in err and "warning" not in err
    np.save(tmp_path / "all.npy", table.iloc[:, :9])
    assert "all.npy has no names of columns" in refused(
        "predict", tmp_path / "model.pkl", tmp_path / "all.npy"
    )
    for part, rows in (("", slice(100)), ("new_", slice(100, None))):
        for name in tables:
            np.save(tmp_path / f"{part}{name}.npy", tables[name].to_numpy()[rows])
    fit(tmp_path, "rna.npy", "mirna.npy", "--scale", "standard")
    arrays = tmp_path / "new_rna.npy", tmp_path / "new_mirna.npy"
    found = labelled(tmp_path, *arrays)
    assert metrics.clustering_scores(y[100:], found.to_numpy())["acc"] > 0.9
    capsys.readouterr()
    assert labelled(folder, *arrays).equals(found)  # by a model of tables
    err = capsys.readouterr().err
    assert err.count("warning: ") == err.count("warning: no column names, unlike in fit") == 1


def test_other_files_are_refused(cohort, tmp_path, refused):
    folder, _, _ = cohort
    (tmp_path / "text.pkl").write_text("no model")
    (tmp_path / "list.pkl").write_bytes(pickle.dumps([1, 2]))
    (tmp_path / "dict.pkl").write_bytes(pickle.dumps({"model": 1}))
    with open(folder / "model.pkl", "rb") as stream:
        content = pickle.load(stream)
    (tmp_path / "other.pkl").write_bytes(pickle.dumps({**content, "model": 1}))
    for name in ("text", "list", "dict", "other"):
        message = refused("predict", tmp_path / f"{name}.pkl", "a.csv")
        assert f"{name}.pkl is not a model that mvsc-fast cluster" in message
    files = ["cluster", str(folder / "rna.csv"), "--clusters", "3", "--method", "snn"]
    assert "--save: snn cannot predict" in refused(*files, "--save", tmp_path / "m.pkl")


def test_neither_the_model_nor_a_file_is_written_over(cohort, tmp_path, refused):
    folder, _, _ = cohort
    paths = [tmp_path / name for name in ("model.pkl", "rna.csv", "mirna.csv")]
    for path in paths:
        path.write_bytes((folder / path.name).read_bytes())
    for path in paths[:2]:
        before = path.read_bytes()
        assert f"{path.name} " in refused("predict", *paths, "--labels", path)
        assert path.read_bytes() == before


def test_each_file_has_a_column_of_ids_of_its_own(cohort, tmp_path, refused):
    folder, tables, _ = cohort
    paths = [tmp_path / "rna.csv", tmp_path / "mirna.csv"]
    tables["rna"].iloc[:100].to_csv(paths[0])
    mirna = tables["mirna"].reset_index(names="plate")
    mirna[[*mirna.columns[1:], "plate"]].iloc[:100].to_csv(paths[1], index=False)
    for model in ("m.pkl", "m.mvsc"):
        fit(tmp_path, *paths, "--id-column", f"{paths[1]}:plate", model=model)
        alone = labelled(tmp_path, f"mirna={paths[1]}", model=model)
        assert alone.index.name == "plate" and alone.index.tolist() == IDS[:100].tolist()
    words = [tmp_path / "m.pkl", *paths, "--transpose", paths[0], "--columns", f"{paths[1]}:plate"]
    assert "the model knows the names" in refused("predict", *words)


def test_a_single_cluster_has_columns_of_certainty(cohort, tmp_path):
    folder, _, _ = cohort
    words = [folder / "rna.csv", "--clusters", 1, "--certainty", "--labels", tmp_path / "l.csv"]
    assert main(["cluster", *map(str, words)]) == 0
    table = pd.read_csv(tmp_path / "l.csv", index_col=0)
    assert table.columns.tolist() == ["cluster", "certainty", "second"]
    assert table.certainty.isna().all()


def test_certainty_and_comparison_with_other_labels(cohort, tmp_path, capsys):
    folder, _, _ = cohort
    files = ["cluster", str(folder / "rna.csv"), str(folder / "mirna.csv"), "--clusters", "3"]
    files += ["--scale", "standard"]
    first = tmp_path / "first.csv"
    assert main([*files, "--certainty", "--labels", str(first)]) == 0
    table = pd.read_csv(first, index_col=0)
    assert list(table.columns) == ["cluster", "certainty", "second"]
    assert (table.second != table.cluster).all() and table.certainty.between(-0.5, 1).all()
    shuffled = table.sample(frac=1, random_state=0).iloc[:80]
    shuffled.assign(cluster=shuffled.cluster.map({0: 7, 1: 8, 2: 9})).to_csv(tmp_path / "old.csv")
    capsys.readouterr()
    arguments = ["--scores", str(tmp_path / "old.csv"), "--labels", str(tmp_path / "again.csv")]
    assert main([*files, *arguments]) == 0
    _, scores, head, names, *rows = capsys.readouterr().out.splitlines()
    assert scores.split()[3] == "1.000" and "80 samples" in head
    assert names.split() == ["7", "8", "9"]
    counts = np.array([line.split()[1:] for line in rows], dtype=int)
    np.testing.assert_array_equal(counts, np.diag(np.bincount(shuffled.cluster)))


# ------------------------------------------------------------------ summaries of regular runs


def summarised(folder, *files, code=0, model="model.pkl"):
    """The table of labels, and the summary, that the command writes with an exit code."""
    labels, summary = folder / "labels.csv", folder / "new" / "summary.json"
    arguments = ["--certainty", "--labels", str(labels), "--summary", str(summary)]
    assert main(["predict", str(folder / model), *map(str, files), *arguments]) == code
    return pd.read_csv(labels, index_col=0), json.loads(summary.read_text("utf-8"))


@pytest.mark.filterwarnings("default")
def test_a_summary_counts_what_a_regular_run_keeps(cohort, tmp_path, capsys):
    folder, tables, _ = cohort
    paths = [tmp_path / "a.csv", tmp_path / "b.csv"]
    rna = tables["rna"].iloc[100:140].copy()
    rna.iloc[:2] = np.nan
    rna.to_csv(paths[0])
    tables["mirna"].iloc[120:].to_csv(paths[1])
    table, summary = summarised(folder, *paths)
    assert summary["samples"] == 50 and summary["complete"] == 20 and summary["alarm"] is None
    assert summary["without_label"] == 2 and summary["without_view"] == {"rna": 12, "mirna": 20}
    assert summary["versions"] == {"mvsc_fast": __version__, "model": __version__}
    assert np.flatnonzero(table.cluster < 0).tolist() == [0, 1]
    complete = table.loc[IDS[120:140]]
    for c, row in enumerate(summary["clusters"]):
        assert row["cluster"] == c and row["samples"] == (table.cluster == c).sum()
        assert row["complete"] == (complete.cluster == c).sum()
        assert row["unlike"] == complete.unlike[complete.cluster == c].sum()
    assert summary["unlike"] == complete.unlike.sum()
    err = capsys.readouterr().err
    told = f"{summary['unlike']} of 20 new samples with all views ({summary['unlike_share']:.1%})"
    assert told in err
    assert "50 samples by cluster: 2 without a label, " in err
    # A file for C programs has the numbers of a pickle.
    fit(folder, "rna.csv", "mirna.csv", "--scale", "standard", model="model.mvsc")
    assert "model.mvsc contains rows of the data" in capsys.readouterr().err
    same_table, same_summary = summarised(folder, *paths, model="model.mvsc")
    pd.testing.assert_frame_equal(same_table, table)
    assert same_summary == summary
    # A cluster without new samples has a row, and a view without a file is missing everywhere.
    some = table.index[table.cluster == 1].intersection(IDS[102:140])
    tables["rna"].loc[some].to_csv(paths[0])
    table, summary = summarised(folder, f"rna={paths[0]}")
    n = len(some)
    assert summary["without_view"] == {"rna": 0, "mirna": n} and summary["unlike_share"] is None
    assert len(summary["clusters"]) == 3 and summary["complete"] == summary["unlike"] == 0
    assert "no new sample has all views, so the share of unlike" in capsys.readouterr().err
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
    arguments = ["predict", str(folder / "model.pkl"), *map(str, files), "--summary"]
    assert "only in --labels and --report" in refused(*arguments, "-")
    same = str(tmp_path / "same.csv")
    assert "same.csv would be written twice" in refused(*arguments, same, "--labels", same)


def test_repeated_names_and_files_are_told(cohort, tmp_path, capsys, refused):
    folder, tables, _ = cohort
    table = tables["rna"].iloc[:60]
    table.columns = ["twice", "twice", *table.columns[2:]]
    table.to_csv(tmp_path / "a.csv")
    main(["cluster", str(tmp_path / "a.csv"), "--clusters", "3", "--save", str(tmp_path / "m.pkl")])
    assert "columns are called 'twice'" in capsys.readouterr().err
    assert len(labelled(tmp_path, tmp_path / "a.csv", model="m.pkl")) == 60
    assert "columns are called 'twice'" in capsys.readouterr().err
    path = folder / "rna.csv"
    assert "more than once" in refused("predict", folder / "model.pkl", path, path)


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


def test_groups_of_mixed_columns_are_encoded(tmp_path, monkeypatch, capsys, refused):
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
    assert main(["cluster", "all.csv", *options, "--save", "m.pkl", "--report", "-"]) == 0
    pipeline = make_pipeline(FrameEncoder(groups), ConsensusTLRR(3, random_state=0))
    found = pd.read_csv("l.csv", index_col="customer").cluster
    np.testing.assert_array_equal(found, pipeline.fit_predict(table))
    captured = capsys.readouterr()
    assert "city (category), review (text)" in captured.err
    # The report is in the units of the table.
    assert "city = Rome 100 %" in captured.out and re.search(r"age 30\.\d \(49\.\d", captured.out)
    assert main(["predict", "m.pkl", "new.csv", "--labels", "n.csv"]) == 0
    new = pd.read_csv("n.csv", index_col="customer").cluster
    np.testing.assert_array_equal(new, pipeline.predict(table.iloc[:30]))
    assert "ignored" not in capsys.readouterr().err
    # Categories of the fit remain such where half of the rows have numbers.
    codes = table.assign(city=np.array(["1", "low", "high"])[y])
    codes.to_csv("codes.csv")
    codes[y < 2].to_csv("new_codes.csv")
    assert main(["cluster", "codes.csv", *options, "--save", "codes.pkl"]) == 0
    assert main(["predict", "codes.pkl", "new_codes.csv", "--labels", "n.csv"]) == 0
    # What cannot be encoded stops.
    wrong = table.astype(object)
    wrong.iloc[3, 0] = "many"
    wrong.to_csv("wrong.csv")
    np.save("age.npy", table[["age"]])
    table.assign(age=np.resize(["1,520", "2,410"], 90)).to_csv("marks.csv")
    table.drop(columns="city").to_csv("less.csv")
    for arguments, message in (
        (["cluster", "all.csv", *options, "--save", "m.mvsc"], "m.mvsc"),
        (["cluster", "all.csv", *options, "--columns", "age"], "'age'"),
        (["cluster", "all.csv", *options, "--columns", "who=visits"], "'who'"),
        (["cluster", "wrong.csv", *options], "line 5, column 'visits' is 'many'"),
        (["predict", "m.pkl", "less.csv"], "less.csv .*'city'"),
        (["cluster", "marks.csv", *options], "line 2, column 'age' is '1,520', .*--decimal"),
        (["predict", "m.pkl", "who=new.csv"], "who=new.csv"),
        (["predict", "m.pkl", "new.csv", "all.csv", "less.csv"], "columns of one table"),
        (["predict", "m.pkl", "age.npy"], "age.npy has no names of columns"),
    ):
        assert re.search(message, refused(*arguments))
