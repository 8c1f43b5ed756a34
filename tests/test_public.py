"""The public surface: adding to it is free, taking from it or renaming is a decision."""

import ast
import importlib
import inspect
import pkgutil
import re
from pathlib import Path

import pytest
import typed_program

import mvsc_fast
from mvsc_fast import datasets, methods

PUBLIC = {
    "mvsc_fast": (
        "ConsensusTLRR SavedPredictor TLRR annotate consensus_labels datasets explain get_include "
        "label_predictability methods metrics preprocessing show_config similarity solvers "
        "spectral structure_test suggest_n_clusters views"
    ),
    "mvsc_fast.cli": "main",
    "mvsc_fast.datasets": "load_handwritten load_mat make_multiview_subspaces",
    "mvsc_fast.explanation": (
        "Explanation Table markers plot_embedding plot_markers plot_similarity stability"
    ),
    "mvsc_fast.judge": "ClusterCounts StructureTest",
    "mvsc_fast.methods": (
        "AWP ConsensusTLRR DiMSC ESTIMATORS ETLMSC LMSC LTMSC MCLES SCMV3DT SNN TLRR TRPCA TSVDMSC "
        "UtSVDMSC"
    ),
    "mvsc_fast.metrics": "Comparison clustering_scores compare",
    "mvsc_fast.preprocessing": "ViewSplitter",
    "mvsc_fast.similarity": "nearest_neighbors rbf self_representation",
    "mvsc_fast.solvers": "IterationState TLRRResult tlrr",
    "mvsc_fast.spectral": "fuse spectral_embedding spectral_labels",
    "mvsc_fast.views": "align check_views from_anndata missing",
}
OBJECTS = {
    f"{module}.{name}": getattr(importlib.import_module(module), name)
    for module, names in PUBLIC.items()
    for name in names.split()
}
CLASSES = {name: obj for name, obj in OBJECTS.items() if inspect.isclass(obj)}


def test_every_module_is_on_the_list_or_has_an_underscore():
    found = pkgutil.walk_packages(mvsc_fast.__path__, "mvsc_fast.")
    # The public side of the core is its header and the table of the C interface.
    names = [m.name for m in found if "._" not in m.name and ".core" not in m.name]
    assert {"mvsc_fast", *names} == set(PUBLIC)


@pytest.mark.parametrize("name", PUBLIC)
def test_public_names(name):
    module = importlib.import_module(name)
    assert sorted(module.__all__) == sorted(PUBLIC[name].split())
    for public in module.__all__:
        assert getattr(module, public).__doc__, public  # its own: classes do not inherit it


def sections(docstring):
    """Text of each section of a numpydoc docstring by its title."""
    parts = re.split(r"^([A-Z][\w ]*)\n-+\n", inspect.cleandoc(docstring), flags=re.M)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def entries(text):
    """Entry of each name of a section such as Parameters."""
    by_name = {}
    for entry in re.split(r"\n(?=\S)", text.strip()):
        names = entry.split("\n")[0].split(" : ")[0]
        by_name |= {name: entry for name in names.split(", ") if name}
    return by_name


@pytest.mark.parametrize("estimator", methods.ESTIMATORS.values())
def test_every_parameter_and_attribute_is_documented(estimator):
    views, _ = datasets.make_multiview_subspaces(30, 3, random_state=0)
    model = estimator(3, scale="standard").fit(views)
    learned = {name for name in vars(model) if name.endswith("_")}
    described = sections(estimator.__doc__)
    assert learned == set(entries(described["Attributes"])) - {"feature_names_in_"}  # of frames
    assert set(model.get_params(deep=False)) == set(entries(described["Parameters"]))


def test_defaults_are_those_of_the_docstrings():
    documented = 0
    for name, value in OBJECTS.items():
        text = sections(inspect.getdoc(value) or "").get("Parameters", "")
        if callable(value) and text:
            parameters = inspect.signature(value).parameters
            for parameter, entry in entries(text).items():
                if default := re.search(r", default=(.*)", entry.split("\n")[0]):
                    documented += 1
                    expected = ast.literal_eval(default[1])
                    assert parameters[parameter].default == expected, (name, parameter)
    assert documented > 130


# Everything public is annotated; `make lint` checks a program of a user by mypy.


def own_bases(cls):
    return [base for base in cls.__mro__ if base.__module__.startswith("mvsc_fast.")]


def public_functions():
    """Name and function of everything public that can be called."""
    yield from ((name, obj) for name, obj in OBJECTS.items() if inspect.isfunction(obj))
    for name, cls in CLASSES.items():
        members = {key: obj for base in reversed(own_bases(cls)) for key, obj in vars(base).items()}
        for key, obj in members.items():
            obj = obj.fget if isinstance(obj, property) else obj
            if inspect.isfunction(obj) and (key == "__init__" or not key.startswith("_")):
                yield f"{name}.{key}", obj


FUNCTIONS = dict(public_functions())


@pytest.mark.parametrize("name", FUNCTIONS)
def test_parameters_and_results_are_annotated(name):
    signature = inspect.signature(FUNCTIONS[name])
    unknown = [
        key
        for key, parameter in signature.parameters.items()
        if key != "self" and parameter.annotation is parameter.empty
    ]
    assert unknown == []
    assert signature.return_annotation is not signature.empty or name.endswith("__init__")


@pytest.mark.parametrize("name", CLASSES)
def test_attributes_are_annotated(name):
    cls = CLASSES[name]
    known = {key for base in own_bases(cls) for key in inspect.get_annotations(base)}
    documented = entries(sections(cls.__doc__).get("Attributes", ""))
    wanted = {key.split("\n")[0] for key in documented}  # of those that refer to another class
    assert wanted - known == set()


def test_the_package_declares_its_types():
    assert (Path(mvsc_fast.__file__).parent / "py.typed").is_file()


@pytest.mark.slow
def test_the_typed_program_runs(tmp_path):
    scores = typed_program.main(tmp_path)
    assert scores["acc"] > 0.9 and (tmp_path / "report.html").is_file()
