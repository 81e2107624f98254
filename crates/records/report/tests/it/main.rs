//! Pages and figures, as readers have them.

mod file;
mod page;
