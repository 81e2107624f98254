//! Traffic sources and sinks.
