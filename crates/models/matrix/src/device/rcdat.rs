//! The words of Mini-Circuits' programmable attenuators (RCDAT family), which telnet and HTTP share.
//!
//! `:CHAN:1:SETATT:11.25` is answered by 1 if it is done, and by 0 or 2 if it is refused; `:CHAN:1:ATT?` by the attenuation in decibels, `MN?`
//! by `MN=` and the name of the model.

use std::fmt;

/// The longest command and answer, octets.
pub(super) const LONGEST: usize = 128;

/// The words of the family.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Rcdat;

/// A command.
#[derive(Copy, Clone, Debug, PartialEq)]
pub enum BoxCommand {
    /// Sets a channel.
    Set {
        /// From 1 on.
        channel: u16,
        /// To this attenuation, dB.
        db: f64,
    },
    /// Asks for a channel's attenuation.
    Get {
        /// From 1 on.
        channel: u16,
    },
    /// Asks which model it is.
    Model,
}

/// An answer.
#[derive(Clone, Debug, PartialEq)]
pub enum BoxAnswer {
    /// 1.
    Done,
    /// 0 or 2.
    Refused,
    /// Decibels.
    Attenuation(f64),
    /// The model's name.
    Model(String),
}

impl fmt::Display for BoxCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Set { channel, db } => write!(f, ":CHAN:{channel}:SETATT:{db}"),
            Self::Get { channel } => write!(f, ":CHAN:{channel}:ATT?"),
            Self::Model => f.write_str("MN?"),
        }
    }
}

impl fmt::Display for BoxAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Done => f.write_str("1"),
            Self::Refused => f.write_str("0"),
            Self::Attenuation(db) => write!(f, "{db}"),
            Self::Model(name) => write!(f, "MN={name}"),
        }
    }
}

impl Rcdat {
    /// Reads a command; capitals do not matter. `None` if it is none.
    pub fn command(text: &str) -> Option<BoxCommand> {
        let text = text.trim().to_ascii_uppercase();
        if text == "MN?" || text == ":MN?" {
            return Some(BoxCommand::Model);
        }
        let (channel, order) = text.strip_prefix(":CHAN:")?.split_once(':')?;
        let channel = number(channel)?;
        if order == "ATT?" {
            return Some(BoxCommand::Get { channel });
        }
        Some(BoxCommand::Set { channel, db: decibels(order.strip_prefix("SETATT:")?)? })
    }

    /// Reads the answer to a command. `None` if it is none.
    pub fn answer(to: BoxCommand, text: &str) -> Option<BoxAnswer> {
        let text = text.trim();
        match (to, text) {
            (BoxCommand::Model, _) => Some(BoxAnswer::Model(text.strip_prefix("MN=")?.to_owned())),
            (BoxCommand::Set { .. }, "1") => Some(BoxAnswer::Done),
            (_, "0" | "2") if matches!(to, BoxCommand::Set { .. }) => Some(BoxAnswer::Refused),
            (BoxCommand::Set { .. }, _) => None,
            (BoxCommand::Get { .. }, _) => decibels(text).map(BoxAnswer::Attenuation),
        }
    }
}

fn number(text: &str) -> Option<u16> {
    text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

fn decibels(text: &str) -> Option<f64> {
    let plain = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    plain.then(|| text.parse().ok()).flatten().filter(|db: &f64| db.is_finite())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn commands_and_answers_are_read_as_they_were_written(channel: u16, quarters in 0..2_000_u32) {
            let db = f64::from(quarters) / 4.0;
            for asked in [BoxCommand::Set { channel, db }, BoxCommand::Get { channel }, BoxCommand::Model] {
                prop_assert_eq!(Rcdat::command(&asked.to_string()), Some(asked));
            }
            let get = BoxCommand::Get { channel };
            prop_assert_eq!(Rcdat::answer(get, &BoxAnswer::Attenuation(db).to_string()), Some(BoxAnswer::Attenuation(db)));
        }

        #[test]
        fn any_text_is_read_or_refused(text: String) {
            if let Some(asked) = Rcdat::command(&text) {
                prop_assert_eq!(Rcdat::command(&asked.to_string()), Some(asked));
            }
            for to in [BoxCommand::Model, BoxCommand::Get { channel: 1 }, BoxCommand::Set { channel: 1, db: 0.0 }] {
                let _ = Rcdat::answer(to, &text);
            }
        }
    }

    #[test]
    fn the_manufacturers_words_are_understood() {
        assert_eq!(
            Rcdat::command(":CHAN:1:SETATT:11.25\r\n"),
            Some(BoxCommand::Set { channel: 1, db: 11.25 })
        );
        let set = BoxCommand::Set { channel: 1, db: 11.25 };
        for (text, answer) in [
            ("1", Some(BoxAnswer::Done)),
            ("0", Some(BoxAnswer::Refused)),
            ("2", Some(BoxAnswer::Refused)),
            ("3", None),
            ("", None),
        ] {
            assert_eq!(Rcdat::answer(set, text), answer, "{text:?}");
        }
        assert_eq!(
            Rcdat::answer(BoxCommand::Get { channel: 1 }, "\r\n11.25\r\n"),
            Some(BoxAnswer::Attenuation(11.25))
        );
        for wrong in [
            "",
            ":CHAN:",
            ":CHAN:x:ATT?",
            ":CHAN:+1:ATT?",
            ":CHAN:1:SETATT:-1",
            ":CHAN:1:SETATT:1e3",
            ":CHAN:1:SETATT:nan",
            ":CHAN:70000:ATT?",
        ] {
            assert_eq!(Rcdat::command(wrong), None, "{wrong:?}");
        }
    }
}
