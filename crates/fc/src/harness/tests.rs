//! The node around the scheme.

use super::*;
use crate::none::NoFlowControl;

const PORT: PortId = PortId(0);
/// The queue of the bench's priority.
const Q: QueueId = QueueId(4);

fn bench() -> Bench<NoFlowControl> {
    Bench::around(1, "75KB", "45KB", |setup| NoFlowControl::new(setup.schedule))
}

fn ask(b: &mut Bench<NoFlowControl>, ask: impl FnOnce(&mut Actions)) {
    let mut a = Actions::new();
    ask(&mut a);
    b.carry_out(&mut a);
}

#[test]
fn holding_what_is_held_and_opening_what_is_open_change_nothing() {
    for target in [Target::Priority(PRIORITY), Target::Queue(Q)] {
        let mut b = bench();
        for held in [true, true, false, false] {
            ask(&mut b, |a| if held { a.hold(PORT, target) } else { a.open(PORT, target) });
            assert_eq!(b.is_held(PORT, Q), held);
        }
    }
}

/// As in a switch: a scheme that leaves its marks to be sent fails on the bench, not only in a run.
#[test]
#[should_panic(expected = "marks are never sent")]
fn a_mark_that_nobody_looks_at_is_an_error() {
    let mut b = bench();
    ask(&mut b, |a| a.mark(PORT, Q, 7));
    b.arrive(b.packet(PORT, 1000).seq(5), PORT);
    b.depart(PORT, Q);
}
