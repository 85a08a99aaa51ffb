"""The JSON schema of ``claims.toml``, for editors: ``docs/schemas/claims.schema.json`` is written from the models."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from dpassay.reference.files import write_text

from .model import ClaimsFile

PATH = Path("docs/schemas/claims.schema.json")


def schema() -> dict[str, Any]:
    """JSON Schema, draft 2020-12."""
    found = ClaimsFile.model_json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **found}


def schema_text() -> str:
    """The committed file."""
    return json.dumps(schema(), indent=1, sort_keys=True) + "\n"


if __name__ == "__main__":  # python -m dpassay.audit.claims.schema [PATH]
    write_text(Path(sys.argv[1]) if len(sys.argv) > 1 else PATH, schema_text(), "schema")
