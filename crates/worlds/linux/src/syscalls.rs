//! The system calls that no safe crate offers: batches on packet sockets.
//!
//! Every pointer given to the kernel points into memory that the same function, or its `self`,
//! holds for the length of the call.
#![allow(unsafe_code, reason = "packet sockets' addresses and batches; see above")]

use std::io;
use std::mem::{size_of, zeroed};
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd};
use std::ptr::{from_mut, from_ref, null_mut};

/// Packets that one system call takes or gives.
pub const BATCH: usize = 64;

/// Binds a packet socket to an interface and an EtherType.
pub fn bind_packet(fd: BorrowedFd<'_>, ifindex: u32, ethertype: u16) -> io::Result<()> {
    // SAFETY: all zeros are a valid `sockaddr_ll`.
    let mut address: libc::sockaddr_ll = unsafe { zeroed() };
    address.sll_family = libc::AF_PACKET as u16;
    address.sll_protocol = ethertype.to_be();
    address.sll_ifindex = ifindex as i32;
    let len = size_of::<libc::sockaddr_ll>() as u32;
    // SAFETY: `address` lives through the call, and `len` is its size.
    check(unsafe { libc::bind(fd.as_raw_fd(), from_ref(&address).cast(), len) }).map(drop)
}

/// Has the interface hear more frames, as the kind `PACKET_MR_...` of packet(7) says, for as long as the socket is open.
pub(crate) fn hear_more(fd: BorrowedFd<'_>, ifindex: u32, kind: i32) -> io::Result<()> {
    let request = libc::packet_mreq {
        mr_ifindex: ifindex as i32,
        mr_type: kind as u16,
        mr_alen: 0,
        mr_address: [0; 8],
    };
    set_option(fd, libc::SOL_PACKET, libc::PACKET_ADD_MEMBERSHIP, &request)
}

/// Keeps frames that this host sends from a packet socket (Linux 4.20; before that, each comes as [`ReceivedFrame::own`]).
pub(crate) fn hear_others_only(fd: BorrowedFd<'_>) {
    let _ = set_option(fd, libc::SOL_PACKET, libc::PACKET_IGNORE_OUTGOING, &1_i32);
}

/// Sets a socket option whose value is plain data.
pub(crate) fn set_option<T>(fd: BorrowedFd<'_>, level: i32, name: i32, value: &T) -> io::Result<()> {
    let len = size_of::<T>() as u32;
    // SAFETY: `value` lives through the call, and `len` is its size.
    check(unsafe { libc::setsockopt(fd.as_raw_fd(), level, name, from_ref(value).cast(), len) }).map(drop)
}

/// Takes a message of a socket's error queue: the lengths of the frame that it is about, and of its control messages.
pub(crate) fn receive_error(
    fd: BorrowedFd<'_>,
    frame: &mut [u8],
    control: &mut [u64],
) -> io::Result<(usize, usize)> {
    let mut part = libc::iovec { iov_base: frame.as_mut_ptr().cast(), iov_len: frame.len() };
    // SAFETY: all zeros are a valid `msghdr`.
    let mut header: libc::msghdr = unsafe { zeroed() };
    header.msg_iov = from_mut(&mut part);
    header.msg_iovlen = 1;
    header.msg_control = control.as_mut_ptr().cast();
    header.msg_controllen = std::mem::size_of_val(control) as _;
    let flags = libc::MSG_ERRQUEUE | libc::MSG_DONTWAIT;
    // SAFETY: frame, control and the structures that point at them live through the call, and have the lengths given.
    let n = unsafe { libc::recvmsg(fd.as_raw_fd(), from_mut(&mut header), flags) };
    let n = usize::try_from(n).map_err(|_| io::Error::last_os_error())?;
    Ok((n.min(frame.len()), header.msg_controllen as usize))
}

/// A socket option whose value is plain data, for which all zeros are valid.
///
/// # Safety
/// `T` must be the type that the kernel has for this option.
unsafe fn option<T>(fd: BorrowedFd<'_>, level: i32, name: i32) -> io::Result<T> {
    // SAFETY: the caller vouches for the type; all zeros are one of its values.
    let mut value: T = unsafe { zeroed() };
    let mut len = size_of::<T>() as u32;
    // SAFETY: `value` lives through the call, and the kernel writes at most `len` octets.
    check(unsafe {
        libc::getsockopt(fd.as_raw_fd(), level, name, from_mut(&mut value).cast(), from_mut(&mut len))
    })?;
    Ok(value)
}

