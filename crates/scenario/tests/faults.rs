//! `[[fault]]`: what it means, what is wrong with it, and when it can never act.

use weir_core::{LinkId, NodeId, Ratio, Time};
use weir_scenario::{Experiment, Files};
use weir_sim::config::{ControlFault, FaultKind, FaultPick, MessageKind};

/// Two hosts at a switch: link 0 is that of h0, link 1 that of h1.
const GOOD: &str = "\
[topology]
kind = \"star\"
hosts = 2

[[traffic]]
kind = \"flow\"
from = \"h0\"
to = \"h1\"
size = \"1MB\"

[[fault]]
";

fn read(fault: &str) -> Result<Experiment, String> {
    let text = format!("{GOOD}{fault}");
    Experiment::read("my.toml", &text, Files::default(), &[]).map_err(|p| p.to_string())
}

fn faults(fault: &str) -> Vec<ControlFault> {
    read(fault).unwrap_or_else(|why| panic!("{why}")).faults
}

fn error(fault: &str) -> String {
    read(fault).err().unwrap_or_else(|| panic!("no error: {fault}"))
}

fn warnings(fault: &str) -> String {
    let e = read(fault).unwrap_or_else(|why| panic!("{why}"));
    e.warnings.plain(&e.scenario.sources)
}

#[test]
fn a_fault_is_read_with_all_its_keys() {
    let text = "link = [\"sw0\", \"h1\"]\ntowards = \"h1\"\nmessage = \"resume\"\n\
                what = \"delay\"\nby = \"3us\"\nnth = 2\nfrom = \"1us\"\nuntil = \"9us\"\n";
    let expected = ControlFault {
        link: LinkId(1),
        towards: Some(NodeId(1)),
        message: MessageKind::Resume,
        what: FaultKind::Delay(Time::from_us(3)),
        which: FaultPick::Nth(2),
        from: Time::from_us(1),
        until: Some(Time::from_us(9)),
    };
    assert_eq!(faults(text), [expected]);
    assert_eq!(warnings(text), "");
}

#[test]
fn all_links_lose_a_share_of_all_frames_unless_more_is_said() {
    let share = Ratio::new(1, 100).unwrap();
    let both = [0, 1].map(|link| ControlFault::lose(LinkId(link), share));
    assert_eq!(faults("link = \"all\"\nshare = \"1%\"\n"), both);
}

/// A timeout repairs what a lost PAUSE loses.
#[test]
fn hosts_have_a_timeout_where_control_frames_can_be_lost() {
    let e = read("link = \"all\"\nshare = \"1%\"\n").unwrap();
    assert!(e.config(e.own_variant()).nic.timeout.is_some());
}

#[test]
fn errors_name_the_line_the_value_and_what_is_valid() {
    let expected = "\
error: `lose` is not a value of `what`
  --> my.toml:14:8
   |
14 | what = \"lose\"
   |        ^^^^^^ `what` takes one of `\"drop\"`, `\"delay\"`, `\"duplicate\"`";
    let found = error("link = \"all\"\nnth = 1\nwhat = \"lose\"\n");
    assert!(found.starts_with(expected), "{found}");
    for (fault, title, label) in [
        ("nth = 1\n", "`link`", ""),
        ("link = [\"sw0\"]\nnth = 1\n", "`link` names the two nodes", "leaf0"),
        ("link = [\"sw0\", \"h7\"]\nnth = 1\n", "h7", ""),
        ("link = [\"h0\", \"h1\"]\nnth = 1\n", "h0", ""),
        ("link = [\"sw0\", \"h0\"]\ntowards = \"h1\"\nnth = 1\n", "`h1` is not an end", "`h0`"),
        ("link = \"all\"\n", "`nth` or `share`", ""),
        ("link = \"all\"\nnth = 1\nshare = \"1%\"\n", "exclude each other", "give one"),
        ("link = \"all\"\nnth = 0\n", "nth", ""),
        ("link = \"all\"\nshare = \"3/2\"\n", "more than all", "from 0 to 1"),
        ("link = \"all\"\nnth = 1\nwhat = \"delay\"\n", "needs `by`", "10us"),
        ("link = \"all\"\nnth = 1\nby = \"1us\"\n", "has no `by`", "`duplicate`"),
        ("link = \"all\"\nnth = 1\nfrom = \"2us\"\nuntil = \"1us\"\n", "later than `from`", "2 us"),
        ("link = \"all\"\nnth = 1\nmessage = \"stop\"\n", "`stop` is not a value", "\"resume\""),
    ] {
        let found = error(fault);
        assert!(found.contains(title) && found.contains(label), "{fault}: {found}");
        assert!(found.contains("my.toml:"), "{found}");
    }
}

