//! nftables tables: whether one exists, and removing it. `nft` creates them, from its own language;
//! a process that may not run programs can still remove them.
//!
//! Messages are those of linux/netfilter/nfnetlink.h and nf_tables.h.

use std::io;

use crate::exchange;

const NETLINK_NETFILTER: isize = 12;
/// `NFNL_SUBSYS_NFTABLES`.
const SUBSYSTEM: u16 = 10;
const BATCH_BEGIN: u16 = 16;
const BATCH_END: u16 = 17;
const GET_TABLE: u16 = SUBSYSTEM << 8 | 1;
const DELETE_TABLE: u16 = SUBSYSTEM << 8 | 2;
/// `NFTA_TABLE_NAME`.
const TABLE_NAME: u16 = 1;
/// `NLM_F_REQUEST`, and with it `NLM_F_ACK`.
const REQUEST: u16 = 1;
const ACKNOWLEDGE: u16 = 4;
/// `NLMSG_ERROR`: an error, or 0 for an acknowledgement.
const ERROR: u16 = 2;
const HEADER: usize = 16;
/// The number of the message that is to be answered.
const SEQUENCE: u32 = 2;

/// Whether there is a table of this name for IPv4, in the network namespace of the calling thread.
///
/// # Errors
/// If the kernel does not say.
pub fn exists(table: &str) -> io::Result<bool> {
    match ask(&message(GET_TABLE, REQUEST | ACKNOWLEDGE, SEQUENCE, libc::AF_INET as u8, &name(table))) {
        Ok(()) => Ok(true),
        Err(e) if e.raw_os_error() == Some(libc::ENOENT) => Ok(false),
        Err(e) => Err(e),
    }
}

/// Takes a table for IPv4 away, with all that is in it; one that is not there is gone already.
///
/// # Errors
/// If the kernel refuses.
pub fn remove(table: &str) -> io::Result<()> {
    match ask(&removal(table)) {
        Err(e) if e.raw_os_error() == Some(libc::ENOENT) => Ok(()),
        outcome => outcome,
    }
}

/// A change is a batch of one.
fn removal(table: &str) -> Vec<u8> {
    let mut all = message(BATCH_BEGIN, REQUEST, SEQUENCE - 1, 0, &[]);
    all.extend(message(DELETE_TABLE, REQUEST | ACKNOWLEDGE, SEQUENCE, libc::AF_INET as u8, &name(table)));
    all.extend(message(BATCH_END, REQUEST, SEQUENCE + 1, 0, &[]));
    all
}

/// The attribute with a table's name.
fn name(table: &str) -> Vec<u8> {
    let len = 4 + table.len() + 1;
    let mut a = Vec::with_capacity(len.next_multiple_of(4));
    a.extend((len as u16).to_ne_bytes());
    a.extend(TABLE_NAME.to_ne_bytes());
    a.extend(table.as_bytes());
    a.resize(len.next_multiple_of(4), 0);
    a
}

fn message(kind: u16, flags: u16, sequence: u32, family: u8, attributes: &[u8]) -> Vec<u8> {
    let mut m = Vec::with_capacity(HEADER + 4 + attributes.len());
    m.extend(((HEADER + 4 + attributes.len()) as u32).to_ne_bytes());
    m.extend(kind.to_ne_bytes());
    m.extend(flags.to_ne_bytes());
    m.extend(sequence.to_ne_bytes());
    m.extend(0u32.to_ne_bytes());
    // `struct nfgenmsg`: family, version, and for a batch whose it is.
    let of = if attributes.is_empty() { SUBSYSTEM } else { 0 };
    m.extend([family, 0]);
    m.extend(of.to_be_bytes());
    m.extend(attributes);
    m
}

/// Sends messages, and waits for the answer to the one that asks for one.
fn ask(octets: &[u8]) -> io::Result<()> {
    let socket = exchange::open(NETLINK_NETFILTER)?;
    socket.send(octets, 0)?;
    loop {
        let (octets, _) = socket.recv_from_full()?;
        if let Some(outcome) = answer(&octets) {
            return outcome;
        }
    }
}

/// The error, or the acknowledgement, among these messages.
fn answer(mut octets: &[u8]) -> Option<io::Result<()>> {
    let word = |o: &[u8], at: usize| o.get(at..at + 4).map(|b| u32::from_ne_bytes([b[0], b[1], b[2], b[3]]));
    while let Some(len) =
        word(octets, 0).map(|len| len as usize).filter(|len| (HEADER..=octets.len()).contains(len))
    {
        let kind = u16::from_ne_bytes([octets[4], octets[5]]);
        if kind == ERROR {
            let code = word(&octets[..len], HEADER)?.cast_signed();
            return Some(if code == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(-code)) });
        }
        octets = octets.get(len.next_multiple_of(4)..).unwrap_or_default();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_removal_is_a_batch_of_three_messages() {
        let all = removal("wayhop");
        let len = |at: usize| u32::from_ne_bytes([all[at], all[at + 1], all[at + 2], all[at + 3]]) as usize;
        // Header 16 and nfgenmsg 4; the name has 4 + 7 octets, padded to 12.
        assert_eq!((len(0), len(20), len(52), all.len()), (20, 32, 20, 72));
        assert_eq!(u16::from_ne_bytes([all[24], all[25]]), 0x0a02, "NFNL_SUBSYS_NFTABLES, NFT_MSG_DELTABLE");
        assert_eq!(all[18..20], [0, 10], "the batch is of nftables");
        assert_eq!(&all[44..51], b"wayhop\0");
    }

    #[test]
    fn an_answer_is_found_behind_other_messages_and_nonsense_is_none() {
        let other = message(GET_TABLE, 0, 2, 2, &name("x"));
        let error = |code: i32| {
            [&36u32.to_ne_bytes()[..], &ERROR.to_ne_bytes(), &[0; 10], &code.to_ne_bytes(), &[0; 16]].concat()
        };
        let gone = answer(&[other.clone(), error(-libc::ENOENT)].concat()).expect("an answer");
        assert_eq!(gone.expect_err("an error").raw_os_error(), Some(libc::ENOENT));
        assert!(answer(&error(0)).expect("an answer").is_ok());
        assert!(answer(&other).is_none() && answer(&[1, 2, 3]).is_none() && answer(&[255; 64]).is_none());
        assert!(answer(&error(0)[..18]).is_none());
    }
}
