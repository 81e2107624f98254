//! Protocols on scripted links, and oracles for tests.
