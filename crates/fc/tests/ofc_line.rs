//! OFC on a line of three switches, searched exhaustively: every order in which packets come in,
//! ports serve, packets and frames arrive. The flows are those of the OFC paper's Fig. 1 in
//! small: F0 and F1 share the line and part at its end, F2 joins F1 there.
//!
//! ```text
//!   F0, F1 ─► node 0 ──► node 1 ──► node 2 ─┬─► F0
//!                                    F2 ─►  └─► F1, F2
//! ```
//!
//! Packets are one byte each, so thresholds count packets. No packet is reordered or
//! stranded, no paused flow is sent, and in the end all tables are empty. The literal readings
//! of the listings break this also in the closed loop; the shortest ways are kept.

use LineStep::{Arrive, Enter, Tell};
use weir_core::{PortId, QueueId};
use weir_fc::explore::line::{Line, LineFlow, LineStep};
use weir_fc::explore::{Model, explore, replay};
use weir_fc::harness::Bench;
use weir_fc::ofc::{self, Ofc};
use weir_fc::{Param, Values};

/// Nodes that pause all flows at `xoff`, congested ones at `congested`, and resume at `xon`.
struct Thresholds {
    xoff: &'static str,
    congested: &'static str,
    xon: &'static str,
}

const LOW: Thresholds = Thresholds { xoff: "3B", congested: "2B", xon: "1B" };
/// The urgent state is further away.
const WIDE: Thresholds = Thresholds { xoff: "4B", congested: "2B", xon: "1B" };
const WIDER: Thresholds = Thresholds { xoff: "6B", congested: "2B", xon: "1B" };

fn values(t: &Thresholds, options: &[(&Param, &str)]) -> Values {
    let mut values = Values::new();
    values.set(&ofc::XOFF_CONGESTED, t.congested).unwrap();
    values.set(&ofc::FLOW_KEY, "pair").unwrap();
    for (param, text) in options {
        values.set(param, text).unwrap();
    }
    values
}

fn nodes(n: usize, t: &Thresholds, options: &[(&Param, &str)]) -> Vec<Bench<Ofc>> {
    let values = values(t, options);
    let node = |_| Bench::around(5, t.xoff, t.xon, |setup| Ofc::new(&values, setup).unwrap());
    (0..n).map(node).collect()
}

/// Fig. 1 in small, with so many packets of F0, F1 and F2.
fn fig_1(n: usize, t: &Thresholds, options: &[(&Param, &str)], packets: [u32; 3]) -> Line<Ofc> {
    let end = n - 1;
    let flows = vec![
        LineFlow::new((0, 2), (end, 2), packets[0], 1),
        LineFlow::new((0, 2), (end, 3), packets[1], 1),
        LineFlow::new((end, 4), (end, 3), packets[2], 1),
    ];
    let mut line = Line::new(nodes(n, t, options), flows);
    line.in_flight = 1;
    line
}

fn holds(line: &Line<Ofc>) {
    let seen = explore(line, 2_000_000);
    assert_eq!(seen.failure, None);
    assert!(seen.complete, "{} states", seen.states);
    // OFC holds no queue: paused flows step aside into others while frames tell them apart
    assert!(seen.coverage.frames > 0, "{:?}", seen.coverage);
}

/// 214 320 states.
#[test]
fn three_switches_and_three_flows_keep_every_promise() {
    holds(&fig_1(3, &LOW, &[], [1, 3, 1]));
}

/// More packets on the wires and a wider range between the thresholds.
#[test]
fn two_packets_in_flight_change_nothing() {
    for mut line in [fig_1(3, &WIDE, &[], [1, 2, 1]), fig_1(2, &WIDE, &[], [2, 4, 0])] {
        line.in_flight = 2;
        holds(&line);
    }
}

/// A shorter line takes longer flows: several pauses of the same flow, one in the drain of
/// another.
#[test]
fn a_hop_with_many_pauses_keeps_every_promise() {
    holds(&fig_1(2, &WIDE, &[], [1, 5, 1]));
    holds(&fig_1(2, &WIDER, &[], [3, 3, 0]));
    holds(&two_to_one(&[], [2, 4]));
}

/// The urgent state with a list instead of the wildcard, and flows told apart one by one.
#[test]
fn options_that_are_no_defects_keep_every_promise() {
    holds(&fig_1(2, &LOW, &[(&ofc::URGENT_WILDCARD, "false")], [1, 4, 1]));
    let mut line = fig_1(2, &LOW, &[(&ofc::FLOW_KEY, "flow")], [1, 4, 1]);
    // the model reads pauses off frames that name host pairs
    line.obeys = false;
    holds(&line);
}

/// Hosts obey the frames of their switches: a flow is stopped from its source on.
#[test]
fn hosts_that_run_ofc_keep_every_promise() {
    let values = values(&LOW, &[]);
    let host =
        |slots| Bench::host(slots, LOW.xoff, LOW.xon, |setup| Ofc::new(&values, setup).unwrap());
    let seen = explore(&fig_1(2, &LOW, &[], [1, 3, 1]).with_hosts(host), 2_000_000);
    assert_eq!(seen.failure, None);
    assert!(seen.complete && seen.coverage.hosts_held > 0, "{:?}", seen.coverage);
}

/// Naming flows that the neighbour does not send is useless, but breaks nothing.
#[test]
fn whole_tables_break_no_promise() {
    holds(&fig_1(2, &WIDE, &[(&ofc::SCOPE, "port")], [1, 4, 1]));
}

