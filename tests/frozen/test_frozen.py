"""What commands print, write and exit with is what was recorded; `frozen.py --write` records a wanted change."""

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.slow
def test_every_invocation_does_what_was_recorded():
    done = subprocess.run([sys.executable, Path(__file__).with_name("frozen.py")], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
