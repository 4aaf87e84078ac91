"""Where the repository is: the working directory of everything we start."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
