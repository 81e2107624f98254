//! Run directories, captures, tables and summaries.
