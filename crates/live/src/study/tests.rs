use super::*;
use crate::compare::Pair;

fn pair(what: &str, simulated: f64, live: f64) -> Pair {
    Pair { what: what.into(), simulated: Some(simulated), live: Some(live) }
}

fn attempt(dilation: u32, fct: f64, why: &str) -> Attempt {
    let side = SideBySide {
        flows: vec![pair("a", 100.0, fct), pair("b", 200.0, 200.0)],
        pauses: vec![pair("s0/p0", 4.0, 5.0)],
        ranks: vec![pair("1 of 1", 100.0, fct), pair("1 of 1", 200.0, 200.0)],
        flows_held: vec![pair("a", 3.0, 2.0)],
        ..SideBySide::default()
    };
    Attempt {
        dilation,
        kept: f64::from(dilation) * 1.1,
        invalid: (!why.is_empty()).then(|| why.to_owned()).into_iter().collect(),
        late: Quantiles { p999_ns: Some(66.0), max_ns: Some(77.0), ..Quantiles::default() },
        side: Some(side),
        classes: vec![Some(fct * 1e6)],
    }
}

fn study() -> Study {
    let class = Class {
        name: "victim".into(),
        metric: "fct_max_ps".into(),
        unit: Unit::Time,
        paper: vec![("Table I, testbed".into(), 120e6)],
        simulated: Some(100e6),
    };
    let apart = |fct| attempt(1000, fct, "").side.expect("it has one");
    let cell = Cell {
        variant: "PFC".into(),
        at: "burst = 30us".into(),
        classes: vec![class],
        apart: vec![apart(99.0), apart(103.0), apart(106.0)],
        attempts: vec![
            attempt(1000, 102.0, ""),
            attempt(1000, 104.0, ""),
            attempt(1000, 190.0, "one frame in a thousand was 1 ms late"),
            attempt(500, 103.0, ""),
        ],
        emulated: Vec::new(),
    };
    Study {
        id: "X-TB".into(),
        title: "A test".into(),
        changed: String::new(),
        command: "weir live study X-TB".into(),
        machine: vec!["Linux".into()],
        threads: 1,
        clock: ClockKind::Waiting,
        bound: Bound::Frame(Time::from_ns(80)),
        dilations: vec![1000, 500],
        wanted: (2, 6),
        cells: vec![cell],
    }
}

#[test]
fn only_runs_that_kept_their_time_are_in_the_numbers() {
    let page = page(&study(), "x-tb");
    // the median of two is the lower one; 190 us is in the table of invalid runs only
    let beside = "| PFC, burst = 30us | victim | `fct_max_ps` | 120 us (Table I, testbed) | 100 us \
                  | 102 us | 102 us to 104 us | 2 |";
    assert!(page.contains(beside), "{page}");
    // flows of both runs: 0, 0, 2 and 4 %
    let apart = "| 1000 | 1100 | 2 of 3 | 0.00 % | 4.00 % | 4.00 % | 2.00 % | 2.00 % | 4.00 % \
                 | 2 of 2 | 2 of 2 | 4 | 5 | 66 ns | 77 ns |";
    assert!(page.contains(apart), "{page}");
    assert!(page.contains("| victim | `fct_max_ps` | 102 us | 103 us | 0.98 % |"), "{page}");
    assert!(page.contains("| 1000 | 1 | 66 ns | 90.00 % |"), "{page}");
    assert!(
        page.contains("- 1 run: more than one frame in a thousand was later than the bound"),
        "{page}"
    );
}

#[test]
fn the_simulation_stands_beside_itself() {
    let page = page(&study(), "x-tb");
    assert!(page.contains("a time of its own of less than 80.0 ns"), "{page}");
    // flows: three times 0, and 1, 3 and 6 %
    let row = "| PFC, burst = 30us | 3 | 0.00 % | 6.00 % | 6.00 % | 3.00 % | 3.00 % | 6.00 % \
               | 3 of 3 | 5 to 5 |";
    assert!(page.contains(row), "{page}");
}

/// A run without a kernel that holds `a` and, if `also`, `b`, whom the simulation does not hold.
fn late(fct: f64, also: bool) -> Late {
    let mut run = attempt(1000, fct, "");
    if also {
        run.side.as_mut().expect("it has one").flows_held.push(pair("b", 0.0, 7.0));
    }
    Late { dilation: 1000, late: run.late, side: run.side.expect("it has one") }
}

#[test]
fn runs_without_a_kernel_say_what_lateness_alone_does() {
    let mut study = study();
    study.cells[0].attempts[1]
        .side
        .as_mut()
        .expect("it has one")
        .flows_held
        .push(pair("b", 0.0, 9.0));
    assert!(!page(&study, "x-tb").contains("Late without a kernel"));
    // the second of the two live runs in time holds `b`, too: so does one of the late runs, or not
    for (also, held) in [(true, "2 of 2"), (false, "1 of 2")] {
        study.cells[0].emulated = vec![late(101.0, false), late(102.0, also), late(107.0, false)];
        let page = page(&study, "x-tb");
        let same = if also { "2 of 3" } else { "3 of 3" };
        let row = format!(
            "| PFC, burst = 30us | 1000 | 3 | 2.00 % | 7.00 % | 2 of 3 | {same} | 5 to 5 | 66 ns | \
             {held} |"
        );
        assert!(page.contains(&row), "{page}");
    }
}

#[test]
fn a_flow_without_a_number_is_no_agreement() {
    let mut run = attempt(1000, 100.0, "");
    run.side.as_mut().expect("it has one").flows[0].live = None;
    assert_eq!(run.worst(), Some(f64::INFINITY));
}

#[test]
fn tables_have_every_run_and_every_flow() {
    let text = |bytes| String::from_utf8(bytes).expect("text");
    let runs = text(runs_csv(&study()));
    assert_eq!(runs.lines().count(), 5);
    assert!(
        runs.lines().any(|l| l.starts_with("PFC,burst = 30us,1000,3,0,1100,,,66,77,0.8999")),
        "{runs}"
    );
    let flows = text(flows_csv(&study()));
    assert_eq!(flows.lines().count(), 9);
    assert!(flows.contains("PFC,burst = 30us,1000,1,1,a,100,102"), "{flows}");
}
