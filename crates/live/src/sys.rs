//! The calls of Linux for packet sockets that no safe interface has: all unsafe code of this crate.

#![allow(
    unsafe_code,
    reason = "packet sockets, time stamps and auxiliary data have no safe interface"
)]

use std::ffi::{CString, c_int, c_void};
use std::io;
use std::mem::{size_of, zeroed};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// Do not see what this socket's own interface sends (linux/if_packet.h).
const PACKET_IGNORE_OUTGOING: c_int = 23;

/// A frame that was received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Meta {
    /// Bytes of it in the buffer.
    pub(crate) len: usize,
    /// When the kernel got it, in nanoseconds since 1970.
    pub(crate) stamp: Option<u64>,
    /// The 802.1Q tag that the kernel took off it.
    pub(crate) vlan: Option<u16>,
    /// Its TCP or UDP checksum was left to the network card.
    pub(crate) unfinished: bool,
}

fn check(result: c_int) -> io::Result<c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

fn set<T>(fd: &OwnedFd, level: c_int, name: c_int, value: &T) -> io::Result<()> {
    // SAFETY: the pointer and the length are those of `value`.
    check(unsafe {
        let pointer = std::ptr::from_ref(value).cast::<c_void>();
        libc::setsockopt(fd.as_raw_fd(), level, name, pointer, size_of::<T>() as u32)
    })?;
    Ok(())
}

/// A packet socket that is not bound yet, and the index of an interface of the thread's network
/// namespace.
fn packet_socket(interface: &str) -> io::Result<(OwnedFd, c_int)> {
    let name = CString::new(interface)?;
    // SAFETY: `name` ends with a zero byte.
    let index = unsafe { libc::if_nametoindex(name.as_ptr()) };
    if index == 0 {
        return Err(io::Error::last_os_error());
    }
    let flags = libc::SOCK_RAW | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
    // SAFETY: no pointers; the descriptor is new and owned by nobody else.
    let fd = unsafe { OwnedFd::from_raw_fd(check(libc::socket(libc::AF_PACKET, flags, 0))?) };
    set(&fd, libc::SOL_PACKET, PACKET_IGNORE_OUTGOING, &1i32)?;
    set(&fd, libc::SOL_PACKET, libc::PACKET_AUXDATA, &1i32)?;
    set(&fd, libc::SOL_SOCKET, libc::SO_TIMESTAMPNS, &1i32)?;
    Ok((fd, index as c_int))
}

/// Binds a packet socket to an interface: it receives frames of this protocol.
fn bind(fd: &OwnedFd, index: c_int, protocol: u16) -> io::Result<()> {
    // SAFETY: all bits zero is a valid sockaddr_ll.
    let mut address: libc::sockaddr_ll = unsafe { zeroed() };
    address.sll_family = libc::AF_PACKET as u16;
    address.sll_protocol = protocol;
    address.sll_ifindex = index;
    // SAFETY: the pointer and the length are those of `address`.
    check(unsafe {
        let pointer = std::ptr::from_ref(&address).cast();
        libc::bind(fd.as_raw_fd(), pointer, size_of::<libc::sockaddr_ll>() as u32)
    })?;
    Ok(())
}

/// Opens a socket that receives all frames that come in by an interface, and keeps so many bytes
/// until it is read.
pub(crate) fn open_receiving(interface: &str, buffer: c_int) -> io::Result<OwnedFd> {
    let (fd, index) = packet_socket(interface)?;
    // the first is for root only, the second is limited by net.core.rmem_max
    if set(&fd, libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, &buffer).is_err() {
        set(&fd, libc::SOL_SOCKET, libc::SO_RCVBUF, &buffer)?;
    }
    let request = libc::packet_mreq {
        mr_ifindex: index,
        mr_type: libc::PACKET_MR_PROMISC as u16,
        mr_alen: 0,
        mr_address: [0; 8],
    };
    set(&fd, libc::SOL_PACKET, libc::PACKET_ADD_MEMBERSHIP, &request)?;
    bind(&fd, index, (libc::ETH_P_ALL as u16).to_be())?;
    Ok(fd)
}

/// Opens a socket that sends by an interface and receives nothing.
pub(crate) fn open_sending(interface: &str) -> io::Result<OwnedFd> {
    let (fd, index) = packet_socket(interface)?;
    bind(&fd, index, 0)?;
    Ok(fd)
}

