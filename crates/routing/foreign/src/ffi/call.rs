//! One call of a library, and the functions that it calls back.

use core::ffi::c_char;
use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering};

use wayhop_core::{
    Addr, Cx, DropReason, IfaceId, Packet, Prefix, Priority, Refused, Route, Socket, Span, Time, TimerKey,
    TxId, TxSpec,
};

use super::abi::{ABI_VERSION, RawAddr, RawCalls, RawCx, RawPacket, RawRoute, RawSocket, RawTx};
use super::text::{items, text};
use crate::check::{self, LONGEST};
use crate::names;
use crate::packets::Packets;
use crate::progress::{self, Callback};

/// The most rows that `replace_routes` takes.
const MOST_ROUTES: usize = 1 << 20;

/// What C gets as `const wayhop_cx *`: the public fields, and behind them what the functions need.
#[repr(C)]
pub(crate) struct Call<'a, 'c> {
    raw: RawCx,
    cx: &'a mut Cx<'c>,
    packets: &'a mut Packets,
    interfaces: u8,
    /// What the library did wrong first.
    pub(crate) fault: Option<String>,
    /// Whether it refused a command.
    pub(crate) has_refused: bool,
}

/// The context of the call in progress. It makes callbacks of all engines one after the other, whatever thread they come
/// from, and tells a context that is no longer valid.
static CURRENT: AtomicPtr<RawCx> = AtomicPtr::new(ptr::null_mut());
/// Its place is in [`CURRENT`] while a function runs that has no context.
static WITHOUT_CONTEXT: u64 = 0;

/// A function of the library of this number is called: no other one is, until this is dropped.
pub(crate) struct Entered(u8);

/// Waits until no other call is in progress, and begins one.
#[inline]
pub(crate) fn enter(
    library: u8,
    callback: Callback,
    node: u32,
    time_ns: u64,
    context: Option<*mut RawCx>,
) -> Entered {
    let own = context.unwrap_or(ptr::from_ref(&WITHOUT_CONTEXT).cast_mut().cast());
    while CURRENT.compare_exchange_weak(ptr::null_mut(), own, Ordering::Acquire, Ordering::Relaxed).is_err() {
        std::thread::yield_now();
    }
    progress::begin(library, callback, node, time_ns);
    Entered(library)
}

impl Drop for Entered {
    #[inline]
    fn drop(&mut self) {
        progress::end(self.0);
        CURRENT.store(ptr::null_mut(), Ordering::Release);
    }
}

impl<'a, 'c> Call<'a, 'c> {
    #[inline]
    pub(crate) fn new(cx: &'a mut Cx<'c>, packets: &'a mut Packets, node: u32, interfaces: u8) -> Self {
        let interface = cx.interface();
        let raw = RawCx {
            calls: &raw const CALLS,
            now_ns: cx.now().as_nanos(),
            addr: Addr::from(cx.addr()).into(),
            addr6: cx.addr6().map_or_else(RawAddr::default, |a| Addr::from(a).into()),
            node,
            queued: interface.queued,
            acknowledges: u8::from(interface.acknowledges),
            reserved: [0; 7],
        };
        Self { raw, cx, packets, interfaces, fault: None, has_refused: false }
    }

    /// Takes a packet in, for the library.
    #[inline]
    pub(crate) fn add(&mut self, p: Packet) -> RawPacket {
        RawPacket { handle: self.packets.add(p) }
    }

    #[inline]
    fn iface(&self, number: u8) -> Result<IfaceId, String> {
        let iface = IfaceId(number);
        if iface == IfaceId::ANY || number < self.interfaces {
            return Ok(iface);
        }
        Err(format!("used interface {number}; this node has {} (numbered from 0)", self.interfaces))
    }

    /// Why a handle is no packet.
    #[cold]
    fn no_packet(&self, handle: u64, did: &str) -> String {
        if handle == 0 {
            format!("{did} handle 0, which is no packet")
        } else if self.packets.was_valid(handle) {
            format!("{did} a packet that it had already sent, delivered, dropped or consumed")
        } else {
            format!("{did} handle {handle:#x}, which is no packet of this engine")
        }
    }

