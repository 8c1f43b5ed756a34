"""Hook of PyInstaller, which finds it by the entry point ``pyinstaller40`` of pyproject.toml."""

from pathlib import Path


def hook_folders():
    """The folders in which PyInstaller looks for hooks."""
    return [str(Path(__file__).parent)]
