//! `[[slow-receiver]]`: what it means, and what is wrong with it.

use weir_core::{Bytes, NodeId, Rate, Time};
use weir_scenario::{Experiment, Files};
use weir_sim::config::SlowReceiver;

const GOOD: &str = "\
[topology]
kind = \"star\"
hosts = 3
rate = \"100Gbps\"
delay = \"1us\"

[[traffic]]
kind = \"flow\"
from = \"h0\"
to = \"h1\"
size = \"1MB\"

[[slow-receiver]]
";

fn read(text: &str) -> Result<Experiment, String> {
    let text = format!("{GOOD}{text}");
    Experiment::read("my.toml", &text, Files::default(), &[]).map_err(|p| p.to_string())
}

#[test]
fn a_slow_receiver_is_read_with_all_its_keys() {
    let text = "hosts = \"h1\"\nrate = \"10Gbps\"\nfrom = \"5us\"\nto = \"9us\"\nevery = \"20us\"\n\
                xoff = \"50KB\"\nxon = \"20KB\"\nbuffer = \"90KB\"\nstorm-prevention = \"2us\"\n";
    let expected = SlowReceiver {
        host: NodeId(1),
        rate: Rate::from_gbps(10),
        from: Time::from_us(5),
        to: Some(Time::from_us(9)),
        every: Some(Time::from_us(20)),
        buffer: Bytes::from_kb(90),
        xoff: Bytes::from_kb(50),
        xon: Bytes::from_kb(20),
        prevention: Some(Time::from_us(2)),
    };
    assert_eq!(read(text).unwrap().receivers, [expected]);
}

/// The headroom of 1 us at 100 Gb/s is 25 000 B and two frames of 1538 B and a PAUSE of 84 B, on
/// the wire; one frame of 1518 B may cross the threshold.
#[test]
fn by_default_a_host_takes_nothing_in_and_its_buffer_has_room_for_what_is_on_its_way() {
    let e = read("hosts = [\"h1\", \"h2\"]\n").unwrap();
    assert_eq!(e.receivers.len(), 2);
    let r = e.receivers[0];
    assert_eq!((r.rate.as_bps(), r.from, r.to, r.prevention), (0, Time::ZERO, None, None));
    assert_eq!(r.buffer, Bytes::new(64_000 + 25_000 + 2 * 1538 + 84 + 1518));
    // what is lost at a full buffer is sent again
    assert!(e.config(e.own_variant()).nic.timeout.is_some());
}

#[test]
fn errors_name_the_line_the_value_and_what_is_valid() {
    for (text, title, label) in [
        ("rate = \"1Gbps\"\n", "`hosts`", ""),
        ("hosts = \"h7\"\n", "there is no host or switch `h7`", ""),
        ("hosts = [\"h1\", \"h1\"]\n", "`h1` is a slow receiver twice", "once"),
        ("hosts = \"h1\"\nto = \"1us\"\nfrom = \"2us\"\n", "later than `from`", "2 us"),
        ("hosts = \"h1\"\nevery = \"1us\"\n", "`every` must be longer", "write `to`"),
        ("hosts = \"h1\"\nto = \"2us\"\nevery = \"2us\"\n", "`every` must be longer", "2 us"),
        ("hosts = \"h1\"\nxon = \"64KB\"\n", "`xon` must be below", "64 KB"),
        ("hosts = \"h1\"\nbuffer = \"1KB\"\n", "`buffer` must have room", "64 KB"),
        ("hosts = \"h1\"\nstorm-prevention = \"0s\"\n", "above zero", "off"),
        ("hosts = \"h1\"\nspeed = 1\n", "unknown key `speed`", ""),
    ] {
        let found = read(text).err().unwrap_or_else(|| panic!("no error: {text}"));
        assert!(found.contains(title) && found.contains(label), "{text}: {found}");
        assert!(found.contains("my.toml:"), "{found}");
    }
}