    #[inline]
    fn of(&mut self, p: RawPacket, did: &str) -> Result<&mut Packet, String> {
        match self.packets.place(p.handle) {
            Some(place) => Ok(self.packets.at(place)),
            None => Err(self.no_packet(p.handle, did)),
        }
    }

    #[inline]
    fn take(&mut self, p: RawPacket, did: &str) -> Result<Packet, String> {
        match self.packets.take(p.handle) {
            Some(packet) => Ok(packet),
            None => Err(self.no_packet(p.handle, did)),
        }
    }

    fn route(&self, r: &RawRoute) -> Result<Route, String> {
        let destination: Addr = r.destination.into();
        Ok(Route {
            destination: prefix(destination, r.prefix_length)?,
            next_hop: r.next_hop.into(),
            iface: self.iface(r.iface)?,
            metric: r.metric,
        })
    }
}

fn prefix(addr: Addr, length: u8) -> Result<Prefix, String> {
    let most = if addr.is_v4() { 32 } else { 128 };
    if length > most {
        return Err(format!("used prefix length {length} with {addr}; give {most} at most"));
    }
    Ok(Prefix::around(addr, length))
}

/// Whether this is the context of the call in progress.
#[inline]
pub(super) fn is_current(raw: *const RawCx) -> bool {
    !raw.is_null() && raw.cast_mut() == CURRENT.load(Ordering::Relaxed)
}

/// Runs a function of the host. Its error is the library's fault, and ends the run when the callback returns.
#[inline]
fn on<R: Default>(raw: *const RawCx, f: impl FnOnce(&mut Call<'_, '_>) -> Result<R, String>) -> R {
    if !is_current(raw) {
        // There is no call that could end.
        super::host::fail_with("called a function of wayhop_cx outside of the callback that received it");
    }
    // SAFETY: it is the context of the call in progress, so `Call::run` made it of a whole `Call` that it has borrowed
    // alone, and no other function of the host runs: the library's callbacks have one thread.
    let call = unsafe { &mut *raw.cast_mut().cast::<Call<'_, '_>>() };
    f(call).unwrap_or_else(|what| {
        progress::set_fault(&what);
        call.fault.get_or_insert(what);
        R::default()
    })
}

/// What a pointer argument points to.
pub(super) fn at<'a, T>(p: *const T, name: &str) -> Result<&'a T, String> {
    // SAFETY: `wayhop.h` demands a pointer to a whole structure.
    unsafe { p.as_ref() }.ok_or_else(|| format!("gave NULL as {name}"))
}

unsafe extern "C" fn alloc(cx: *const RawCx, length: usize) -> RawPacket {
    on(cx, |call| {
        if length > LONGEST {
            return Err(format!("asked for a packet of {length} bytes; {LONGEST} is the most"));
        }
        let p = call.cx.alloc(length);
        Ok(call.add(p))
    })
}

unsafe extern "C" fn copy(cx: *const RawCx, p: RawPacket) -> RawPacket {
    on(cx, |call| {
        let Some(packet) = call.packets.look(p.handle) else {
            return Err(call.no_packet(p.handle, "copied"));
        };
        let copy = call.cx.copy(packet);
        Ok(call.add(copy))
    })
}

#[derive(Copy, Clone)]
struct Bytes(*mut u8);

impl Default for Bytes {
    fn default() -> Self {
        Self(ptr::null_mut())
    }
}

unsafe extern "C" fn bytes(cx: *const RawCx, p: RawPacket, length: *mut usize) -> *mut u8 {
    let (Bytes(at), count) = on(cx, |call| {
        let bytes = call.of(p, "looked at")?.bytes_mut();
        Ok((Bytes(bytes.as_mut_ptr()), bytes.len()))
    });
    if !length.is_null() {
        // SAFETY: `wayhop.h` demands a pointer to a size_t, or none.
        unsafe { *length = count };
    }
    at
}

