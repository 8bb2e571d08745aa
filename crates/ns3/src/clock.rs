//! Durations as the reference computes them: a double in seconds, taken through 64.64 fixed point
//! to whole nanoseconds.
//!
//! Each step truncates, so a duration that is a whole number of nanoseconds in exact arithmetic
//! usually comes out one short: 1048 B at 1 Gb/s take 8383 ns, not 8384.

/// Later than anything that happens.
pub(crate) const NEVER: u64 = 1 << 62;

const TWO_64: f64 = 18_446_744_073_709_551_616.0;

/// `x` units of `unit_ns` nanoseconds in whole nanoseconds: the fraction of `x` is kept to 64
/// bits and the product rounded down. Negative values and "not a number" give zero.
pub(crate) fn scaled(x: f64, unit_ns: u64) -> u64 {
    let whole = x.floor();
    if whole >= (NEVER / unit_ns.max(1)) as f64 {
        return NEVER;
    }
    let fraction = ((x - whole) * TWO_64) as u64;
    let part = (u128::from(fraction) * u128::from(unit_ns)) >> 64;
    whole as u64 * unit_ns + part as u64
}

/// A time in seconds, in nanoseconds.
pub(crate) fn seconds(x: f64) -> u64 {
    scaled(x, 1_000_000_000)
}

/// How long `bytes` take at `rate` bit/s, in nanoseconds. A rate of zero takes forever.
#[inline]
pub(crate) fn transmission(bytes: u64, rate: u64) -> u64 {
    let x = (bytes as f64 * 8.0) / rate as f64;
    if x < 1.0 {
        let fraction = (x * TWO_64) as u64;
        return ((u128::from(fraction) * 1_000_000_000) >> 64) as u64;
    }
    seconds(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    const G: u64 = 1_000_000_000;

    #[test]
    fn whole_nanoseconds_come_out_one_short() {
        assert_eq!(transmission(1048, G), 8383);
        assert_eq!(transmission(60, 10 * G), 47);
        assert_eq!(transmission(60, 40 * G), 11);
        assert_eq!(transmission(1000, 100 * G), 79);
    }

    #[test]
    fn others_are_rounded_down() {
        // 1048 B: 83.84, 20.96 and 335.36 ns; ACKs 4.8, 1.2 and 19.2; telemetry 87.2 and 21.8
        for (bytes, gbps, ns) in [
            (1048, 100, 83),
            (1048, 400, 20),
            (1048, 25, 335),
            (60, 100, 4),
            (60, 400, 1),
            (60, 25, 19),
            (1090, 100, 87),
            (1090, 400, 21),
            (43, 100, 3),
            (43, 400, 0),
        ] {
            assert_eq!(transmission(bytes, gbps * G), ns, "{bytes} B at {gbps}G");
        }
    }

    #[test]
    fn start_times_lose_a_nanosecond_depending_on_their_binary_form() {
        assert_eq!(seconds(2.0002), 2_000_199_999);
        assert_eq!(seconds(2.00005), 2_000_049_999);
        assert_eq!(seconds(2.0001), 2_000_100_000);
        assert_eq!(seconds(2.0), 2_000_000_000);
    }

    #[test]
    fn delays_use_their_own_unit() {
        assert_eq!(scaled(0.001, 1_000_000), 1000);
        assert_eq!(scaled(1000.0, 1), 1000);
        assert_eq!(scaled(1.5, 1000), 1500);
    }

    #[test]
    fn slow_rates_take_seconds_and_none_takes_for_ever() {
        assert_eq!(transmission(1000, 1000), 8 * G);
        assert_eq!(transmission(1000, 0), NEVER);
        assert_eq!(seconds(f64::NAN), 0);
        assert_eq!(seconds(1e300), NEVER);
        assert_eq!(seconds(-1.0), 0);
    }
}
