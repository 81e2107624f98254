//! A bundle (RFC 9171, section 4), as fields.

use serde::{Deserialize, Serialize};

use crate::cbor::{Reader, Writer};
use crate::eid::Eid;

/// Bundle processing control flags (RFC 9171, section 4.2.3).
pub mod flags {
    /// The bundle is a fragment.
    pub const FRAGMENT: u64 = 0x1;
    /// The payload is an administrative record.
    pub const ADMIN_RECORD: u64 = 0x2;
    /// The bundle must not be fragmented.
    pub const MUST_NOT_FRAGMENT: u64 = 0x4;
    /// The application is to acknowledge.
    pub const ACK_REQUESTED: u64 = 0x20;
    /// Status reports say when.
    pub const STATUS_TIME: u64 = 0x40;
    /// Report reception.
    pub const REPORT_RECEPTION: u64 = 0x4000;
    /// Report forwarding.
    pub const REPORT_FORWARDING: u64 = 0x1_0000;
    /// Report delivery.
    pub const REPORT_DELIVERY: u64 = 0x2_0000;
    /// Report deletion.
    pub const REPORT_DELETION: u64 = 0x4_0000;

    /// Of a block (section 4.2.4): it must be in every fragment.
    pub const BLOCK_REPLICATE: u64 = 0x1;
    /// Of a block: delete the bundle when it cannot be processed.
    pub const BLOCK_DELETE_BUNDLE: u64 = 0x4;
    /// Of a block: discard it when it cannot be processed.
    pub const BLOCK_DISCARD: u64 = 0x10;
}

/// Types of blocks.
pub mod block_kind {
    /// The payload (RFC 9171, section 4.3.2).
    pub const PAYLOAD: u64 = 1;
    /// The node that forwarded the bundle (section 4.4.1).
    pub const PREVIOUS_NODE: u64 = 6;
    /// Milliseconds since the bundle was created (section 4.4.2).
    pub const BUNDLE_AGE: u64 = 7;
    /// The limit of hops and their number (section 4.4.3).
    pub const HOP_COUNT: u64 = 10;
    /// Custody Transfer Extension Block (CCSDS 734.6-O-1; draft-flentge-dtn-bpv7-custody-transfer-00).
    pub const CUSTODY: u64 = 13;
    /// How many copies the receiver may spread: binary spray and wait's, of the range for private use.
    pub const SPRAY_COPIES: u64 = 193;
}

/// The check of a block (RFC 9171, section 4.2.1).
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Crc {
    /// None.
    None = 0,
    /// X.25, 16 bits.
    Crc16 = 1,
    /// Castagnoli, 32 bits.
    #[default]
    Crc32c = 2,
}

/// When a bundle was created (RFC 9171, section 4.2.7).
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Created {
    /// Milliseconds since 2000-01-01T00:00:00Z; 0 from a node without an accurate clock.
    pub time_ms: u64,
    /// Makes bundles of the same time different.
    pub sequence: u64,
}

/// Where a fragment belongs (RFC 9171, section 4.3.1).
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Fragment {
    /// Octets before it in the application data unit.
    pub offset: u64,
    /// Octets of the whole application data unit.
    pub total: u64,
}

/// What makes a bundle or a fragment the one that it is.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct BundleId {
    /// Who made it.
    pub source: Eid,
    /// When.
    pub created: Created,
    /// Offset and length of the payload, of a fragment.
    pub fragment: Option<(u64, u64)>,
}

impl BundleId {
    /// The name of a bundle, the same for all of its fragments: source, creation time in milliseconds, and number.
    pub(crate) fn name(&self) -> String {
        format!("{}-{}-{}", self.source, self.created.time_ms, self.created.sequence)
    }

    /// Of a fragment: where its payload begins in that of the whole.
    pub(crate) fn offset(&self) -> Option<u64> {
        self.fragment.map(|(offset, _)| offset)
    }
}

/// An extension block: what is in it as octets, whether or not this crate knows its type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Its type: see [`block_kind`].
    pub kind: u64,
    /// Its number, unique in the bundle; the payload's is 1.
    pub number: u64,
    /// See [`flags`].
    pub flags: u64,
    /// Its check.
    pub crc: Crc,
    /// Its data.
    pub data: Vec<u8>,
}

/// What the Custody Transfer Extension Block says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Custody {
    /// The number of this bundle in the custodian's sequence.
    pub number: u64,
    /// The custodian's sequence.
    pub sequence: u64,
    /// The custodian's administrative endpoint, to which signals go.
    pub custodian: Eid,
}

/// A bundle.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bundle {
    /// See [`flags`].
    pub flags: u64,
    /// The check of the primary block.
    pub crc: Crc,
    /// Where it goes.
    pub destination: Eid,
    /// Who made it; `dtn:none` for one without a name.
    pub source: Eid,
    /// Who gets status reports.
    pub report_to: Eid,
    /// When it was made.
    pub created: Created,
    /// How long it is wanted, in milliseconds.
    pub lifetime_ms: u64,
    /// Of a fragment.
    pub fragment: Option<Fragment>,
    /// The extension blocks, in order.
    pub blocks: Vec<Block>,
    /// The payload block's flags.
    pub payload_flags: u64,
    /// The payload block's check.
    pub payload_crc: Crc,
    /// The payload.
    pub payload: Vec<u8>,
}

