//! What BFC's periodic bitmaps cost on the wire.

use crate::common::{config, flow, run, set, star};
use weir_core::{Bytes, Time};
use weir_sim::Outcome;
use weir_sim::config::Stop;

/// h0 and h1 send to each other at 100 Gb/s over links of 1 us, for 100 us.
fn both_ways(frames: &str) -> Outcome {
    let mut cfg = config("bfc");
    set(&mut cfg, "frames", frames);
    set(&mut cfg, "hop-rtt", "2us");
    cfg.stop = Stop::At(Time::from_us(100));
    run(&star(2, "1us"), &[flow(0, 1, 10_000_000), flow(1, 0, 10_000_000)], &cfg)
}

/// The first packet (1538 B on the wire, 123.04 ns) is in the switch at 1.12304 us; from then on
/// the port sends a bitmap every half round trip, 1 us: at 2.12 us, ..., 99.12 us. A frame of 1024
/// bits has 150 B. Nothing is congested, so there are no other frames.
#[test]
fn a_port_sends_a_bitmap_of_150_bytes_every_microsecond() {
    let out = both_ways("periodic");
    assert_eq!(out.totals.control_frames, 2 * 98);
    assert_eq!(out.totals.control_bytes, Bytes::new(2 * 98 * 150));
    assert_eq!(both_ways("immediate").totals.control_frames, 0);
}

/// 170 B on the wire of 12 500 in a microsecond are 1.36 %. The links to the hosts are full of data
/// and ACKs (1538 and 84 B on the wire per packet), which go in proportion: so much less data
/// arrives. About 98 us / 129.8 ns = 755 packets come without bitmaps, so a packet is 0.13 %.
#[test]
fn bitmaps_take_their_share_of_a_full_link() {
    let arrived = |frames| both_ways(frames).flows[0].delivered.get() as f64;
    let lost = 1.0 - arrived("periodic") / arrived("immediate");
    assert!((lost - 0.0136).abs() < 0.0013, "{lost}");
}