/// Frames that a packet socket had no room for since the last call (packet(7), PACKET_STATISTICS).
pub(crate) fn missed(fd: BorrowedFd<'_>) -> io::Result<u64> {
    // SAFETY: it is the option's type.
    let counts: libc::tpacket_stats = unsafe { option(fd, libc::SOL_PACKET, libc::PACKET_STATISTICS) }?;
    Ok(counts.tp_drops.into())
}

/// The number of this thread's network namespace, which no other has until the next boot; before Linux 5.14, none that there is
/// at the same time.
pub fn network_namespace() -> io::Result<u64> {
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::DGRAM, None)?;
    // SAFETY: it is the option's type.
    match unsafe { option::<u64>(socket.as_fd(), libc::SOL_SOCKET, libc::SO_NETNS_COOKIE) } {
        Err(e) if e.raw_os_error() == Some(libc::ENOPROTOOPT) => {
            std::fs::metadata("/proc/thread-self/ns/net").map(|m| std::os::unix::fs::MetadataExt::ino(&m))
        }
        cookie => cookie,
    }
}

fn check(outcome: i32) -> io::Result<usize> {
    usize::try_from(outcome).map_err(|_| io::Error::last_os_error())
}

/// A received frame.
#[derive(Copy, Clone, Debug)]
pub struct ReceivedFrame<'a> {
    /// From the Ethernet header on.
    pub bytes: &'a [u8],
    /// Whether it was sent to another station.
    pub for_other: bool,
    /// Whether this host sent it.
    pub own: bool,
}

/// Room for a batch of packets, and the kernel's descriptions of them.
pub struct Receiver {
    room: usize,
    octets: Box<[u8]>,
    iovecs: Box<[libc::iovec]>,
    headers: Box<[libc::mmsghdr]>,
}

impl Receiver {
    /// For packets of up to `room` octets.
    pub fn new(room: usize) -> Self {
        // SAFETY: all zeros are valid values of these C structures.
        let (iovec, header) = unsafe { (zeroed(), zeroed()) };
        Self {
            room,
            octets: vec![0; room * BATCH].into_boxed_slice(),
            iovecs: vec![iovec; BATCH].into_boxed_slice(),
            headers: vec![header; BATCH].into_boxed_slice(),
        }
    }

    /// Takes what comes to a socket; waits for the first packet, as long as the socket's time limit says. Returns how many.
    pub fn receive(&mut self, fd: BorrowedFd<'_>) -> io::Result<usize> {
        let chunks = self.octets.chunks_exact_mut(self.room);
        for ((iovec, header), chunk) in self.iovecs.iter_mut().zip(&mut self.headers).zip(chunks) {
            iovec.iov_base = chunk.as_mut_ptr().cast();
            iovec.iov_len = chunk.len();
            header.msg_hdr.msg_iov = from_mut(iovec);
            header.msg_hdr.msg_iovlen = 1;
        }
        let flags = libc::MSG_WAITFORONE as _;
        // SAFETY: each header points at the buffer of its own index, set just above, and at nothing else.
        check(unsafe {
            libc::recvmmsg(fd.as_raw_fd(), self.headers.as_mut_ptr(), BATCH as u32, flags, null_mut())
        })
    }

    /// Packet `i` of the last batch; empty if it was cut or there is none.
    pub fn packet(&self, i: usize) -> &[u8] {
        let len = self.headers[i].msg_len as usize;
        let cut = self.headers[i].msg_hdr.msg_flags & libc::MSG_TRUNC != 0;
        let at = i * self.room;
        if cut { &[] } else { &self.octets[at..at + len.min(self.room)] }
    }
}

/// The kernel's descriptions of a batch of up to [`BATCH`] frames to send.
pub struct Sender {
    iovecs: Box<[[libc::iovec; 2]]>,
    headers: Box<[libc::mmsghdr]>,
}

impl Default for Sender {
    fn default() -> Self {
        // SAFETY: all zeros are valid values of these C structures.
        let (iovec, header) = unsafe { (zeroed(), zeroed()) };
        Self {
            iovecs: vec![[iovec; 2]; BATCH].into_boxed_slice(),
            headers: vec![header; BATCH].into_boxed_slice(),
        }
    }
}

