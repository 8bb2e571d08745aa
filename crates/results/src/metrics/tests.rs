use super::*;
use crate::column::Kind;
use crate::summary::Statistic;
use weir_core::Unit;

#[test]
fn names_are_unique_and_found_with_either_dash() {
    for family in Family::ALL {
        let names: Vec<&str> = family.headings().iter().map(|h| h.name).collect();
        for (i, name) in names.iter().enumerate() {
            assert!(!names[..i].contains(name), "{name}");
        }
    }
    for h in all() {
        assert_eq!(find(&h.name.replace('_', "-")), Some(*h));
    }
    assert!(find("slowdown_p98").is_none());
}

/// What a column sums up is stated, and a name that ends like a statistic means it; one name
/// sums up one quantity.
#[test]
fn names_say_the_statistics_of_their_columns() {
    let all: Vec<Heading> = Family::ALL.iter().flat_map(|f| f.headings()).copied().collect();
    let written = |by: Statistic| match by {
        Statistic::Mean => "mean".to_owned(),
        Statistic::Min => "min".to_owned(),
        Statistic::Max => "max".to_owned(),
        Statistic::Percentile(p) => format!("p{}", p.to_string().replace('.', "")),
    };
    for h in &all {
        let stem = h.name.strip_suffix(h.unit.suffix()).unwrap_or(h.name);
        let last = stem.rsplit('_').next().unwrap_or_default();
        let number = last.strip_prefix('p').is_some_and(|p| p.parse::<u32>().is_ok());
        let named = number || matches!(last, "mean" | "min" | "max");
        let stated = h.summary.map(|s| written(s.by));
        assert_eq!(stated.as_deref(), named.then_some(last), "{}", h.name);
        assert!(all.iter().all(|o| o.name != h.name || o.summary == h.summary), "{}", h.name);
    }
}

/// A unit is stated, and a name that ends like one means it; one name has one unit.
#[test]
fn names_say_the_units_of_their_columns() {
    let all: Vec<Heading> = Family::ALL.iter().flat_map(|f| f.headings()).copied().collect();
    for h in &all {
        for unit in [Unit::Time, Unit::Bytes, Unit::Rate] {
            assert_eq!(h.name.ends_with(unit.suffix()), h.unit == unit, "{}", h.name);
        }
        assert!(all.iter().all(|o| o.name != h.name || o.unit == h.unit), "{}", h.name);
    }
}

#[test]
fn numbers_are_read_in_the_unit_of_their_figure() {
    for (name, text, value) in [
        ("fct_p99_ps", "1.5us", 1_500_000.0),
        ("queue_mean_bytes", "75KB", 75_000.0),
        ("control_bytes", "1KB", 1000.0),
        ("rate_mean_bps", "10Gbps", 1e10),
        ("deadlock", "137/200", 0.685),
        ("deadlock", "46%", 0.46),
        ("slowdown_p99", "4.3", 4.3),
        ("dropped", "12", 12.0),
    ] {
        let found = find(name).expect("a figure").unit.read(text);
        assert!((found.expect("a number") - value).abs() < 1e-9 * value, "{name} {text}");
    }
    for (name, text) in [("deadlock", "1/0"), ("slowdown_p99", "inf"), ("fct_p99_ps", "4")] {
        assert!(find(name).expect("a figure").unit.read(text).is_err(), "{name} {text}");
    }
}

/// Values are what their columns say, so that files with types can hold them.
#[test]
fn values_are_of_the_kind_of_their_columns() {
    let e = Experiment::load("ofc-fig1", &[]).expect("built in");
    let meter = crate::run::Meter::new(1);
    let run = crate::run::run(&e, e.own_variant(), &meter, 0).expect("a run");
    let figures = Figures::new(&e, &run);
    for family in Family::ALL {
        for row in figures.rows(family) {
            assert_eq!(row.len(), family.headings().len());
            for (h, value) in family.headings().iter().zip(row) {
                let fits = match value {
                    Value::Whole(_) => h.kind == Kind::Whole,
                    Value::Real(_) => h.kind == Kind::Real,
                    Value::Text(_) => h.kind == Kind::Text,
                    Value::None => h.is_number(),
                };
                assert!(fits, "{}: {value:?}", h.name);
            }
        }
    }
    let text = serde_json::to_string(&figures).expect("text");
    let stored = |text: &str| Figures::from_stored(serde_json::from_str(text).expect("JSON"));
    assert_eq!(stored(&text), Some(figures));
    assert_eq!(stored(&text.replace("fct_p50_ps", "fct_median_ps")), None, "other columns");
}