#[test]
fn a_fault_that_can_never_act_is_warned_of() {
    let odd = "can never act";
    let none = "link = \"all\"\nnth = 1\n[flow-control]\nscheme = \"none\"\n";
    assert!(warnings(none).contains("no control frames"), "{}", warnings(none));
    let from_host = "link = [\"sw0\", \"h0\"]\ntowards = \"sw0\"\nnth = 1\n";
    assert!(warnings(from_host).contains("hosts send no control frames"));
    let late = "link = \"all\"\nnth = 1\nfrom = \"2ms\"\n[run]\nuntil = \"1ms\"\n";
    assert!(warnings(late).contains("the run ends at 1 ms"), "{}", warnings(late));
    let reports = "link = \"all\"\nnth = 1\nmessage = \"report\"\n";
    assert!(warnings(reports).contains("sends no reports"));
    let bitmaps = format!("{reports}[flow-control]\nscheme = \"bfc\"\nframes = \"both\"\n");
    assert!(!warnings(&bitmaps).contains(odd));
    assert_eq!(warnings("link = \"all\"\nshare = \"1%\"\n"), "");
    let nothing = "link = \"all\"\nshare = 0\n";
    assert!(warnings(nothing).contains("its share of the frames is 0"), "{}", warnings(nothing));
}

/// The scheme of a run is chosen on the command line.
#[test]
fn a_fault_that_cannot_act_under_the_chosen_scheme_is_warned_of() {
    let e = read("link = \"all\"\nshare = \"1%\"\n").unwrap();
    let about = |scheme| {
        let variant = e.variant(Some(scheme), None, 1).unwrap();
        e.idle_faults(variant).plain(&e.scenario.sources)
    };
    assert!(about("none").contains("no flow control, so no control frames"), "{}", about("none"));
    assert_eq!(about("ofc"), "");
}

#[test]
fn one_mistake_is_one_error() {
    for (by, title) in [("\"soon\"", "`by`"), ("\"2s\"", "a `by` of 2 s is out of range")] {
        let found = error(&format!("link = \"all\"\nnth = 1\nwhat = \"delay\"\nby = {by}\n"));
        assert_eq!(found.matches("error:").count(), 1, "{found}");
        assert!(found.contains(title), "{found}");
    }
}

#[test]
fn a_fault_in_single_brackets_is_read_and_warned_of() {
    let text = format!("{GOOD}link = \"all\"\nnth = 1\n").replace("[[fault]]", "[fault]");
    let e = Experiment::read("my.toml", &text, Files::default(), &[]).unwrap();
    assert_eq!(e.faults.len(), 2, "one of each link");
    let found = e.warnings.plain(&e.scenario.sources);
    assert!(found.contains("`[fault]` is meant as `[[fault]]`"), "{found}");
    assert!(found.contains("my.toml:11:1"), "{found}");
}

#[test]
fn a_refresh_is_a_time_up_to_a_second_or_never() {
    let of = |scheme: &str, more: &str| {
        let text = "link = \"all\"\nnth = 1\n[flow-control]\nscheme = ";
        read(&format!("{text}\"{scheme}\"\n{more}\n"))
    };
    let long = "refresh = \"1000000s\"";
    for scheme in ["ofc", "ideal", "flowsail", "ffc", "gfc"] {
        assert!(of(scheme, "refresh = \"never\"").is_ok(), "{scheme}");
        assert!(of(scheme, "refresh = \"1s\"").is_ok(), "{scheme}");
        let why = of(scheme, long).err().unwrap_or_default();
        assert!(why.contains("at most 1 s"), "{scheme}: {why}");
    }
    assert!(of("pfc", "timer = \"sticky\"\nrefresh = \"never\"").is_ok());
    let why = of("pfc", &format!("timer = \"sticky\"\n{long}")).err().unwrap_or_default();
    assert!(why.contains("at most 1 s"), "{why}");
}