/// Two flows from different hosts that leave by the same port.
fn two_to_one(options: &[(&Param, &str)], packets: [u32; 2]) -> Line<Ofc> {
    let flows = vec![
        LineFlow::new((0, 2), (1, 2), packets[0], 1),
        LineFlow::new((0, 3), (1, 2), packets[1], 1),
    ];
    let mut line = Line::new(nodes(2, &WIDE, options), flows);
    line.in_flight = 1;
    line
}

/// The first node serves its normal queue or its first backup.
const NORMAL: LineStep = LineStep::Serve { node: 0, port: PortId(1), queue: QueueId(6) };
const BACKUP: LineStep = LineStep::Serve { node: 0, port: PortId(1), queue: QueueId(4) };
/// A packet of F1 (and F2) or F0 leaves the second node.
const OUT_1: LineStep = LineStep::Serve { node: 1, port: PortId(3), queue: QueueId(6) };
const OUT_0: LineStep = LineStep::Serve { node: 1, port: PortId(2), queue: QueueId(6) };
const IN_0: LineStep = Enter { flow: 0 };
const IN_1: LineStep = Enter { flow: 1 };
const ARRIVE: LineStep = Arrive { link: 0 };
const TELL: LineStep = Tell { link: 0 };

/// The search finds nothing shorter than `steps`, which end in `what`.
fn fails(line: &Line<Ofc>, steps: &[LineStep], what: &str) {
    let found = explore(line, 200_000).failure.expect("a literal reading fails");
    assert_eq!(found.steps.len(), steps.len(), "found: {found:?}");
    let end = match replay(line, steps) {
        Err(failure) => Some(failure.what),
        Ok(state) => line.settled(&state).err(),
    };
    assert_eq!(end.as_deref(), Some(what));
}

/// PAUSE, RESUME, PAUSE, RESUME while two packets wait upstream: the second one ends up in the
/// backup that is never served again.
#[test]
fn rotating_back_strands_a_packet() {
    let steps = [
        IN_1, NORMAL, ARRIVE, IN_1, NORMAL, ARRIVE, // two packets: a PAUSE
        TELL, OUT_1, // one leaves: a RESUME
        IN_1, IN_1, NORMAL, // two packets step aside into backup 1
        TELL, BACKUP, ARRIVE, // the drain sends one: a PAUSE again
        TELL, OUT_1, TELL,   // and a RESUME
        BACKUP, // the other one has stepped aside into backup 2, the mark comes out
        OUT_1,
    ];
    let line = fig_1(2, &WIDE, &[(&ofc::ROTATION, "back")], [0, 4, 0]);
    fails(&line, &steps, "1 of 4 packets of flow 1 are stranded");
}

/// The same, with a packet that came later and is served from the normal queue first.
#[test]
fn rotating_modulo_two_reorders() {
    let steps = [
        IN_1, NORMAL, ARRIVE, IN_1, NORMAL, ARRIVE, TELL, OUT_1, IN_1, IN_1, NORMAL, TELL, BACKUP,
        ARRIVE, TELL, OUT_1, TELL, OUT_1, IN_1, BACKUP, NORMAL, ARRIVE, OUT_1,
    ];
    let line = fig_1(2, &WIDE, &[(&ofc::ROTATION, "modulo")], [0, 5, 0]);
    fails(&line, &steps, "packet 4 of flow 1 leaves before packet 3");
}

/// The frames of a real neighbour suffice to show what resuming at once does.
#[test]
fn resuming_at_once_reorders() {
    let steps = [
        IN_0, NORMAL, ARRIVE, IN_1, NORMAL, ARRIVE, TELL, OUT_0, // both paused, then resumed
        IN_1, IN_1, IN_0, IN_1, NORMAL, // 1 1 0 1 in backup 1
        TELL, BACKUP, ARRIVE, TELL,   // one sent, and flow 1 is paused again
        BACKUP, // its next packet steps aside, flow 0's is sent
        OUT_0, TELL, ARRIVE, // resumed at once ...
        BACKUP, // ... the last one overtakes
        ARRIVE, OUT_0, OUT_0, OUT_0,
    ];
    let line = two_to_one(&[(&ofc::DURING_DRAIN, "at-once")], [2, 4]);
    fails(&line, &steps, "packet 3 of flow 1 leaves before packet 2");
}

/// After everything has left there is nobody to trigger the test.
#[test]
fn testing_for_resume_on_enqueue_only_never_resumes() {
    let steps = [IN_1, NORMAL, ARRIVE, IN_1, NORMAL, ARRIVE, TELL, OUT_1, OUT_1, IN_1, NORMAL];
    let line = fig_1(2, &WIDE, &[(&ofc::RESUME_TEST, "enqueue")], [0, 3, 0]);
    fails(&line, &steps, "1 of 3 packets of flow 1 are stranded");
}

/// F0 is paused, then F1; the RESUME names F1 only.
#[test]
fn overwriting_the_table_of_pauses_strands_a_flow() {
    let steps = [
        IN_0, NORMAL, ARRIVE, IN_0, NORMAL, ARRIVE, TELL, // F0 is paused
        IN_0, IN_1, NORMAL, ARRIVE, OUT_0, IN_1, NORMAL, ARRIVE, TELL, // F1 is paused
        OUT_0, OUT_1, TELL, // and resumed
        BACKUP, OUT_1,
    ];
    let line = fig_1(2, &WIDER, &[(&ofc::PAUSE_TABLE, "overwrite")], [3, 2, 0]);
    fails(&line, &steps, "1 of 3 packets of flow 0 are stranded");
}
