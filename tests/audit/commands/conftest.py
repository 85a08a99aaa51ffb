"""Claims in a folder of their own."""

import pytest


@pytest.fixture
def project(tmp_path):
    """Writes claims.toml into the empty folder; returns the folder."""

    def write(*claims, head="version = 1\n"):
        (tmp_path / "claims.toml").write_text(head + "".join(claims))
        return tmp_path

    return write
