"""Claims in a folder of their own."""

import pytest


@pytest.fixture
def project(tmp_path, monkeypatch):
    """Writes claims.toml into the empty folder, whose modules can be imported; returns the folder."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def write(*claims, head="version = 1\n"):
        (tmp_path / "claims.toml").write_text(head + "".join(claims))
        return tmp_path

    return write
