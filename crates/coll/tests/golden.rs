//! Schedules whose times LogGOPSim printed: ours are the same to the nanosecond.

use weir_coll::goal::{Schedule, binary, text};
use weir_coll::loggops::{Params, run};

/// FNV-1a, 64 bits.
fn hash(bytes: &[u8]) -> String {
    let step = |h: u64, b: &u8| (h ^ u64::from(*b)).wrapping_mul(0x0100_0000_01b3);
    format!("{:016x}", bytes.iter().fold(0xcbf2_9ce4_8422_2325, step))
}

struct Case<'a> {
    name: &'a str,
    params: Params,
    end: Vec<u64>,
    starts: &'a str,
    unexpected: u64,
    binary: &'a str,
    schedule: &'a str,
}

fn numbers(text: &str) -> Vec<u64> {
    text.split_whitespace().filter_map(|w| w.parse().ok()).collect()
}

fn cases(file: &str) -> Vec<Case<'_>> {
    file.split("@case ").skip(1).map(case).collect()
}

fn case(part: &str) -> Case<'_> {
    let mut rest = part;
    let mut field = |name: &str| {
        let (line, behind) = rest.split_once('\n').expect("a line for each field");
        rest = behind;
        line.strip_prefix(name).expect("fields in order").trim()
    };
    let name = field("");
    let params = numbers(field("@params"));
    let [latency, overhead, gap, gap_per_byte, overhead_per_byte, eager] = params[..] else {
        panic!("{name}: six parameters")
    };
    let params = Params { latency, overhead, gap, gap_per_byte, overhead_per_byte, eager };
    let (end, starts) = (numbers(field("@end")), field("@starts"));
    let (unexpected, binary) = (numbers(field("@unexpected"))[0], field("@binary"));
    Case { name, params, end, starts, unexpected, binary, schedule: rest }
}

fn check(case: &Case<'_>, schedule: &Schedule) {
    let run = run(schedule, &case.params).unwrap_or_else(|e| panic!("{}: {e}", case.name));
    assert_eq!(run.end_ns, case.end, "{}", case.name);
    assert_eq!(run.unexpected, case.unexpected, "{}", case.name);
    let starts: Vec<String> = run.start_ns.iter().flatten().map(u64::to_string).collect();
    assert_eq!(hash(starts.join(" ").as_bytes()), case.starts, "{}: start times", case.name);
}

#[test]
fn times_are_those_of_the_reference_simulator() {
    let all = cases(include_str!("golden/cases.txt"));
    assert_eq!(all.len(), 57);
    for case in all {
        let schedule =
            text::parse(case.schedule.as_bytes()).unwrap_or_else(|e| panic!("{}: {e}", case.name));
        check(&case, &schedule);
        let bytes = binary::write(&schedule).expect("it fits");
        assert!(binary::is_binary(&bytes));
        if case.binary != "-" {
            assert_eq!(hash(&bytes), case.binary, "{}: binary form", case.name);
        }
        check(&case, &binary::parse(&bytes).expect("what was written can be read"));
    }
}
