//! A second example: *Credits*. A node sends what its neighbour has granted and no more, so that
//! nobody is ever paused and no headroom is needed. A credit is returned when a packet has left.

use weir_core::control::OwnMessage;
use weir_core::reason::{Measured, Quantity};
use weir_core::{
    Bytes, ControlMessage, Packet, PortId, Priority, PrioritySet, QueueId, Reason, Time,
};
use weir_fc::*;

const LIMIT: Param = Param {
    name: "limit",
    kind: Kind::Size(&[]),
    fallback: Fallback::Is("60KB"),
    doc: "Most bytes of a priority on a link and in the memory behind it.",
};
/// Time without credits after which a sender asks for them: some may have been lost.
const RESYNC: Time = Time::from_us(200);

pub(crate) static INFO: SchemeInfo = SchemeInfo {
    name: "credits",
    title: "Credits",
    summary: "A node sends what its neighbour has granted.",
    reference: "the guide to writing schemes",
    params: &[LIMIT],
    lossless: true,
    ingress_bound: |values| IngressBound::Grants(values.bytes(&LIMIT).expect("has a default")),
    many_paths: Ok(()),
    senders: Senders::SwitchesAndHosts,
    reports: |_| true,
    build: |values, setup| Ok(Box::new(Credits::new(values, setup)?)),
};

/// One priority of one port, in bytes since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Account {
    /// As the sender: sent, and returned by the neighbour.
    sent: u64,
    returned: u64,
    /// As the receiver: arrived, gone, and returned.
    came: u64,
    gone: u64,
    told: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Credits {
    schedule: PrioritySchedule,
    lossless: PrioritySet,
    limit: u64,
    frame: u64,
    accounts: Vec<[Account; Priority::COUNT]>,
}

/// Tells the neighbour of a priority how much of it has gone here, or how much was sent to it.
fn tell(port: PortId, words: [u64; 3], reason: Reason, a: &mut Actions) {
    let own = OwnMessage { scheme: INFO.name, words: words.to_vec(), body: 10, pauses: vec![] };
    a.send(port, ControlMessage::Own(Box::new(own)), reason);
}
const GONE: u64 = 0;
const SENT: u64 = 1;

/// The timer of a sender that waits for credits.
fn waits(port: PortId, p: Priority) -> TimerKey {
    TimerKey { kind: 0, port, index: u32::from(p.get()) }
}

impl Credits {
    pub(crate) fn new(values: &Values, setup: &NodeSetup<'_>) -> Result<Self, ParamError> {
        let limit = values.bytes(&LIMIT).expect("has a default").get();
        if limit < 2 * setup.max_frame.get() {
            return Err(ParamError(format!("limit is below two frames: {limit} B")));
        }
        let accounts = vec![Default::default(); setup.ports.len()];
        let (schedule, lossless, frame) = (*setup.schedule, setup.lossless, setup.max_frame.get());
        Ok(Self { schedule, lossless, limit, frame, accounts })
    }

    /// Returns the credits of what has gone.
    fn give_back(&mut self, port: PortId, p: Priority, reason: Reason, a: &mut Actions) {
        let account = &mut self.accounts[port.index()][p.index()];
        account.told = account.gone;
        a.replenished(port, p, reason);
        tell(port, [u64::from(p.get()), GONE, account.gone], reason, a);
    }

    /// Holds a priority with less credit than for a frame, and opens it otherwise.
    fn settle(&mut self, now: Time, port: PortId, p: Priority, a: &mut Actions) {
        let account = &self.accounts[port.index()][p.index()];
        if account.sent - account.returned + self.frame <= self.limit {
            a.open(port, Target::Priority(p));
            return a.cancel(waits(port, p));
        }
        a.hold(port, Target::Priority(p));
        a.arm(waits(port, p), now + RESYNC);
    }

    /// `came` bytes arrived with `p`, and `gone` bytes of it are here no more. Credits are returned
    /// a quarter of the limit at a time.
    fn count(&mut self, p: &Packet, came: u16, gone: u16, a: &mut Actions) {
        if self.lossless.contains(p.priority) {
            let account = &mut self.accounts[p.ingress.index()][p.priority.index()];
            account.came += u64::from(came);
            account.gone += u64::from(gone);
            let (to_return, out) = (account.gone - account.told, account.came - account.told);
            let grant = |n| Measured::new(Quantity::Grant, p.ingress, Bytes::new(n));
            if to_return >= self.limit / 4 {
                let reason = grant(to_return).at_least("limit/4", Bytes::new(self.limit / 4));
                self.give_back(p.ingress, p.priority, reason, a);
            } else if out + self.frame > self.limit {
                let most = Bytes::new(self.limit - self.frame);
                a.exhausted(p.ingress, p.priority, grant(out).above("limit - frame", most));
            }
        }
    }
}

impl FlowControl for Credits {
    fn layout(&self, _: PortId) -> QueueLayout {
        QueueLayout::per_priority(&self.schedule)
    }

    fn arrive(&mut self, _: &NodeView<'_>, p: &mut Packet, _: PortId, a: &mut Actions) -> QueueId {
        self.count(p, p.size, 0, a);
        QueueId(self.schedule.queue_of()[p.priority.index()])
    }

    fn depart(&mut self, v: &NodeView<'_>, p: &mut Packet, from: PortQueue, a: &mut Actions) {
        if v.books.role == Role::Switch {
            self.count(p, 0, p.size, a);
        }
        if self.lossless.contains(p.priority) {
            self.accounts[from.port.index()][p.priority.index()].sent += u64::from(p.size);
            self.settle(v.now, from.port, p.priority, a);
        }
    }

