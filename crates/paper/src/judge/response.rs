//! What a claim compares, as one number per seed: the response of a factorial design.

use super::estimate::Nature;
use super::{Data, Library};
use crate::claim::{Claim, Operand, Rule};
use crate::experiment::Mode;

/// What a claim compares, one number per seed.
#[derive(Clone, Debug, PartialEq)]
pub struct Response {
    /// One per seed.
    pub numbers: Vec<f64>,
    /// Whether they are logarithms of ratios; else they are differences.
    pub log: bool,
    /// Whether nothing in the runs is random.
    pub exact: bool,
}

/// The response of a claim with one `of`: the first operand over the second, or alone where there
/// is none, as a logarithm whose mean over points is taken. An order is its first over its last; a
/// contrast is what it is here less what it is there. Shares of runs and numbers that may be 0 are
/// differences instead. `None` where numbers are missing.
pub(crate) fn response(claim: &Claim, library: &dyn Library, mode: Mode) -> Option<Response> {
    let of: &[Operand] = match &claim.rule {
        Rule::Ordering { order, .. } => order,
        Rule::NotMeasured { .. } => return None,
        _ => claim.of.get(..1)?,
    };
    let data = Data::new(claim, of, library, mode).ok()?;
    let share = data.operands.iter().any(|o| Nature::of(&o.select.metric) == Nature::Share);
    let log = !share && data.cells.iter().flatten().flatten().all(|x| *x > 0.0);
    let scale = |x: f64| if log { libm::log(x) } else { x };
    let points = data.points.len();
    let number = |operand: usize, seed: usize| {
        let cells = data.cells[operand].iter();
        cells.map(|numbers| scale(numbers[seed])).sum::<f64>() / points as f64
    };
    let last = data.operands.len() - 1;
    // the mean over what the first is compared with
    let compared = |first: usize, others: std::ops::Range<usize>, seed: usize| {
        let count = others.len().max(1) as f64;
        number(first, seed) - others.map(|o| number(o, seed)).sum::<f64>() / count
    };
    let of_seed = |seed: usize| match &claim.rule {
        Rule::Ordering { .. } => number(0, seed) - number(last, seed),
        Rule::Contrast { .. } => {
            let there = data.operands.len() / 2;
            compared(0, 1..there, seed) - compared(there, there + 1..last + 1, seed)
        }
        _ => compared(0, 1..last + 1, seed),
    };
    let numbers: Vec<f64> = (0..data.seeds()).map(of_seed).collect();
    Some(Response { numbers, log, exact: data.deterministic })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claim_read;
    use crate::select::Scope;
    use crate::tables::Tables;
    use weir_scenario::text::{Diagnostics, Sources};

    fn claim(keys: &str) -> Claim {
        let points = ["1", "2"].map(|p| vec![p.to_owned()]).to_vec();
        let scope = Scope {
            id: "X".into(),
            variants: vec!["A".into(), "B".into()],
            parameters: vec!["load".into()],
            points,
            ..Scope::default()
        };
        let mut sources = Sources::default();
        let head = "[[claim]]\nid = \"c\"\nexperiment = \"X\"\nsays = \"so\"\n";
        let id = sources.add("claims.toml", format!("{head}metric = \"fct_mean_ps\"\n{keys}\n"));
        let mut out = Diagnostics::default();
        let mut claims = claim_read::read(&sources, id, &[&scope], &mut out);
        assert!(!out.has_errors(), "{}", out.plain(&sources));
        claims.remove(0)
    }

    /// A is 2 and 8 times B at the two points: 4 times in the geometric mean.
    #[test]
    fn a_comparison_is_the_first_over_the_second_in_the_geometric_mean_over_points() {
        let tables = Tables::by_hand(
            &["load"],
            "fct_mean_ps",
            &[
                ("A", &["1"], &[20.0, 10.0]),
                ("A", &["2"], &[80.0, 80.0]),
                ("B", &["1"], &[10.0, 10.0]),
                ("B", &["2"], &[10.0, 10.0]),
            ],
        );
        for keys in [
            "kind = \"ratio\"\nof = \"A\"\nagainst = \"B\"\nover = \"load\"\npick = \"max\"\n\
             paper = 2",
            "kind = \"ordering\"\norder = [\"A\", \"B\"]\nover = \"load\"",
        ] {
            let found = response(&claim(keys), &tables, Mode::Quick).expect("numbers");
            assert!(found.log && !found.exact);
            let expected = [libm::log(4.0), libm::log(8.0) / 2.0];
            for (x, y) in found.numbers.iter().zip(expected) {
                assert!((x - y).abs() < 1e-12, "{keys}: {x} instead of {y}");
            }
        }
    }

    #[test]
    fn what_may_be_zero_is_a_difference() {
        let cells: &[(&str, &[&str], &[f64])] =
            &[("A", &["1"], &[0.0, 4.0]), ("B", &["1"], &[3.0, 3.0])];
        let tables = Tables::by_hand(&["load"], "fct_mean_ps", cells);
        let keys = "kind = \"equal\"\nof = \"A\"\nagainst = \"B\"\nat = { load = 1 }";
        let found = response(&claim(keys), &tables, Mode::Quick).expect("numbers");
        assert_eq!((found.log, found.numbers), (false, vec![-3.0, 1.0]));
    }
}
