//! Layouts of structures in Rust and in C: the C compiler is the oracle.

use std::fmt::Write as _;
use std::process::Command;

/// Sizes of structures and offsets of fields, as Rust has them, with a program in C that prints its own.
#[derive(Default)]
pub(super) struct Layouts {
    expected: Vec<usize>,
    prints: String,
}

impl Layouts {
    /// The size of a structure.
    pub(super) fn size(&mut self, structure: &str, bytes: usize) {
        self.expected.push(bytes);
        let _ = writeln!(self.prints, "printf(\"%zu\\n\", sizeof({structure}));");
    }
    /// Where a field of it begins.
    pub(super) fn field(&mut self, structure: &str, field: &str, at: usize) {
        self.expected.push(at);
        let _ = writeln!(self.prints, "printf(\"%zu\\n\", offsetof({structure}, {field}));");
    }

    /// Compiles the program, and compares.
    pub(super) fn compare(&self) {
        let folder = tempfile::tempdir().unwrap();
        let (file, program) = (folder.path().join("layout.c"), folder.path().join("layout"));
        let prints = &self.prints;
        let source =
            format!("#include <stdio.h>\n#include \"wayhop.h\"\nint main(void) {{\n{prints}return 0; }}\n");
        std::fs::write(&file, source).unwrap();
        let include = concat!(env!("CARGO_MANIFEST_DIR"), "/include");
        let compiled = Command::new("cc")
            .args(["-std=c99", "-pedantic-errors", "-Wall", "-Werror", "-I", include])
            .arg(&file)
            .arg("-o")
            .arg(&program)
            .status()
            .unwrap();
        assert!(compiled.success());
        let printed = Command::new(&program).output().unwrap();
        let printed: Vec<usize> =
            String::from_utf8(printed.stdout).unwrap().lines().map(|l| l.parse().unwrap()).collect();
        assert_eq!(printed, self.expected);
    }
}

/// Adds structures with their fields, of the same names in both languages.
macro_rules! same {
    ($layouts:ident: $($raw:ident = $c:literal { $($field:ident),* };)*) => {$(
        $layouts.size($c, size_of::<$raw>());
        $($layouts.field($c, stringify!($field), core::mem::offset_of!($raw, $field));)*
    )*};
}
pub(super) use same;