unsafe extern "C" fn insert(cx: *const RawCx, p: RawPacket, at: usize, count: usize) {
    on(cx, |call| {
        let packet = call.of(p, "changed")?;
        let length = packet.len();
        if at > length || count > LONGEST || length + count > LONGEST {
            return Err(format!(
                "inserted {count} bytes at {at} into a packet of {length}; {LONGEST} is the most"
            ));
        }
        packet.insert(at, count);
        Ok(())
    });
}

unsafe extern "C" fn remove(cx: *const RawCx, p: RawPacket, at: usize, count: usize) {
    on(cx, |call| {
        let packet = call.of(p, "changed")?;
        if at.checked_add(count).is_none_or(|end| end > packet.len()) {
            return Err(format!("removed {count} bytes at {at} from a packet of {}", packet.len()));
        }
        packet.remove(at, count);
        Ok(())
    });
}

unsafe extern "C" fn resize(cx: *const RawCx, p: RawPacket, length: usize) {
    on(cx, |call| {
        let packet = call.of(p, "changed")?;
        if length > LONGEST {
            return Err(format!("resized a packet to {length} bytes; {LONGEST} is the most"));
        }
        match length.checked_sub(packet.len()) {
            Some(more) => packet.insert(packet.len(), more),
            None => packet.truncate(length),
        }
        Ok(())
    });
}

unsafe extern "C" fn send(cx: *const RawCx, p: RawPacket, tx: *const RawTx) {
    on(cx, |call| {
        let tx = at(tx, "wayhop_tx")?;
        let iface = call.iface(tx.iface)?;
        let priority = match tx.priority {
            0 => Priority::Control,
            1 => Priority::High,
            2 => Priority::Data,
            n => return Err(format!("sent a packet with priority {n}; give WAYHOP_CONTROL, _HIGH or _DATA")),
        };
        check::is_packet(call.of(p, "sent")?.bytes()).map_err(|what| format!("sent {what}"))?;
        let packet = call.take(p, "sent")?;
        let spec = TxSpec {
            next_hop: tx.next_hop.into(),
            iface,
            priority,
            delay: Span::from_nanos(tx.delay_ns),
            report: (tx.has_report != 0).then_some(TxId(tx.report)),
        };
        call.cx.send(packet, spec);
        Ok(())
    });
}

unsafe extern "C" fn deliver(cx: *const RawCx, p: RawPacket) {
    on(cx, |call| {
        check::is_packet(call.of(p, "delivered")?.bytes()).map_err(|what| format!("delivered {what}"))?;
        let packet = call.take(p, "delivered")?;
        call.cx.deliver(packet);
        Ok(())
    });
}

unsafe extern "C" fn drop_packet(cx: *const RawCx, p: RawPacket, reason: u32) {
    on(cx, |call| {
        let Some(reason) = REASONS.get(reason as usize) else {
            return Err(format!("dropped a packet with reason {reason}; give one of wayhop.h"));
        };
        let packet = call.take(p, "dropped")?;
        call.cx.drop(packet, *reason);
        Ok(())
    });
}

/// By their numbers in `wayhop.h`.
const REASONS: [DropReason; 15] = [
    DropReason::NoRoute,
    DropReason::DiscoveryFailed,
    DropReason::BufferTimeout,
    DropReason::BufferFull,
    DropReason::QueueFull,
    DropReason::MacRetries,
    DropReason::TtlExpired,
    DropReason::Loop,
    DropReason::NoOtherRoute,
    DropReason::RerouteLimit,
    DropReason::Malformed,
    DropReason::Duplicate,
    DropReason::Policy,
    DropReason::NoListener,
    DropReason::TooLong,
];

unsafe extern "C" fn consume(cx: *const RawCx, p: RawPacket) {
    on(cx, |call| {
        let packet = call.take(p, "consumed")?;
        call.cx.consume(packet);
        Ok(())
    });
}

unsafe extern "C" fn set_timer(cx: *const RawCx, key: u64, at_ns: u64) {
    on(cx, |call| {
        call.cx.set_timer(TimerKey(key), Time::from_nanos(at_ns));
        Ok(())
    });
}