impl Bundle {
    /// What makes it the one that it is.
    pub fn id(&self) -> BundleId {
        BundleId {
            source: self.source.clone(),
            created: self.created,
            fragment: self.fragment.map(|f| (f.offset, self.payload.len() as u64)),
        }
    }

    /// Whether its payload is an administrative record.
    pub fn is_admin_record(&self) -> bool {
        self.flags & flags::ADMIN_RECORD != 0
    }

    /// Whether it may be fragmented.
    pub fn may_fragment(&self) -> bool {
        self.flags & flags::MUST_NOT_FRAGMENT == 0
    }

    /// The first block of this type.
    pub fn block(&self, kind: u64) -> Option<&Block> {
        self.blocks.iter().find(|block| block.kind == kind)
    }

    /// Milliseconds since it was created, when it was sent (section 4.4.2).
    pub fn age_ms(&self) -> Option<u64> {
        let mut r = Reader::new(&self.block(block_kind::BUNDLE_AGE)?.data);
        r.u64().ok().filter(|_| r.end().is_ok())
    }

    /// The limit of hops, and how many it has made (section 4.4.3).
    pub fn hop_count(&self) -> Option<(u64, u64)> {
        let mut r = Reader::new(&self.block(block_kind::HOP_COUNT)?.data);
        r.array_of(2).ok()?;
        let counts = (r.u64().ok()?, r.u64().ok()?);
        r.end().ok().map(|()| counts)
    }

    /// Who forwarded it (section 4.4.1).
    pub fn previous_node(&self) -> Option<Eid> {
        let mut r = Reader::new(&self.block(block_kind::PREVIOUS_NODE)?.data);
        r.eid().ok().filter(|_| r.end().is_ok())
    }

    /// Who has custody of it, if it travels with custody transfer.
    pub fn custody(&self) -> Option<Custody> {
        let mut r = Reader::new(&self.block(block_kind::CUSTODY)?.data);
        r.array_of(3).ok()?;
        let custody = Custody { number: r.u64().ok()?, sequence: r.u64().ok()?, custodian: r.eid().ok()? };
        r.end().ok().map(|()| custody)
    }

    /// How many copies its receiver may spread.
    pub fn spray_copies(&self) -> Option<u32> {
        let mut r = Reader::new(&self.block(block_kind::SPRAY_COPIES)?.data);
        u32::try_from(r.u64().ok()?).ok().filter(|_| r.end().is_ok())
    }

    /// Sets the age.
    pub fn set_age_ms(&mut self, age: u64) {
        self.set_block(block_kind::BUNDLE_AGE, |w| w.u64(age));
    }

    /// Sets the limit of hops and their number.
    pub fn set_hop_count(&mut self, limit: u64, count: u64) {
        self.set_block(block_kind::HOP_COUNT, |w| w.array(2).u64(limit).u64(count));
    }

    /// Sets who forwards it.
    pub fn set_previous_node(&mut self, node: &Eid) {
        self.set_block(block_kind::PREVIOUS_NODE, |w| w.eid(node));
    }

    /// Sets who has custody of it.
    pub fn set_custody(&mut self, custody: &Custody) {
        let Custody { number, sequence, custodian } = custody;
        self.set_block(block_kind::CUSTODY, |w| w.array(3).u64(*number).u64(*sequence).eid(custodian));
    }

    /// Sets how many copies its receiver may spread.
    pub fn set_spray_copies(&mut self, copies: u32) {
        self.set_block(block_kind::SPRAY_COPIES, |w| w.u64(copies.into()));
    }

    /// Removes the blocks of a type.
    pub fn remove_block(&mut self, kind: u64) {
        self.blocks.retain(|block| block.kind != kind);
    }

    /// The block's data are replaced, or there is a new block; its check is that of the payload.
    fn set_block(&mut self, kind: u64, write: impl FnOnce(&mut Writer) -> &mut Writer) {
        let mut w = Writer::default();
        write(&mut w);
        let data = w.finish();
        if let Some(block) = self.blocks.iter_mut().find(|block| block.kind == kind) {
            block.data = data;
            return;
        }
        // Numbers of blocks begin with 2; 0 is the primary block's and 1 the payload's.
        let number = (2..=u64::MAX).find(|n| self.blocks.iter().all(|b| b.number != *n)).unwrap_or(u64::MAX);
        let (flags, crc) = (flags::BLOCK_REPLICATE, self.payload_crc);
        self.blocks.push(Block { kind, number, flags, crc, data });
    }

    /// Whether a block has the data of its type; blocks of unknown types have any.
    pub(crate) fn understands(&self, block: &Block) -> bool {
        match block.kind {
            block_kind::BUNDLE_AGE => self.age_ms().is_some(),
            block_kind::HOP_COUNT => self.hop_count().is_some_and(|(limit, _)| (1..=255).contains(&limit)),
            block_kind::PREVIOUS_NODE => self.previous_node().is_some(),
            _ => true,
        }
    }

    /// Whether this crate knows blocks of this type.
    pub(crate) fn knows(kind: u64) -> bool {
        matches!(
            kind,
            block_kind::PREVIOUS_NODE
                | block_kind::BUNDLE_AGE
                | block_kind::HOP_COUNT
                | block_kind::CUSTODY
                | block_kind::SPRAY_COPIES
        )
    }
}