    /// What was refused came and went.
    fn discard(
        &mut self,
        _: &NodeView<'_>,
        p: &mut Packet,
        from: Option<PortQueue>,
        a: &mut Actions,
    ) {
        self.count(p, if from.is_none() { p.size } else { 0 }, p.size, a);
    }

    fn delivered(&mut self, _: &NodeView<'_>, p: &Packet, a: &mut Actions) {
        self.count(p, p.size, p.size, a);
    }

    fn control(&mut self, v: &NodeView<'_>, port: PortId, m: &ControlMessage, a: &mut Actions) {
        let ControlMessage::Own(own) = m else { return };
        let words = (own.scheme == INFO.name).then_some(own.words.as_slice());
        let Some(&[p, what, total]) = words else { return };
        let Some(&p) = Priority::ALL.get(p as usize) else { return };
        let account = &mut self.accounts[port.index()][p.index()];
        if what == GONE {
            account.returned = total;
            return self.settle(v.now, port, p, a);
        }
        // what was sent and did not come was lost
        account.gone += total - account.came;
        account.came = total;
        self.give_back(port, p, Reason::Words("the neighbour asked"), a);
    }

    /// The sender asks. It is held, so that nothing is on its way when the question arrives.
    fn timer(&mut self, v: &NodeView<'_>, key: TimerKey, a: &mut Actions) {
        let sent = self.accounts[key.port.index()][key.index as usize].sent;
        let reason = Reason::Words("no credit for a while");
        tell(key.port, [u64::from(key.index), SENT, sent], reason, a);
        a.arm(key, v.now + RESYNC);
    }

    fn link(&mut self, v: &NodeView<'_>, port: PortId, link: LinkState, a: &mut Actions) {
        for p in self.lossless.iter() {
            a.open(port, Target::Priority(p));
            a.cancel(waits(port, p));
            if link.is_up() {
                // held until the neighbour says what it has lost; by the time we ask, what came
                // before the failure is in its memory
                a.hold(port, Target::Priority(p));
                a.arm(waits(port, p), v.now + v.port(port).neighbour.latency);
            }
        }
    }

    fn audit(&self, _: &NodeView<'_>, network: Network) -> Result<(), Violation> {
        let owed =
            self.accounts.iter().flatten().find(|x| network.is_drained() && x.came != x.gone);
        owed.map_or(Ok(()), |x| Err(Violation { scheme: INFO.name, what: format!("owed: {x:?}") }))
    }

    fn state_size(&self) -> StateSize {
        StateSize { tables: vec![("credit counters", self.accounts.len() as u64 * 8 * 15)] }
    }
}

impl Hints for Credits {}

pub(crate) fn main() {
    let (input, output) = (PortId(0), PortId(1));
    let mut bench = harness::Bench::switch(&INFO, &Values::new(), 2);
    let packets = (0..40).map(|seq| bench.packet(input, 1000).seq(seq));
    let queue = packets.collect::<Vec<_>>().into_iter().map(|p| bench.arrive(p, output)).last();
    while bench.depart(output, queue.expect("some packets came")).is_some() {}
    println!("40 packets in, {} messages back", bench.take_sent().len());
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_fc::explore::explore;
    use weir_fc::explore::line::{Line, LineFlow};
    use weir_fc::harness::{Bench, PRIORITY};

    #[test]
    fn a_sender_stops_when_its_credit_is_less_than_a_frame() {
        let mut bench = Bench::switch(&INFO, &Values::new(), 2);
        let queue =
            (0..60).map(|seq| bench.arrive(bench.packet(PortId(0), 1000).seq(seq), PortId(1)));
        let queue = queue.last().expect("packets came");
        while bench.depart(PortId(1), queue).is_some() {}
        // 60 KB less a frame of 1518 B are 58 packets and a bit: the 59th may start, no other
        assert_eq!(bench.queue(PortId(1), queue).count(), 1);
        let words = vec![u64::from(PRIORITY.get()), GONE, 30_000];
        let own = OwnMessage { scheme: INFO.name, words, body: 10, pauses: Vec::new() };
        bench.control(PortId(1), &ControlMessage::Own(Box::new(own)));
        assert!(bench.depart(PortId(1), queue).is_some(), "the neighbour has returned 30 KB");
    }

    #[test]
    fn every_credit_comes_back_in_any_order_of_events() {
        // a limit of two packets of 1000 B beside a frame of 1518 B
        let mut values = Values::new();
        values.set(&LIMIT, "4KB").expect("a size");
        let credits = |setup: &NodeSetup<'_>| Credits::new(&values, setup).expect("two frames");
        let node = || Bench::around(4, "75KB", "45KB", credits);
        let flow = |enter, packets| LineFlow::new(enter, (1, 2), packets, 1000);
        let mut line = Line::new(vec![node(), node()], vec![flow((0, 2), 5), flow((1, 3), 2)])
            .with_hosts(|slots| Bench::host(slots, "75KB", "45KB", credits));
        // nothing is lost on a line, so that nobody need ask
        line.timers_fire = false;
        let seen = explore(&line, 2_000_000);
        assert!(seen.failure.is_none() && seen.complete, "{:?}", seen.failure);
        assert!(seen.coverage.held > 0 && seen.coverage.hosts_held > 0, "{:?}", seen.coverage);
    }
}
