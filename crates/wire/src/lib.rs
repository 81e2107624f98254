//! Checked views and representations of every header that Wayhop reads or writes.
