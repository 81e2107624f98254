//! Motion, tracks and geodesy.
