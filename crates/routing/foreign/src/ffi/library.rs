//! Loading a library and reading its description.

use core::ffi::c_char;
use core::{mem, ptr};
use std::path::Path;

use serde_json::Value;
use wayhop_core::{Classified, Datagram, DecodedMessage};

use super::abi::{ABI_VERSION, Check, RawClassified, RawDatagram, RawLibrary, RawParameter};
use super::text::{items, text, written};
use crate::claims::{Claims, ParameterClaim};
use crate::facts::Facts;

/// Longest description of messages that a decoder may write, bytes.
const LONGEST_DECODE: usize = 1 << 20;
/// A library's count of something is not believed beyond this.
const MOST_ITEMS: usize = 4_096;

/// A loaded library. It stays loaded until the process ends.
pub(crate) struct Library {
    pub(super) raw: RawLibrary,
    pub(crate) facts: Facts,
    /// As it is shown to users.
    pub(crate) path: String,
    /// Its number for a supervisor.
    pub(super) number: u8,
}

// SAFETY: its pointers are to code and to data of the library that never change, as `wayhop.h` demands.
unsafe impl Send for Library {}
// SAFETY: the same. Callbacks that change something are called under `call::enter` alone.
unsafe impl Sync for Library {}

impl core::fmt::Debug for Library {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_tuple("Library").field(&self.path).finish()
    }
}

impl Library {
    /// Loads the library at `path` of this number, which is shown to users as `shown`. The error says what is wrong with it, without its name.
    pub(crate) fn load(path: &Path, shown: &Path, number: u8) -> Result<Self, String> {
        let raw: RawLibrary = described(path, "wayhop_protocol", "wayhop_protocol_library")?;
        let missing = required(&raw);
        if !missing.is_empty() {
            return Err(format!("its description has no {}; set them", missing.join(", ")));
        }
        // SAFETY: texts and arrays of the description, as the header demands.
        let claims = unsafe { claims(&raw)? };
        let facts = Facts::check(&claims).map_err(|e| format!("in its description, {e}"))?;
        Ok(Self { raw, facts, path: shown.display().to_string(), number })
    }

    /// What a packet of the protocol is.
    pub(crate) fn classify(&self, d: &Datagram<'_>) -> Classified {
        let mut out = RawClassified { class_index: 0, types: 0 };
        if let Some(classify) = self.raw.classify {
            // SAFETY: a function of this type, which keeps none of the pointers.
            unsafe { classify(&datagram(d), &raw mut out) };
        }
        Classified { class: u8::try_from(out.class_index).ok(), types: out.types as u16 }
    }

    /// The messages of a packet.
    pub(crate) fn decode(&self, d: &Datagram<'_>) -> Vec<DecodedMessage> {
        let Some(decode) = self.raw.decode else { return Vec::new() };
        let mut buffer = vec![0_u8; 4_096];
        for _ in 0..2 {
            // SAFETY: a function of this type, which writes `size` bytes at most.
            let length = unsafe { decode(&datagram(d), buffer.as_mut_ptr().cast::<c_char>(), buffer.len()) };
            if length < buffer.len() || length >= LONGEST_DECODE {
                break;
            }
            buffer = vec![0; length + 1];
        }
        messages(&written(&buffer), self)
    }

    /// Its check of the values of parameters together.
    pub(crate) fn check(&self) -> Option<Check> {
        self.raw.check
    }
}

/// The structure of type `structure` that the function `entry` of a library returns. The error says what is wrong with it.
pub(super) fn described<T: Copy>(path: &Path, entry: &str, structure: &str) -> Result<T, String> {
    let opened = open(path).map_err(|e| plain(&e))?;
    // SAFETY: `wayhop.h` gives the function this type.
    let function = unsafe { opened.get::<unsafe extern "C" fn(u32) -> *const T>(entry) }
        .map_err(|_| format!("it does not export {entry}(); define that function, and include wayhop.h"))?;
    let function = *function;
    // It stays: what it returns is used until the process ends.
    mem::forget(opened);
    // SAFETY: as above.
    let given = unsafe { function(ABI_VERSION) };
    if given.is_null() {
        return Err(format!(
            "{entry}({ABI_VERSION}) returned NULL: it does not support version {ABI_VERSION} of the \
             interface; rebuild it with the wayhop.h of this Wayhop"
        ));
    }
    // SAFETY: every version of each of these structures begins with its version and its size.
    let [version, size] = unsafe { ptr::read(given.cast::<[u32; 2]>()) };
    if version != ABI_VERSION {
        return Err(format!(
            "it was built for version {version} of the interface, this Wayhop has version {ABI_VERSION}; rebuild it \
             with the wayhop.h of this Wayhop"
        ));
    }
    let first = size_of::<T>();
    if (size as usize) < first {
        return Err(format!(
            "its description has {size} bytes, version {ABI_VERSION} has {first}; set `size` to sizeof({structure})"
        ));
    }
    // SAFETY: it has at least as many bytes; a longer one is of a later header, with more fields at its end.
    Ok(unsafe { ptr::read(given) })
}

