"""Documentation of mvsc_fast: `make docs`. Nothing is fetched from the network."""

import os
import pkgutil
import re

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml

import mvsc_fast

os.environ.setdefault("OMP_NUM_THREADS", "1")  # so that timings of examples say little, but alike

project = "mvsc_fast"
copyright = "2026, the mvsc_fast developers"
version = release = mvsc_fast.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "_templates", "gallery/**.py.md5", "gallery/**.ipynb"]
templates_path = ["_templates"]
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
default_role = "py:obj"
nitpicky = True
# Docstrings put names of parameters, attributes and methods of other classes in single backquotes.
nitpick_ignore_regex = [("py:.*", r"(?!mvsc_fast\.(?!h$)).*")]

INTERNAL = ("core", "cli")
autosummary_generate = True
autosummary_ignore_module_all = False
autosummary_context = {
    "public_modules": [
        module.name.removeprefix("mvsc_fast.")
        for module in pkgutil.walk_packages(mvsc_fast.__path__, "mvsc_fast.")
        if "._" not in module.name and module.name.split(".")[1] not in INTERNAL
    ]
}
autodoc_member_order = "bysource"
toc_object_entries_show_parents = "hide"
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_validation_checks = set()

sphinx_gallery_conf = {
    "examples_dirs": "../examples/gallery",
    "gallery_dirs": "gallery",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_signature": False,
    "capture_repr": (),
    "within_subsection_order": "FileNameSortKey",
    "write_computation_times": False,
    "reset_modules_order": "both",
    "reset_modules": ("matplotlib",),
}

html_theme = "pydata_sphinx_theme"
html_title = "mvsc_fast"
html_static_path = ["_static"]
html_favicon = "_static/icon.svg"
html_css_files = ["layout.css"]
html_math_renderer = "mathml"
html_show_sourcelink = False
html_theme_options = {
    "navbar_end": ["theme-switcher"],
    "secondary_sidebar_items": {"**": ["page-toc"], "measured": []},  # wide tables
    "footer_start": ["copyright"],
    "footer_end": ["theme-version"],
    "show_prev_next": True,
    "show_toc_level": 2,
    "navbar_center": [],  # all pages are in the sidebar
}


def mathml(text, **options):
    """Formulas, with the index of an accented letter beside it: docutils sets it below."""
    return re.sub(
        r"<munderover>\s*(<mi>\w</mi>)(.*?)(<mo stretchy=\"false\">ˆ</mo>)\s*</munderover>",
        r'<msub><mover accent="true">\1\3</mover>\2</msub>',
        tex2mathml(text, **options),
        flags=re.S,
    )


def inline_math(self, node):
    self.body.append(mathml(node.astext()))
    raise nodes.SkipNode


def display_math(self, node):
    self.body.append(f'<div class="math">{mathml(node.astext(), as_block=True)}</div>')
    raise nodes.SkipNode


def setup(app):
    """Formulas as MathML, which browsers draw by themselves."""
    app.add_html_math_renderer("mathml", (inline_math, None), (display_math, None))