unsafe extern "C" fn clear_timer(cx: *const RawCx, key: u64) {
    on(cx, |call| {
        call.cx.clear_timer(TimerKey(key));
        Ok(())
    });
}

unsafe extern "C" fn open(cx: *const RawCx, socket: *const RawSocket) {
    on(cx, |call| {
        let raw = at(socket, "wayhop_socket")?;
        let socket = match raw.kind {
            0 => Socket::Udp(raw.number),
            1 if raw.number < 256 => Socket::Ip(raw.number as u8),
            2 => Socket::Group(raw.group.into()),
            n => return Err(format!("opened a socket of kind {n} and number {}", raw.number)),
        };
        let iface = call.iface(raw.iface)?;
        call.cx.open_on(socket, iface);
        Ok(())
    });
}

unsafe extern "C" fn install(cx: *const RawCx, route: *const RawRoute) {
    on(cx, |call| {
        let route = call.route(at(route, "wayhop_route")?)?;
        call.cx.install(route);
        Ok(())
    });
}

unsafe extern "C" fn uninstall(cx: *const RawCx, destination: *const RawAddr, prefix_length: u8) {
    on(cx, |call| {
        let destination = prefix((*at(destination, "the destination")?).into(), prefix_length)?;
        call.cx.uninstall(destination);
        Ok(())
    });
}

unsafe extern "C" fn replace_routes(cx: *const RawCx, routes: *const RawRoute, count: usize) {
    on(cx, |call| {
        if count > MOST_ROUTES || routes.is_null() && count > 0 {
            return Err(format!("gave {count} routes at once; {MOST_ROUTES} is the most, and NULL is none"));
        }
        // SAFETY: `wayhop.h` demands `count` routes.
        let rows = unsafe { items(routes, count) };
        let rows = rows.iter().map(|r| call.route(r)).collect::<Result<_, _>>()?;
        call.cx.replace_routes(rows);
        Ok(())
    });
}

unsafe extern "C" fn recall(cx: *const RawCx, next_hop: *const RawAddr) {
    on(cx, |call| {
        let next_hop: Addr = (*at(next_hop, "the next hop")?).into();
        call.cx.recall(next_hop);
        Ok(())
    });
}

unsafe extern "C" fn refuse(cx: *const RawCx, reason: *const c_char) {
    on(cx, |call| {
        // SAFETY: `wayhop.h` demands a text.
        let why = unsafe { text(reason) }.unwrap_or_default().into_owned();
        call.has_refused = true;
        call.cx.refuse(Refused(why));
        Ok(())
    });
}

unsafe extern "C" fn note(cx: *const RawCx, what: *const c_char, about: *const RawAddr, value: u64) {
    on(cx, |call| {
        // SAFETY: `wayhop.h` demands a text.
        let what = unsafe { text(what) }.ok_or_else(|| "gave NULL as the name of a remark".to_owned())?;
        let about: Addr = (*at(about, "the address of a remark")?).into();
        call.cx.note(names::name(&what), about, value);
        Ok(())
    });
}

unsafe extern "C" fn random(cx: *const RawCx) -> u64 {
    on(cx, |call| Ok(call.cx.rng().bits()))
}

unsafe extern "C" fn link_acknowledges(cx: *const RawCx, neighbour: *const RawAddr) -> i32 {
    on(cx, |call| {
        let neighbour: Addr = (*at(neighbour, "the neighbour")?).into();
        Ok(i32::from(call.cx.link_acknowledges(neighbour)))
    })
}

static CALLS: RawCalls = RawCalls {
    size: size_of::<RawCalls>() as u32,
    abi_version: ABI_VERSION,
    alloc,
    copy,
    bytes,
    insert,
    remove,
    resize,
    send,
    deliver,
    drop: drop_packet,
    consume,
    set_timer,
    clear_timer,
    open,
    install,
    uninstall,
    replace_routes,
    recall,
    refuse,
    note,
    random,
    link_acknowledges,
};
