use super::*;
use weir_cc::{CcKind, CcParams};
use weir_core::{NodeId, Rate};

fn spec(size: u64) -> FlowSpec {
    FlowSpec::new(NodeId(0), NodeId(1), Bytes::new(size))
}

#[test]
fn the_last_packet_carries_the_rest() {
    assert_eq!(packets(&spec(4500), 1500), (3, 1500));
    assert_eq!(packets(&spec(4501), 1500), (4, 1));
    assert_eq!(packets(&spec(1), 1500), (1, 1));
    assert_eq!(packets(&spec(u64::MAX), 1500), (u32::MAX, 1500));
}

/// Whether the window is worked out once or looked at each time, it is the same window.
#[test]
fn a_fixed_window_allows_what_its_bytes_allow() {
    let path = Path {
        line_rate: Rate::from_gbps(100),
        base_rtt: Time::from_us(4),
        bdp: Bytes::new(50_000),
        mtu: Bytes::new(1500),
        hops: 1,
    };
    let windows = [1, 1499, 1500, 1501, 4500, 4501].map(|w| WindowConfig::Bytes(Bytes::new(w)));
    for window in windows.into_iter().chain([WindowConfig::Unlimited, WindowConfig::FromCc]) {
        let nic = NicConfig { window, ..NicConfig::default() };
        let cc = CcParams::new(CcKind::None).start(&path);
        let mut s = Sender::new(spec(9000), 0, cc, false, &path, &nic);
        assert!(s.fixed_window != 0, "{window:?}");
        for (una, nxt) in (0..=6).flat_map(|una| (una..=6).map(move |nxt| (una, nxt))) {
            (s.una, s.nxt) = (una, nxt);
            assert_eq!(s.has_data(), s.has_data_now(), "{window:?} {una}..{nxt}");
        }
    }
    // 80 ps a byte
    let cc = CcParams::new(CcKind::None).start(&path);
    assert_eq!(fixed_pace(&cc), 80);
    let odd = Path { line_rate: Rate::from_gbps(3), ..path };
    assert_eq!(fixed_pace(&CcParams::new(CcKind::None).start(&odd)), 0, "not a whole number");
    assert_eq!(fixed_pace(&CcParams::new(CcKind::Dcqcn).start(&path)), 0, "it changes");
    let nic = NicConfig { window: WindowConfig::FromCc, ..NicConfig::default() };
    let changing = CcParams::new(CcKind::Hpcc).start(&path);
    assert_eq!(fixed_window(&spec(9000), &changing, &nic), 0);
}

#[test]
fn a_constant_rate_flow_ends_at_its_stop() {
    // 10 Gb/s, 1250 B: a packet every 1 us, at 0, 1, 2 us; the one at 3 us is too late
    let mut s = spec(u64::MAX);
    s.rate = Some(Rate::from_gbps(10));
    s.stop = Some(Time::from_us(3));
    assert_eq!(packets(&s, 1250), (3, 1250));
    s.stop = Some(Time::from_ps(3_000_001));
    assert_eq!(packets(&s, 1250), (4, 1250));
}

/// The priority is held from 10 to 40 us, the flow itself from 20 to 60 us: 50 us in all.
#[test]
fn time_held_twice_counts_once() {
    let us = Time::from_us;
    let path = Path {
        line_rate: Rate::from_gbps(100),
        base_rtt: us(4),
        bdp: Bytes::new(50_000),
        mtu: Bytes::new(1500),
        hops: 1,
    };
    let cc = CcParams::new(CcKind::None).start(&path);
    let mut s = Sender::new(spec(9000), 0, cc, false, &path, &NicConfig::default());
    let mut priority = HoldClock::default();
    priority.start(us(10));
    s.note_hold(HoldState::Held, priority.read(us(20)), us(20));
    assert_eq!(s.held_time(priority.read(us(30)), us(30)), us(20));
    priority.stop(us(40));
    s.note_hold(HoldState::Open, priority.read(us(60)), us(60));
    assert_eq!(s.held_time(priority.read(us(70)), us(70)), us(50));
    priority.start(us(70));
    assert_eq!(s.held_time(priority.read(us(75)), us(75)), us(55));
}