/// Opens a library, with all functions that it needs from others.
fn open(path: &Path) -> Result<libloading::Library, libloading::Error> {
    #[cfg(unix)]
    {
        use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
        // SAFETY: initialisers of the library run, which is what the user asked for.
        unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) }.map(Into::into)
    }
    #[cfg(not(unix))]
    // SAFETY: the same.
    unsafe {
        libloading::Library::new(path)
    }
}

/// The loader's message, without the path that it begins with.
fn plain(e: &libloading::Error) -> String {
    let text = e.to_string();
    let text = text.rsplit_once(": ").map_or(text.as_str(), |(_, last)| last);
    format!("it cannot be loaded ({text}); build it as a shared library for this machine: cc -shared -fPIC")
}

/// The required callbacks that are missing.
fn required(raw: &RawLibrary) -> Vec<&'static str> {
    let all = [
        ("name", raw.name.is_null()),
        ("create", raw.create.is_none()),
        ("start", raw.start.is_none()),
        ("outbound", raw.outbound.is_none()),
        ("frame", raw.frame.is_none()),
        ("tx_status", raw.tx_status.is_none()),
        ("timer", raw.timer.is_none()),
    ];
    all.into_iter().filter_map(|(name, is_missing)| is_missing.then_some(name)).collect()
}

/// The text of a field; empty for a null pointer.
///
/// # Safety
/// As of [`text`].
pub(super) unsafe fn own(p: *const c_char) -> String {
    // SAFETY: as the caller promises.
    unsafe { text(p) }.unwrap_or_default().into_owned()
}

/// Refuses the count of a field that is no count of anything.
pub(super) fn check_count(field: &str, count: usize) -> Result<(), String> {
    if count > MOST_ITEMS {
        return Err(format!("in its description, {field} is {count}; give the length of the array"));
    }
    Ok(())
}

/// # Safety
/// `parameters` are `count` valid ones.
pub(super) unsafe fn parameters(
    parameters: *const RawParameter,
    count: usize,
) -> Result<Vec<ParameterClaim>, String> {
    check_count("parameter_count", count)?;
    // SAFETY: as the caller promises, here and below.
    let own = |p: *const c_char| unsafe { own(p) };
    let parameter = |p: &RawParameter| ParameterClaim {
        key: own(p.key),
        kind: p.kind,
        flags: p.flags,
        preset: own(p.preset),
        minimum: (!p.minimum.is_null()).then(|| own(p.minimum)),
        maximum: (!p.maximum.is_null()).then(|| own(p.maximum)),
        choices: (!p.choices.is_null()).then(|| own(p.choices)),
        about: own(p.about),
    };
    Ok(unsafe { items(parameters, count) }.iter().map(parameter).collect())
}

/// # Safety
/// The pointers of the description are valid.
unsafe fn claims(raw: &RawLibrary) -> Result<Claims, String> {
    check_count("class_count", raw.class_count)?;
    check_count("type_count", raw.type_count)?;
    // SAFETY: as the caller promises, here and below.
    let own = |p: *const c_char| unsafe { own(p) };
    // SAFETY: as the caller promises.
    let (parameters, classes, types) = unsafe {
        (
            parameters(raw.parameters, raw.parameter_count)?,
            items(raw.classes, raw.class_count),
            items(raw.types, raw.type_count),
        )
    };
    Ok(Claims {
        name: own(raw.name),
        full_name: own(raw.full_name),
        specification: own(raw.specification),
        version: own(raw.version),
        data_plane: raw.data_plane,
        interests: raw.interests,
        position_interval_ns: raw.position_interval_ns,
        header_room: raw.header_room,
        carrier: raw.carrier,
        carrier_number: raw.carrier_number,
        parameters,
        classes: classes.iter().map(|c| own(*c)).collect(),
        types: types.iter().map(|t| (t.bit, own(t.name))).collect(),
    })
}

fn datagram(d: &Datagram<'_>) -> RawDatagram {
    RawDatagram {
        source: d.source.into(),
        destination: d.destination.into(),
        payload: d.payload.as_ptr(),
        length: d.payload.len(),
        complete_length: d.complete_len,
    }
}

/// The messages that a decoder wrote.
fn messages(text: &str, library: &Library) -> Vec<DecodedMessage> {
    let Ok(Value::Array(all)) = serde_json::from_str(text) else {
        return vec![DecodedMessage::malformed("unknown", "the library's decoder wrote no JSON array")];
    };
    let message = |value: Value| {
        let Value::Object(mut fields) = value else {
            return DecodedMessage::malformed("unknown", "the library's decoder wrote no object");
        };
        let kind = fields.remove("type").and_then(|t| t.as_str().map(str::to_owned));
        let known = library.facts.types.iter().map(|(_, name)| name);
        let kind = known.into_iter().find(|k| Some(*k) == kind.as_ref());
        DecodedMessage::whole(kind.map_or("unknown", |k| crate::names::name(k)), Value::Object(fields))
    };
    all.into_iter().map(message).collect()
}
