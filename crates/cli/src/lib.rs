//! The wayhop command.
