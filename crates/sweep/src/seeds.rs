//! Lists of seeds as people write them.

use weir_scenario::Fields;
use weir_scenario::text::{Item, Value};

/// More seeds than anybody means.
const MOST: u64 = 10_000_000;

/// `1..10` (both included), `1,2,5`, or both. An error says what is wrong with which part.
pub fn parse(text: &str) -> Result<Vec<u64>, String> {
    let mut seeds = Vec::new();
    for part in text.split(',') {
        let number = |s: &str| {
            let wrong = |_| format!("`{text}` is not a list of seeds: write 1..10 or 1,2,5");
            s.trim().parse::<u64>().map_err(wrong)
        };
        let (low, high) = match part.split_once("..") {
            Some((low, high)) => (number(low)?, number(high.trim_start_matches('='))?),
            None => (number(part)?, number(part)?),
        };
        if low > high || high - low >= MOST {
            let part = part.trim();
            return Err(format!(
                "`{part}` is not a range of seeds: it must be ascending, with at most {MOST} seeds"
            ));
        }
        seeds.extend(low..=high);
    }
    match twice(&seeds) {
        Some(seed) => {
            Err(format!("`{text}` has seed {seed} twice: the two runs would be the same"))
        }
        None => Ok(seeds),
    }
}

/// A seed that stands in the list more than once.
pub fn twice(seeds: &[u64]) -> Option<u64> {
    let mut sorted = seeds.to_vec();
    sorted.sort_unstable();
    sorted.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0])
}

/// The seeds of a section: a number, a text, or a list of them.
pub fn read(f: &mut Fields<'_>, name: &str) -> Option<Vec<u64>> {
    let item = f.item(name)?;
    let read = |item: &Item| match &item.value {
        Value::Number(text) | Value::Text(text) => parse(text),
        other => Err(format!("a seed is a whole number, not {}", other.what())),
    };
    let found: Result<Vec<_>, _> = f.items(name).iter().map(read).collect();
    let found = found.map(|all| all.concat()).and_then(|seeds| match twice(&seeds) {
        _ if seeds.is_empty() => Err("there are no seeds: there would be no runs".to_owned()),
        Some(seed) => Err(format!("seed {seed} is given twice")),
        None => Ok(seeds),
    });
    found.map_err(|why| f.error(why, item.span, "write \"1..10\" or [1, 2, 5]")).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_and_lists_mix() {
        assert_eq!(parse("1..3, 7,9..=10").unwrap(), [1, 2, 3, 7, 9, 10]);
        for wrong in ["", "x", "3..1", "1,1", "1..5,4", "-1", "0..99999999"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
