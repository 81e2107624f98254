//! The effects of a handler, as an interpreter writes them.

use core::net::SocketAddr;

use wayhop_core::{Addr, StreamId};

use crate::python::cursor::{Cursor, each};

/// What a handler of an application wants, unchecked.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum ApplicationWish<'a> {
    /// Listen at a UDP port.
    Listen(u16),
    /// Send a datagram.
    Send {
        /// From this UDP port.
        port: u16,
        /// To there.
        to: SocketAddr,
        /// Time to live, hops.
        ttl: u8,
        /// Type of Service, or traffic class.
        tos: u8,
        /// Its data.
        data: &'a [u8],
    },
    /// Take streams to a TCP port.
    ListenStream(u16),
    /// Open a stream with this number.
    Connect(u64, SocketAddr),
    /// Set a timer: key, time in nanoseconds.
    SetTimer(u64, u64),
    /// Forget a timer.
    ClearTimer(u64),
    /// Send bytes by a stream.
    Write(StreamId, &'a [u8]),
    /// Close a stream.
    Close(StreamId),
    /// A remark: its name, whom it is about, a number.
    Note(&'a str, Addr, u64),
    /// Answer a program: its number, JSON, bytes.
    Answer(u64, &'a str, &'a [u8]),
    /// Tell a program something.
    Tell(u64, &'a str, &'a [u8]),
}

/// The effects in an answer of an application, in order. After an error, which describes it, there are none.
pub fn application_wishes(answer: &[u8]) -> impl Iterator<Item = Result<ApplicationWish<'_>, String>> {
    each(answer, wish)
}

fn wish<'a>(c: &mut Cursor<'a>, kind: u8) -> Option<ApplicationWish<'a>> {
    Some(match kind {
        1 => ApplicationWish::Listen(c.u16()?),
        2 => ApplicationWish::Send {
            port: c.u16()?,
            to: endpoint(c)?,
            ttl: c.u8()?,
            tos: c.u8()?,
            data: sized(c)?,
        },
        3 => ApplicationWish::ListenStream(c.u16()?),
        4 => ApplicationWish::Connect(c.u64()?, endpoint(c)?),
        5 => ApplicationWish::SetTimer(c.u64()?, c.u64()?),
        6 => ApplicationWish::ClearTimer(c.u64()?),
        7 => ApplicationWish::Write(stream(c)?, sized(c)?),
        8 => ApplicationWish::Close(stream(c)?),
        9 => {
            let length = c.u16()?;
            let (about, value) = (addr(c)?, c.u64()?);
            ApplicationWish::Note(c.text(length.into())?, about, value)
        }
        10 | 11 => {
            let (program, head, length) = (c.u64()?, c.u32()?, c.u32()?);
            let (head, data) = (c.text(head as usize)?, c.bytes(length as usize)?);
            let make = if kind == 10 { ApplicationWish::Answer } else { ApplicationWish::Tell };
            make(program, head, data)
        }
        _ => return None,
    })
}

/// Bytes behind their count.
fn sized<'a>(c: &mut Cursor<'a>) -> Option<&'a [u8]> {
    let length = c.u32()?;
    c.bytes(length as usize)
}

fn addr(c: &mut Cursor<'_>) -> Option<Addr> {
    c.array().map(|octets| Addr::from_bits(u128::from_be_bytes(octets)))
}

fn endpoint(c: &mut Cursor<'_>) -> Option<SocketAddr> {
    Some(SocketAddr::new(addr(c)?.ip(), c.u16()?))
}

