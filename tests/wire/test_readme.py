"""What the README shows runs as it stands."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

README = (Path(__file__).parents[2] / "README.md").read_text()


def test_the_episode_in_the_readme_plays(server) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", README, re.S)
    assert 'base_url="http://localhost:8000"' in code
    run = subprocess.run(
        [sys.executable, "-c", code.replace("http://localhost:8000", server.url)], capture_output=True, text=True, timeout=120
    )
    assert run.returncode == 0, run.stderr
    assert "FROM events" in run.stdout
    assert "checkout" in run.stdout
    assert re.search(r"^0\.\d+ ", run.stdout, re.M)
