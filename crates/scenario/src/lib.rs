//! Scenario files: the TOML schema, importers, exporters and generators.
