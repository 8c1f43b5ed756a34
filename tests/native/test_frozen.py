"""An application that PyInstaller makes, with the hook of the package."""

import subprocess
import sys

import pytest
from conftest import FULL

from mvsc_fast._pyinstaller import hook_folders

APPLICATION = """
import sys
from mvsc_fast import ConsensusTLRR, datasets
from mvsc_fast.cli import main
views, y = datasets.make_multiview_subspaces(60, 3, random_state=0)
ConsensusTLRR(3, random_state=0).fit(views).to_native("model.mvsc")
sys.exit(main(["predict", "--help"]))
"""


@pytest.mark.skipif(not FULL, reason="takes minutes: MVSC_STRESS=full")
def test_a_frozen_application_fits(tmp_path):
    pytest.importorskip("PyInstaller")
    (tmp_path / "application.py").write_text(APPLICATION)
    command = [sys.executable, "-m", "PyInstaller", "--log-level", "ERROR", "application.py"]
    for folder in hook_folders():
        command += ["--additional-hooks-dir", folder]
    subprocess.run(command, cwd=tmp_path, check=True)
    program = tmp_path / "dist" / "application" / "application"
    done = subprocess.run([program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "usage: mvsc-fast predict" in done.stdout
    assert (tmp_path / "model.mvsc").stat().st_size > 0