fn stream(c: &mut Cursor<'_>) -> Option<StreamId> {
    let (is_accepted, number) = (c.u8()? != 0, c.u64()?);
    Some(if is_accepted { StreamId::Accepted(number) } else { StreamId::Opened(number) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// As `struct` of Python packs them.
    fn write(out: &mut Vec<u8>, wish: &ApplicationWish<'_>) {
        let mut put = |parts: &[&[u8]]| parts.iter().for_each(|part| out.extend_from_slice(part));
        let addr = |a: Addr| a.to_bits().to_be_bytes();
        let end = |to: &SocketAddr| [&addr(to.ip().into())[..], &to.port().to_le_bytes()].concat();
        let size = |data: &[u8]| (data.len() as u32).to_le_bytes();
        let id = |stream: &StreamId| match stream {
            StreamId::Opened(n) => [&[0][..], &n.to_le_bytes()].concat(),
            StreamId::Accepted(n) => [&[1][..], &n.to_le_bytes()].concat(),
        };
        match wish {
            ApplicationWish::Listen(port) => put(&[&[1], &port.to_le_bytes()]),
            ApplicationWish::Send { port, to, ttl, tos, data } => {
                put(&[&[2], &port.to_le_bytes(), &end(to), &[*ttl, *tos], &size(data), data]);
            }
            ApplicationWish::ListenStream(port) => put(&[&[3], &port.to_le_bytes()]),
            ApplicationWish::Connect(number, to) => put(&[&[4], &number.to_le_bytes(), &end(to)]),
            ApplicationWish::SetTimer(key, at) => put(&[&[5], &key.to_le_bytes(), &at.to_le_bytes()]),
            ApplicationWish::ClearTimer(key) => put(&[&[6], &key.to_le_bytes()]),
            ApplicationWish::Write(stream, data) => put(&[&[7], &id(stream), &size(data), data]),
            ApplicationWish::Close(stream) => put(&[&[8], &id(stream)]),
            ApplicationWish::Note(name, about, value) => {
                let length = (name.len() as u16).to_le_bytes();
                put(&[&[9], &length, &addr(*about), &value.to_le_bytes(), name.as_bytes()]);
            }
            ApplicationWish::Answer(program, head, data) | ApplicationWish::Tell(program, head, data) => {
                let kind = if matches!(wish, ApplicationWish::Answer(..)) { 10 } else { 11 };
                let sizes = [size(head.as_bytes()), size(data)].concat();
                put(&[&[kind], &program.to_le_bytes(), &sizes, head.as_bytes(), data]);
            }
        }
    }

    fn wishes<'a>(
        numbers: &[u64; 3],
        bits: u128,
        text: &'a str,
        data: &'a [u8],
    ) -> [ApplicationWish<'a>; 11] {
        let [a, b, c] = *numbers;
        let (port, about) = (a as u16, Addr::from_bits(bits));
        let to = SocketAddr::new(about.ip(), b as u16);
        let stream = if c % 2 == 0 { StreamId::Opened(a) } else { StreamId::Accepted(a) };
        [
            ApplicationWish::Listen(port),
            ApplicationWish::Send { port, to, ttl: b as u8, tos: c as u8, data },
            ApplicationWish::ListenStream(port),
            ApplicationWish::Connect(a, to),
            ApplicationWish::SetTimer(a, b),
            ApplicationWish::ClearTimer(c),
            ApplicationWish::Write(stream, data),
            ApplicationWish::Close(stream),
            ApplicationWish::Note(text, about, b),
            ApplicationWish::Answer(c, text, data),
            ApplicationWish::Tell(c, text, data),
        ]
    }

    proptest! {
        /// Whatever comes: no panic, and an error is the last thing.
        #[test]
        fn any_bytes_are_read(bytes in proptest::collection::vec(0_u8..13, 0..200)) {
            let all: Vec<_> = application_wishes(&bytes).collect();
            let errors = all.iter().filter(|w| w.is_err()).count();
            prop_assert!(errors == 0 || errors == 1 && all.last().is_some_and(Result::is_err));
        }

        #[test]
        fn what_was_written_is_read(
            numbers: [u64; 3],
            v4: bool,
            bits: u128,
            text in "\\PC{0,20}",
            data in proptest::collection::vec(any::<u8>(), 0..40),
            cut in any::<prop::sample::Index>(),
        ) {
            let bits = if v4 { bits & 0xffff_ffff | 0xffff_0000_0000 } else { bits };
            let written = wishes(&numbers, bits, &text, &data);
            let mut bytes = Vec::new();
            for wish in &written {
                write(&mut bytes, wish);
            }
            let read: Vec<_> = application_wishes(&bytes).collect::<Result<_, _>>().unwrap();
            prop_assert_eq!(&read, &written);
            // Cut short, it gives the effects before the cut, and an error unless the cut is between two.
            for (i, wish) in application_wishes(&bytes[..cut.index(bytes.len() + 1)]).enumerate() {
                prop_assert!(!wish.is_ok_and(|w| w != written[i]));
            }
        }
    }
}