impl Sender {
    /// Sends up to [`BATCH`] of these frames, each given in two parts, on a bound socket, without waiting; returns how
    /// many went.
    pub fn send<'a>(
        &mut self,
        fd: BorrowedFd<'_>,
        frames: impl Iterator<Item = [&'a [u8]; 2]>,
    ) -> io::Result<usize> {
        let mut count = 0;
        for ((iovecs, header), parts) in self.iovecs.iter_mut().zip(&mut self.headers).zip(frames) {
            for (iovec, part) in iovecs.iter_mut().zip(parts) {
                iovec.iov_base = part.as_ptr().cast_mut().cast();
                iovec.iov_len = part.len();
            }
            header.msg_hdr.msg_iov = iovecs.as_mut_ptr();
            header.msg_hdr.msg_iovlen = iovecs.len() as _;
            count += 1;
        }
        if count == 0 {
            return Ok(0);
        }
        let flags = libc::MSG_DONTWAIT as _;
        // SAFETY: the first `count` headers point at `self`'s descriptions of frames that `'a` keeps alive; the kernel only reads them.
        check(unsafe { libc::sendmmsg(fd.as_raw_fd(), self.headers.as_mut_ptr(), count, flags) })
    }
}

/// An interface's link address and MTU, asked with ioctls: /sys may show another network namespace.
pub(crate) fn interface(fd: BorrowedFd<'_>, name: &str) -> io::Result<([u8; 6], usize)> {
    // SAFETY: all zeros are a valid `ifreq`.
    let mut request: libc::ifreq = unsafe { zeroed() };
    if name.len() >= request.ifr_name.len() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    for (to, from) in request.ifr_name.iter_mut().zip(name.bytes()) {
        *to = from as libc::c_char;
    }
    // SAFETY: both calls fill in the `ifreq` that they are given, which lives through them; the fields read are those
    // that the calls set.
    unsafe {
        check(libc::ioctl(fd.as_raw_fd(), libc::SIOCGIFHWADDR as _, from_mut(&mut request)))?;
        let address = request.ifr_ifru.ifru_hwaddr;
        if address.sa_family != libc::ARPHRD_ETHER {
            return Err(io::Error::other("not an Ethernet interface"));
        }
        let mut mac = [0; 6];
        for (to, from) in mac.iter_mut().zip(address.sa_data) {
            *to = from as u8;
        }
        check(libc::ioctl(fd.as_raw_fd(), libc::SIOCGIFMTU as _, from_mut(&mut request)))?;
        Ok((mac, usize::try_from(request.ifr_ifru.ifru_mtu).unwrap_or(0)))
    }
}

/// Has a socket tell the TTL of what it receives.
pub fn tell_ttl(fd: BorrowedFd<'_>) -> io::Result<()> {
    set_option(fd, libc::IPPROTO_IP, libc::IP_RECVTTL, &1_i32)
}

/// Has a socket tell the hop limit of what it receives.
pub fn tell_hop_limit(fd: BorrowedFd<'_>) -> io::Result<()> {
    set_option(fd, libc::IPPROTO_IPV6, libc::IPV6_RECVHOPLIMIT, &1_i32)
}

/// Gives a socket's receive buffer this size, octets, whatever the limit of the system is.
pub fn force_receive_buffer(fd: BorrowedFd<'_>, size: i32) -> io::Result<()> {
    set_option(fd, libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, &size)
}

/// Gives this thread a policy of sched(7), with the priority that goes with it, if it may.
pub(crate) fn schedule(policy: i32, priority: i32) {
    // SAFETY: all zeros are a valid `sched_param`.
    let mut parameters: libc::sched_param = unsafe { zeroed() };
    parameters.sched_priority = priority;
    // SAFETY: `parameters` lives through the call, which only reads it, and the calling thread is there.
    let _ = unsafe { libc::pthread_setschedparam(libc::pthread_self(), policy, from_ref(&parameters)) };
}

/// Puts this thread, and what it starts, before all programs of usual priority, if it may.
pub fn go_first() {
    // SAFETY: it takes and returns plain numbers; 0 is the calling thread.
    let _ = unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, -20) };
}