/// Sends a frame.
pub(crate) fn send(fd: &OwnedFd, frame: &[u8]) -> io::Result<()> {
    // SAFETY: the pointer and the length are those of `frame`.
    let sent = unsafe {
        libc::send(fd.as_raw_fd(), frame.as_ptr().cast(), frame.len(), libc::MSG_DONTWAIT)
    };
    match sent {
        ..0 => Err(io::Error::last_os_error()),
        n if n as usize == frame.len() => Ok(()),
        _ => Err(io::Error::from(io::ErrorKind::WriteZero)),
    }
}

/// Receives a frame, if there is one; what does not fit into the buffer is cut off.
pub(crate) fn receive(fd: &OwnedFd, buffer: &mut [u8]) -> io::Result<Option<Meta>> {
    let mut part = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
    let mut control = [0u64; 32];
    // SAFETY: all bits zero is a valid msghdr.
    let mut message: libc::msghdr = unsafe { zeroed() };
    message.msg_iov = &mut part;
    message.msg_iovlen = 1;
    message.msg_control = control.as_mut_ptr().cast();
    message.msg_controllen = size_of::<[u64; 32]>() as _;
    // SAFETY: `message` points to `part` and `control`, which live until the end of the function.
    let len = unsafe { libc::recvmsg(fd.as_raw_fd(), &mut message, libc::MSG_DONTWAIT) };
    if len < 0 {
        let error = io::Error::last_os_error();
        return match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted => Ok(None),
            _ => Err(error),
        };
    }
    let mut meta = Meta { len: len as usize, stamp: None, vlan: None, unfinished: false };
    // SAFETY: `message` is as the kernel has left it: the macros stay within `control`, and what
    // they point to has the type that level and type say. It may not be aligned.
    unsafe {
        let mut header = libc::CMSG_FIRSTHDR(&message);
        while let Some(cmsg) = header.as_ref() {
            let data = libc::CMSG_DATA(cmsg);
            match (cmsg.cmsg_level, cmsg.cmsg_type) {
                (libc::SOL_SOCKET, libc::SCM_TIMESTAMPNS) => {
                    let time = data.cast::<libc::timespec>().read_unaligned();
                    meta.stamp = Some(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64);
                }
                (libc::SOL_PACKET, libc::PACKET_AUXDATA) => {
                    let aux = data.cast::<libc::tpacket_auxdata>().read_unaligned();
                    let valid = aux.tp_status & libc::TP_STATUS_VLAN_VALID != 0;
                    meta.vlan = valid.then_some(aux.tp_vlan_tci);
                    meta.unfinished = aux.tp_status & libc::TP_STATUS_CSUMNOTREADY != 0;
                }
                _ => {}
            }
            header = libc::CMSG_NXTHDR(&message, header);
        }
    }
    Ok(Some(meta))
}

/// How many frames the kernel has dropped since the last call because the socket was full.
pub(crate) fn drops(fd: &OwnedFd) -> io::Result<u64> {
    // SAFETY: all bits zero is a valid tpacket_stats.
    let mut found: libc::tpacket_stats = unsafe { zeroed() };
    let mut len = size_of::<libc::tpacket_stats>() as u32;
    // SAFETY: the pointers are those of `found` and `len`, which is its length.
    check(unsafe {
        let pointer = std::ptr::from_mut(&mut found).cast::<c_void>();
        let name = libc::PACKET_STATISTICS;
        libc::getsockopt(fd.as_raw_fd(), libc::SOL_PACKET, name, pointer, &mut len)
    })?;
    Ok(found.tp_drops.into())
}

/// The error that a socket keeps for the next call, if there is one: its interface is down.
pub(crate) fn pending_error(fd: &OwnedFd) -> io::Result<()> {
    let mut code: c_int = 0;
    let mut len = size_of::<c_int>() as u32;
    // SAFETY: the pointers are those of `code` and `len`, which is its length.
    check(unsafe {
        let pointer = std::ptr::from_mut(&mut code).cast::<c_void>();
        libc::getsockopt(fd.as_raw_fd(), libc::SOL_SOCKET, libc::SO_ERROR, pointer, &mut len)
    })?;
    if code == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(code)) }
}

/// Runs this thread before all others that are not like it, if that is allowed.
pub(crate) fn real_time() -> io::Result<()> {
    // SAFETY: all bits zero is a valid sched_param, and 0 is this thread.
    check(unsafe {
        let mut parameter: libc::sched_param = zeroed();
        parameter.sched_priority = 10;
        libc::sched_setscheduler(0, libc::SCHED_FIFO, &parameter)
    })?;
    Ok(())
}
