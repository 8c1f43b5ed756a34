import sys
from pathlib import Path

sys.path[:0] = map(str, Path(__file__).resolve().parents[1:3])
