//! Actions that a scheme requests from its node.

use weir_core::{ControlMessage, PortId, Priority, QueueId, Rate, Reason, Time};

/// What a hold applies to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Target {
    /// One queue of the port; on a NIC one flow slot.
    Queue(QueueId),
    /// All queues of a priority, present and future.
    Priority(Priority),
}

/// Whether the target of a hold may send.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HoldState {
    /// It may not.
    Held,
    /// It may.
    Open,
}

impl HoldState {
    /// What a message asks for that pauses something, or resumes it.
    #[inline]
    pub fn of(pause: bool) -> Self {
        if pause { Self::Held } else { Self::Open }
    }

    /// Whether it may not send.
    #[inline]
    pub fn is_held(self) -> bool {
        self == Self::Held
    }
}

/// Names a timer of a scheme, made with [`timers!`](crate::timers). A key is armed at most once;
/// arming it again moves it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TimerKey {
    /// Which of the scheme's timers, as a number.
    pub kind: u8,
    /// The port concerned.
    pub port: PortId,
    /// A queue, a priority, a table entry.
    pub index: u32,
}

/// Whether a run goes on for a timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TimerClass {
    /// It lasts until the timer has fired.
    Foreground,
    /// It may end before: the timer is periodic.
    Background,
}

/// Declares the timers of a scheme as an enum. Numbers tell the timers of a scheme apart from those
/// of another scheme inside it, and order timers that fire at the same instant.
///
/// ```
/// use weir_core::PortId;
/// weir_fc::timers! {
///     /// The timers of a scheme.
///     enum Timer {
///         /// Repeats what was said at a port.
///         Refresh = 0,
///         /// Lets a queue go on.
///         Resume = 1,
///     }
/// }
/// let key = Timer::Resume.key(PortId(2), 7);
/// assert_eq!(Timer::of(key), Timer::Resume);
/// assert_eq!((key.port, key.index), (PortId(2), 7));
/// ```
#[macro_export]
macro_rules! timers {
    (
        $(#[$doc:meta])*
        $vis:vis enum $name:ident { $( $(#[$each:meta])* $timer:ident = $number:expr, )* }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        $vis enum $name {
            $( $(#[$each])* $timer = $number, )*
        }

        impl $name {
            /// The timer of a port; `index` tells several of a kind apart.
            $vis fn key(self, port: $crate::weir_core::PortId, index: u32) -> $crate::TimerKey {
                $crate::TimerKey { kind: self as u8, port, index }
            }

            /// Which timer a key stands for.
            ///
            /// # Panics
            /// When it is not one of these.
            $vis fn of(key: $crate::TimerKey) -> Self {
                match key.kind {
                    $( kind if kind == Self::$timer as u8 => Self::$timer, )*
                    other => unreachable!("no timer of this scheme has number {other}"),
                }
            }
        }
    };
}

/// One request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Send a control frame to the neighbour at `port`.
    Send {
        /// Where to.
        port: PortId,
        /// What.
        message: ControlMessage,
        /// Why: for the log of pauses and for captures. It is not sent.
        reason: Reason,
    },
    /// Start no further packet of `target`. Holding what is held is a no-op.
    Hold {
        /// The egress port.
        port: PortId,
        /// Which queues.
        target: Target,
    },
    /// Lift a hold. Opening what is open is a no-op. A queue transmits when neither it nor
    /// its priority is held.
    Open {
        /// The egress port.
        port: PortId,
        /// Which queues.
        target: Target,
    },
    /// Limit a priority of an egress port to `rate`; `None` lifts the limit.
    Limit {
        /// The egress port.
        port: PortId,
        /// The priority.
        priority: Priority,
        /// Its new rate.
        rate: Option<Rate>,
    },
    /// Append an order mark to a queue. It takes no room and no time; it comes back through
    /// `serve` when it reaches the head.
    Mark {
        /// The egress port.
        port: PortId,
        /// The queue.
        queue: QueueId,
        /// Handed back in the mark's `wire_tag`.
        mark: u32,
    },
    /// (Re-)arm a timer.
    Arm {
        /// Which.
        key: TimerKey,
        /// When it fires.
        at: Time,
        /// Whether the run waits for it.
        class: TimerClass,
    },
    /// Disarm a timer; a no-op when it is not armed.
    Cancel {
        /// Which.
        key: TimerKey,
    },
    /// The neighbour at `port` has no grant left for `priority`: it must not send, and no message
    /// has told it so. For pause counts and the pause tree only; nothing is sent or held.
    Exhausted {
        /// The ingress port.
        port: PortId,
        /// The priority.
        priority: Priority,
        /// Why.
        reason: Reason,
    },
    /// The neighbour at `port` has been granted more of `priority` after
    /// [`Exhausted`](Self::Exhausted).
    Replenished {
        /// The ingress port.
        port: PortId,
        /// The priority.
        priority: Priority,
        /// Why.
        reason: Reason,
    },
    /// Look at the port again: something a `Wait` verdict depended on has changed.
    Retry {
        /// The egress port.
        port: PortId,
    },
}

/// A reused list of requests, carried out in order when the hook returns.
#[derive(Debug, Default)]
pub struct Actions {
    list: Vec<Action>,
}

impl Actions {
    /// An empty list.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sends `message` to the neighbour at `port`, for `reason`. The reason is what users see in
    /// the log of pauses and in captures: the comparison that made the scheme send the message,
    /// with the numbers of this moment.
    pub fn send(&mut self, port: PortId, message: ControlMessage, reason: Reason) {
        self.list.push(Action::Send { port, message, reason });
    }

    /// Holds `target` at `port`.
    pub fn hold(&mut self, port: PortId, target: Target) {
        self.list.push(Action::Hold { port, target });
    }

    /// Opens `target` at `port`.
    pub fn open(&mut self, port: PortId, target: Target) {
        self.list.push(Action::Open { port, target });
    }

    /// Holds or opens `target` at `port`.
    pub fn set(&mut self, port: PortId, target: Target, state: HoldState) {
        match state {
            HoldState::Held => self.hold(port, target),
            HoldState::Open => self.open(port, target),
        }
    }

    /// Limits a priority of `port` to `rate`.
    pub fn limit(&mut self, port: PortId, priority: Priority, rate: Option<Rate>) {
        self.list.push(Action::Limit { port, priority, rate });
    }

    /// Appends an order mark to a queue.
    pub fn mark(&mut self, port: PortId, queue: QueueId, mark: u32) {
        self.list.push(Action::Mark { port, queue, mark });
    }

    /// Arms a timer that keeps the run alive until it fires.
    pub fn arm(&mut self, key: TimerKey, at: Time) {
        self.list.push(Action::Arm { key, at, class: TimerClass::Foreground });
    }

    /// Arms a timer that does not keep the run alive.
    pub fn arm_background(&mut self, key: TimerKey, at: Time) {
        self.list.push(Action::Arm { key, at, class: TimerClass::Background });
    }

    /// Disarms a timer.
    pub fn cancel(&mut self, key: TimerKey) {
        self.list.push(Action::Cancel { key });
    }

    /// Says that the neighbour at `port` has no grant left for `priority` and must not send.
    pub fn exhausted(&mut self, port: PortId, priority: Priority, reason: Reason) {
        self.list.push(Action::Exhausted { port, priority, reason });
    }

    /// Says that the neighbour at `port` has been granted more of `priority`.
    pub fn replenished(&mut self, port: PortId, priority: Priority, reason: Reason) {
        self.list.push(Action::Replenished { port, priority, reason });
    }

    /// Asks the node to schedule `port` again.
    pub fn retry(&mut self, port: PortId) {
        self.list.push(Action::Retry { port });
    }

    /// Adds a request made elsewhere.
    pub fn push(&mut self, action: Action) {
        self.list.push(action);
    }

    /// Whether nothing was asked for: the usual case, once per packet.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Takes the requests out, in order.
    pub fn drain(&mut self) -> std::vec::Drain<'_, Action> {
        self.list.drain(..)
    }

    /// The requests so far, for tests.
    pub fn as_slice(&self) -> &[Action] {
        &self.list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_empty_until_something_is_asked_and_again_when_it_is_taken_out() {
        let mut a = Actions::new();
        assert!(a.is_empty());
        a.retry(PortId(1));
        assert!(!a.is_empty());
        assert_eq!(a.drain().collect::<Vec<_>>(), [Action::Retry { port: PortId(1) }]);
        assert!(a.is_empty());
    }
}
