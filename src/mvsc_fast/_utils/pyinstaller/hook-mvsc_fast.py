"""What an application needs: PyInstaller does not see the imports of compiled modules."""

from PyInstaller.utils.hooks import collect_data_files, collect_submodules

hiddenimports = collect_submodules("mvsc_fast") + [
    "scipy.linalg.cython_blas",
    "scipy.linalg.cython_lapack",
]
datas = collect_data_files("mvsc_fast", excludes=["**/*.pyx", "**/*.pxd", "**/*.c"])
