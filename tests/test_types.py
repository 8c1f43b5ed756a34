"""Types: everything public is annotated; `make lint` checks a program of a user by mypy."""

import importlib
import inspect
from pathlib import Path

import pytest
import typed_program
from docsections import entries, sections
from test_public import PUBLIC

import mvsc_fast

OBJECTS = {
    f"{module}.{name}": getattr(importlib.import_module(module), name)
    for module, names in PUBLIC.items()
    for name in names
}
CLASSES = {name: obj for name, obj in OBJECTS.items() if inspect.isclass(obj)}


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
