//! Numbers for people: three significant digits and a unit.

use crate::{Bytes, Rate, Time, Unit};

/// Three significant digits, without an exponent.
pub fn significant(x: f64) -> String {
    let magnitude = x.abs();
    let decimals = match magnitude {
        m if m >= 99.95 => 0,
        m if m >= 9.995 => 1,
        _ => 2,
    };
    format!("{x:.decimals$}")
}

fn scaled(x: f64, units: &[(f64, &str)]) -> String {
    let magnitude = x.abs();
    // 999.96 us is 1.00 ms: the unit is chosen after rounding
    let fits = |&&(step, _): &&(f64, &str)| magnitude >= step * 0.9995;
    let &(step, unit) = units.iter().find(fits).unwrap_or(&units[units.len() - 1]);
    format!("{} {unit}", significant(x / step))
}

/// A number in its unit.
pub fn quantity(unit: Unit, x: f64) -> String {
    match unit {
        Unit::Time => time_ps(x),
        Unit::Bytes => bytes_f64(x),
        Unit::Rate => rate_bps(x),
        Unit::Share | Unit::Flag if x == 0.0 => "0 %".into(),
        Unit::Share | Unit::Flag => percent(x),
        Unit::Count => count_f64(x),
        Unit::Number => significant(x),
    }
}

/// A time given in picoseconds.
pub fn time_ps(ps: f64) -> String {
    if ps == 0.0 {
        return "0 ms".into();
    }
    scaled(ps, &[(1e12, "s"), (1e9, "ms"), (1e6, "us"), (1e3, "ns"), (1.0, "ps")])
}

/// A time.
pub fn time(t: Time) -> String {
    if t == Time::NEVER { "never".into() } else { time_ps(t.as_ps() as f64) }
}

/// A size given in bytes.
pub fn bytes_f64(bytes: f64) -> String {
    if bytes < 1000.0 {
        let decimals = usize::from(bytes.fract() != 0.0 && bytes < 100.0);
        return format!("{bytes:.decimals$} B");
    }
    scaled(bytes, &[(1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "KB")])
}

/// A size.
pub fn bytes(b: Bytes) -> String {
    if b == Bytes::MAX { "unlimited".into() } else { bytes_f64(b.get() as f64) }
}

/// A speed given in bits per second.
pub fn rate_bps(bps: f64) -> String {
    scaled(bps, &[(1e12, "Tb/s"), (1e9, "Gb/s"), (1e6, "Mb/s"), (1e3, "kb/s"), (1.0, "b/s")])
}

/// A speed, without decimals where it has none.
pub fn rate(r: Rate) -> String {
    r.to_string()
}

/// A large count: `11.2 M`.
pub fn count_f64(n: f64) -> String {
    if n < 1e4 {
        return format!("{n:.0}");
    }
    scaled(n, &[(1e9, "G"), (1e6, "M"), (1e3, "k")])
}

/// A count, exact up to 9999.
pub fn count(n: u64) -> String {
    count_f64(n as f64)
}

/// A relative change: `-26 %`, `+3.4 %`; equal values give `0 %`.
pub fn change(value: f64, base: f64) -> String {
    let percent = (value / base - 1.0) * 100.0;
    if !percent.is_finite() {
        return String::new();
    }
    match percent.abs() {
        p if p < 0.05 => "0 %".into(),
        p if p < 9.95 => format!("{percent:+.1} %"),
        _ => format!("{percent:+.0} %"),
    }
}

/// A share in percent, as exact as an uncertainty needs to be: `2.1`, `14`.
pub fn points(share: f64) -> String {
    match share * 100.0 {
        p if p < 9.95 => format!("{p:.1}"),
        p => format!("{p:.0}"),
    }
}

/// A share as a percentage.
pub fn percent(share: f64) -> String {
    format!("{} %", significant(share * 100.0))
}

/// `once`, `106 times`.
pub fn times(n: u64) -> String {
    match n {
        1 => "once".into(),
        n => format!("{} times", count(n)),
    }
}

/// `1 flow`, `2 flows`.
pub fn plural(n: u64, what: &str) -> String {
    let s = if n == 1 {
        ""
    } else if what.ends_with("ch") {
        "es"
    } else {
        "s"
    };
    format!("{} {what}{s}", count(n))
}

/// A word as a shell takes it.
pub fn shell_word(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=,:%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    if word.chars().any(char::is_control) {
        // what a terminal would obey is spelt out
        let spelt = |c: char| match c {
            '\'' | '\\' => format!("\\{c}"),
            c if c.is_ascii_control() => format!("\\x{:02x}", u32::from(c)),
            c if c.is_control() => format!("\\u{:04x}", u32::from(c)),
            c => c.to_string(),
        };
        return format!("$'{}'", word.chars().map(spelt).collect::<String>());
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// What `show` makes of a figure, or a dash where there is none.
pub fn or_dash(figure: Option<f64>, show: fn(f64) -> String) -> String {
    figure.map_or_else(|| "-".to_owned(), show)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_and_the_right_unit() {
        assert_eq!(time(Time::from_us(1956)), "1.96 ms");
        assert_eq!(time(Time::from_ps(999_960_000)), "1.00 ms");
        assert_eq!(time(Time::from_ns(20)), "20.0 ns");
        assert_eq!(time(Time::ZERO), "0 ms");
        assert_eq!(bytes(Bytes::new(41_234)), "41.2 KB");
        assert_eq!(bytes(Bytes::new(640)), "640 B");
        assert_eq!(bytes(Bytes::MAX), "unlimited");
        assert_eq!(rate_bps(39.4e9), "39.4 Gb/s");
        assert_eq!(count(11_230_000), "11.2 M");
        assert_eq!(count(9999), "9999");
    }

    #[test]
    fn changes_have_a_sign_and_zero_has_none() {
        assert_eq!(change(1.45, 1.96), "-26 %");
        assert_eq!(change(1.02, 1.0), "+2.0 %");
        assert_eq!(change(1.0, 1.0), "0 %");
        assert_eq!(change(1.0, 0.0), "");
    }

    #[test]
    fn plurals() {
        assert_eq!(plural(1, "switch"), "1 switch");
        assert_eq!(plural(3, "switch"), "3 switches");
        assert_eq!(plural(10, "host"), "10 hosts");
    }
}
