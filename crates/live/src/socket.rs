//! The ports of a node as packet sockets.

use crate::foreign::complete_checksum;
use crate::sys;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io;
use std::os::fd::OwnedFd;
use weir_core::PortId;

/// So much a socket keeps until it is read.
const BUFFER: i32 = 64 << 20;
/// No frame is longer.
const LONGEST: usize = 65_536;
/// A send that the kernel refuses is tried again so many times.
const TRIES: u32 = 50;

/// The real time, in nanoseconds since 1970: the clock of the kernel's time stamps.
pub fn real_time_ns() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Realtime);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// One port: control frames have a socket of their own, so data never wait in front of them.
#[derive(Debug)]
struct Port {
    name: String,
    receives: OwnedFd,
    data: OwnedFd,
    control: OwnedFd,
    /// The interface is gone: it is opened again when it is back.
    gone: bool,
}

impl Port {
    fn open(name: &str) -> io::Result<Self> {
        Ok(Self {
            receives: sys::open_receiving(name, BUFFER)?,
            data: sys::open_sending(name)?,
            control: sys::open_sending(name)?,
            name: name.to_owned(),
            gone: false,
        })
    }
}

/// A frame that came in.
#[derive(Clone, Copy, Debug)]
pub struct Received<'a> {
    /// By which port.
    pub port: PortId,
    /// When, in nanoseconds since 1970.
    pub at: u64,
    /// Its 802.1Q tag.
    pub vlan: Option<u16>,
    /// Its bytes, without tag and FCS.
    pub bytes: &'a [u8],
}

/// The ports of a node.
#[derive(Debug)]
pub struct Sockets {
    ports: Vec<Port>,
    buffer: Vec<u8>,
    /// The port that is read next.
    turn: usize,
    /// Frames that the kernel dropped because a socket was full.
    pub dropped: u64,
    /// How often an interface went away and came back.
    pub returned: u64,
    /// When ports that are gone are tried again.
    retry_at: u64,
}

/// What became of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent {
    /// It was sent, after so many refusals.
    After(u32),
    /// The kernel refused it as often as it was tried.
    Never,
}

impl Sockets {
    /// Opens the interfaces `p0`, `p1`, ... of the thread's network namespace.
    pub fn open(ports: usize) -> io::Result<Self> {
        let ports = (0..ports).map(|p| Port::open(&format!("p{p}")));
        Ok(Self {
            ports: ports.collect::<io::Result<_>>()?,
            buffer: vec![0; LONGEST],
            turn: 0,
            dropped: 0,
            returned: 0,
            retry_at: 0,
        })
    }

    /// Takes a frame, if there is one: of each port in turn.
    pub fn receive(&mut self) -> Option<Received<'_>> {
        let count = self.ports.len();
        for _ in 0..count {
            let at = self.turn % count;
            self.turn = at + 1;
            if self.ports[at].gone {
                continue;
            }
            match sys::receive(&self.ports[at].receives, &mut self.buffer) {
                Ok(Some(meta)) => {
                    let bytes = &mut self.buffer[..meta.len.min(LONGEST)];
                    if meta.unfinished {
                        complete_checksum(bytes);
                    }
                    return Some(Received {
                        port: PortId::from_index(at),
                        at: meta.stamp.unwrap_or_else(real_time_ns),
                        vlan: meta.vlan,
                        bytes,
                    });
                }
                Ok(None) => {}
                // the interface is down or away: the others keep working
                Err(_) => self.ports[at].gone = true,
            }
        }
        None
    }

    /// Sends a frame.
    pub fn send(&mut self, port: PortId, control: bool, bytes: &[u8]) -> Sent {
        let port = &mut self.ports[port.index()];
        let socket = if control { &port.control } else { &port.data };
        for tried in 0..TRIES {
            match sys::send(socket, bytes) {
                Ok(()) => return Sent::After(tried),
                Err(error) if busy(&error) => std::thread::yield_now(),
                Err(_) => {
                    port.gone = true;
                    return Sent::Never;
                }
            }
        }
        Sent::Never
    }

    /// Whether the interface of a port is there.
    pub fn is_open(&self, port: PortId) -> bool {
        !self.ports[port.index()].gone
    }

    /// Whether ports are to be opened again whose interfaces were away: at most once in 10 ms.
    pub fn to_reopen(&self, now: u64) -> bool {
        now >= self.retry_at && self.ports.iter().any(|p| p.gone)
    }

    /// Opens them again, in the thread's network namespace.
    pub fn reopen(&mut self, now: u64) {
        self.retry_at = now + 10_000_000;
        for port in self.ports.iter_mut().filter(|p| p.gone) {
            // a socket can be bound to an interface that is down
            let open = Port::open(&port.name);
            if let Ok(open) = open.and_then(|p| sys::pending_error(&p.receives).map(|()| p)) {
                *port = open;
                self.returned += 1;
            }
        }
    }

    /// Asks the kernel for the frames that it has dropped.
    pub fn count_drops(&mut self) {
        for port in self.ports.iter().filter(|p| !p.gone) {
            self.dropped += sys::drops(&port.receives).unwrap_or(0);
        }
    }
}

/// Waits until a frame is there for one of them, or so many nanoseconds have passed.
pub fn wait<'s>(sockets: impl Iterator<Item = &'s Sockets>, ns: u64) {
    let open = sockets.flat_map(|s| &s.ports).filter(|p| !p.gone);
    let mut fds: Vec<PollFd<'_>> = open.map(|p| PollFd::new(&p.receives, PollFlags::IN)).collect();
    // an error is a signal, or the like: the caller looks at everything again
    let _ = poll(&mut fds, Some(&timespec(ns)));
}

/// Lets other programs have the processor for so many nanoseconds.
pub fn sleep(ns: u64) {
    let _ = poll(&mut [], Some(&timespec(ns)));
}

fn timespec(ns: u64) -> Timespec {
    Timespec { tv_sec: (ns / 1_000_000_000) as i64, tv_nsec: (ns % 1_000_000_000) as _ }
}

/// Whether a send may succeed a little later.
fn busy(error: &io::Error) -> bool {
    let code = error.raw_os_error();
    code == Some(libc::ENOBUFS) || error.kind() == io::ErrorKind::WouldBlock
}
