//! What a library says about its application, unchecked and checked.

use crate::claims::ParameterClaim;
use crate::facts::{is_name, names, one_line, wrong};
use crate::names as kept;
use crate::parameter::{self, Parameter};

/// A description as a library gave it. Everything in it comes from a stranger: [`ApplicationFacts::check`] reads it.
#[derive(Clone, Debug, Default)]
pub struct ApplicationClaims {
    /// `name`.
    pub name: String,
    /// `about`.
    pub about: String,
    /// `version`; empty if there is none.
    pub version: String,
    /// `parameters`.
    pub parameters: Vec<ParameterClaim>,
    /// `notes`.
    pub notes: Vec<String>,
}

/// What a library provides as an application.
#[derive(Clone, Debug, PartialEq)]
pub struct ApplicationFacts {
    pub(crate) name: String,
    pub(crate) about: String,
    pub(crate) version: String,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) notes: Vec<String>,
}

impl ApplicationFacts {
    /// Checks what a library says. The error names the field of `wayhop_application_library`, and what is wrong with it.
    pub fn check(claims: &ApplicationClaims) -> Result<Self, String> {
        if !is_name(&claims.name, "-") {
            return Err(wrong("name", format!("{:?}", claims.name), "a-z, 0-9 and -, from a letter on"));
        }
        one_line("about", &claims.about)?;
        one_line("version", &claims.version)?;
        Ok(Self {
            name: claims.name.clone(),
            about: claims.about.clone(),
            version: claims.version.clone(),
            parameters: parameter::check(&claims.parameters)?,
            notes: names("notes", &claims.notes)?,
        })
    }

    /// The names of its remarks, kept until the process ends.
    pub(crate) fn kept_notes(&self) -> &'static [&'static str] {
        let notes: Vec<&'static str> = self.notes.iter().map(|note| kept::name(note)).collect();
        notes.leak()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request() -> ApplicationClaims {
        ApplicationClaims {
            name: "request-c".into(),
            parameters: vec![ParameterClaim { key: "server".into(), kind: 4, ..ParameterClaim::default() }],
            notes: vec!["answered".into()],
            ..ApplicationClaims::default()
        }
    }

    #[test]
    fn what_contradicts_the_header_is_refused_with_its_field() {
        type Change = fn(&mut ApplicationClaims);
        assert!(ApplicationFacts::check(&request()).is_ok());
        let cases: [(Change, &str); 6] = [
            (|c| c.name = "a b".into(), "name is \"a b\""),
            (|c| c.about = "two\nlines".into(), "about is too long or not printable"),
            (|c| c.notes = vec!["a".into(); 17], "notes is a list of 17; give 16 at most"),
            (|c| c.notes = vec!["A".into()], "notes is a list with \"A\""),
            (|c| c.parameters[0].preset = "here".into(), "the default \"here\" is not an IP address"),
            (|c| c.parameters[0].key = "nodes".into(), "the name of a key of every section"),
        ];
        for (change, expected) in cases {
            let mut claims = request();
            change(&mut claims);
            let why = ApplicationFacts::check(&claims).unwrap_err();
            assert!(why.contains(expected), "{why}");
        }
    }
}
