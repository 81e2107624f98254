"""The tables of a run directory, for polars, pandas, pyarrow or DuckDB."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from .errors import missing, refuse

if TYPE_CHECKING:
    import duckdb
    import pandas
    import polars
    import pyarrow


class Tables(Mapping[str, "polars.LazyFrame"]):
    """Tables by name, such as ``tables["packets"]``: polars LazyFrames, which read only what a query needs.

    ``pandas``, ``arrow`` and ``duckdb`` give the same tables to these libraries. Columns:
    docs/reference/run-directory.md. Times are integer nanoseconds since the start of the run.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def __getitem__(self, name: str) -> polars.LazyFrame:
        import polars

        return polars.scan_parquet(self.file(name))

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(path.stem for path in self._directory.glob("*.parquet")))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __repr__(self) -> str:
        return f"Tables({', '.join(self)})"

    def file(self, name: str) -> Path:
        """The table's Parquet file."""
        path = self._directory / f"{name}.parquet"
        if name not in list(self):
            # A KeyError, as of any mapping, which `in` and `get` understand.
            raise KeyError(f"{self._directory} has no table {name}; it has {', '.join(self) or 'none'}")
        if (self._directory / "tables.checkpoint").exists():
            raise refuse(
                f"{path}: the run was killed or is still running, and the table has no end yet",
                f"once it has stopped: wayhop recover {self._directory}",
                file=str(path),
            )
        return path

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
