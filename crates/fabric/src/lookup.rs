//! `pg_profile_lookup.ini`: headroom by speed and cable length, of the traditional buffer model.

use std::collections::BTreeMap;

/// One row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LookupRow {
    /// Guaranteed bytes.
    pub size: u64,
    /// Resume threshold.
    pub xon: u64,
    /// Headroom.
    pub xoff: u64,
    /// alpha = 2^n, or bytes.
    pub threshold: i64,
    /// Distance of the resume threshold.
    pub xon_offset: u64,
}

/// The table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lookup {
    rows: BTreeMap<(u64, u64), LookupRow>,
}

impl Lookup {
    /// Reads it. `Err`: the line that is wrong.
    pub fn read(file: &str, text: &str) -> Result<Self, String> {
        let mut rows = BTreeMap::new();
        for (number, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default().trim();
            if line.is_empty() {
                continue;
            }
            let (key, row) = row(line).ok_or_else(|| {
                format!(
                    "{file}:{}: `{line}`: a row is speed cable size xon xoff threshold \
                     [xon_offset], such as 100000 40m 58368 19456 38912 0",
                    number + 1
                )
            })?;
            rows.insert(key, row);
        }
        Ok(Self { rows })
    }

    /// The row of a port.
    pub fn get(&self, speed: u64, cable: u64) -> Option<&LookupRow> {
        self.rows.get(&(speed, cable))
    }

    /// The lengths that the table has for a speed, in metres.
    pub fn cables(&self, speed: u64) -> Vec<u64> {
        self.rows.keys().filter(|(s, _)| *s == speed).map(|(_, cable)| *cable).collect()
    }
}

fn row(line: &str) -> Option<((u64, u64), LookupRow)> {
    let parts: Vec<&str> = line.split_whitespace().collect();
    if !(6..=7).contains(&parts.len()) {
        return None;
    }
    let whole = |at: usize| parts.get(at)?.parse::<u64>().ok();
    let cable = parts[1].strip_suffix('m')?.parse().ok()?;
    let row = LookupRow {
        size: whole(2)?,
        xon: whole(3)?,
        xoff: whole(4)?,
        threshold: parts[5].parse().ok()?,
        xon_offset: if parts.len() == 7 { whole(6)? } else { 0 },
    };
    Some(((whole(0)?, cable), row))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_both_forms_are_read() {
        let text = "# PG lossless profiles.\n# speed cable size xon xoff threshold xon_offset\n\
                    100000 40m 58368 19456 38912 0\n  400000 5m 18796 0 612140 0 3556\n";
        let table = Lookup::read("x.ini", text).expect("both are rows");
        assert_eq!(table.get(100_000, 40).map(|r| (r.size, r.xoff)), Some((58_368, 38_912)));
        assert_eq!(table.get(400_000, 5).map(|r| r.xon_offset), Some(3556));
        assert_eq!(table.get(400_000, 40), None);
        assert_eq!(table.cables(400_000), [5]);
    }

    #[test]
    fn a_broken_row_is_named_with_its_line() {
        let error = Lookup::read("x.ini", "\n100000 40 58368 19456 38912 0").expect_err("no m");
        assert!(error.starts_with("x.ini:2: `100000 40 "), "{error}");
    }
}
