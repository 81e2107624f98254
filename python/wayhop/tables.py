"""The tables of a run directory, for polars, pandas, pyarrow or DuckDB."""

from __future__ import annotations

import atexit
import json
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from . import _command
from .errors import missing

if TYPE_CHECKING:
    import duckdb
    import pandas
    import polars
    import pyarrow


class Tables(Mapping[str, "polars.LazyFrame"]):
    """Tables by name, such as ``tables["packets"]``: polars LazyFrames, which read only what a query needs.

    ``pandas``, ``arrow`` and ``duckdb`` give the same tables to these libraries. Columns:
    docs/reference/run-directory.md. Times are integer nanoseconds since the start of the run.

    A run that was killed, or is still running, has its tables up to a few seconds before; a line on
    standard error says up to when. They are copied to temporary files when they are first used.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._copies: Path | None = None

    def __getitem__(self, name: str) -> polars.LazyFrame:
        import polars

        return polars.scan_parquet(self.file(name))

    def __iter__(self) -> Iterator[str]:
        names = {path.stem for path in self._directory.glob("*.parquet")}
        if names and self._is_incomplete():
            # Written when the run ends.
            names.add("flows")
        return iter(sorted(names))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __repr__(self) -> str:
        return f"Tables({', '.join(self)})"

    def file(self, name: str) -> Path:
        """The table's Parquet file; of a run that did not end, a temporary one."""
        path = self._directory / f"{name}.parquet"
        if name not in list(self):
            # A KeyError, as of any mapping, which `in` and `get` understand.
            raise KeyError(f"{self._directory} has no table {name}{self._why_missing(name)}")
        return self._copy(name) if self._is_incomplete() else path

    def _why_missing(self, name: str) -> str:
        manifest = self._directory / "manifest.json"
        record = json.loads(manifest.read_text(encoding="utf-8")).get("record") or {}
        if name in record.get("tables", ()):
            remedy = "run it again with its name in the list output.tables, or without that key"
            return f", because output.tables leaves it out; {remedy}"
        return f"; it has {', '.join(self) or 'none'}"

    def _is_incomplete(self) -> bool:
        return (self._directory / "tables.checkpoint").exists()

    def _copy(self, name: str) -> Path:
        """A table of a run that did not end, as a whole file."""
        if self._copies is None:
            # A LazyFrame may outlive this object.
            self._copies = Path(tempfile.mkdtemp(prefix="wayhop-"))
            atexit.register(shutil.rmtree, self._copies, ignore_errors=True)
        copy = self._copies / f"{name}.parquet"
        if not copy.exists():
            _command.call(["export", "parquet", str(self._directory), name, "--out", str(copy)])
        return copy

    def pandas(self, name: str) -> pandas.DataFrame:
        """The table as a pandas DataFrame (extra ``wayhop[pandas]``)."""
        try:
            import pandas
            import pyarrow  # noqa: F401
        except ImportError:
            raise missing("pandas or pyarrow", "pandas") from None
        return pandas.read_parquet(self.file(name))

    def arrow(self, name: str) -> pyarrow.Table:
        """The table as a pyarrow Table (extra ``wayhop[arrow]``)."""
        try:
            from pyarrow import parquet
        except ImportError:
            raise missing("pyarrow", "arrow") from None
        return parquet.read_table(self.file(name))

    def duckdb(self, name: str) -> duckdb.DuckDBPyRelation:
        """The table as a DuckDB relation, which reads only what a query needs (extra ``wayhop[duckdb]``)."""
        try:
            import duckdb
        except ImportError:
            raise missing("duckdb", "duckdb") from None
        return duckdb.read_parquet(str(self.file(name)))
