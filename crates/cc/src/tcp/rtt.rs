//! The retransmission timeout: RFC 6298 in whole picoseconds.

use super::TcpParams;
use weir_core::Time;

/// Round-trip time estimator and timeout of one flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rto {
    /// Smoothed round-trip time and its variation, once there was a sample.
    estimate: Option<(u64, u64)>,
    /// The timeout before the first sample.
    unknown: Time,
    min: Time,
    max: Time,
    granularity: u64,
    /// Timeouts since the last sample: each doubles the timeout.
    doublings: u32,
}

impl Rto {
    /// The timeout of a flow without a sample (RFC 6298, 2.1).
    pub fn new(params: &TcpParams) -> Self {
        Self {
            estimate: None,
            unknown: params.rto_initial,
            min: params.rto_min,
            max: params.rto_max.max(params.rto_min),
            granularity: params.granularity.as_ps(),
            doublings: 0,
        }
    }

    /// A segment that was sent once was acknowledged after `rtt`. The sample ends back-off
    /// (RFC 6298, section 5, last paragraph; Karn's algorithm is the caller's).
    pub fn sample(&mut self, rtt: Time) {
        let r = rtt.as_ps();
        self.estimate = Some(match self.estimate {
            // 2.2
            None => (r, r / 2),
            // 2.3: RTTVAR first, with the old SRTT; beta 1/4, alpha 1/8
            Some((srtt, var)) => {
                let var = var - var / 4 + srtt.abs_diff(r) / 4;
                (srtt - srtt / 8 + r / 8, var)
            }
        });
        self.doublings = 0;
    }

    /// The timer expired: the timeout doubles (5.5).
    pub fn back_off(&mut self) {
        self.doublings += 1;
    }

    /// A SYN was lost and the handshake gave no sample: data starts with `timeout`, without the
    /// SYN's back-off (5.7).
    pub fn start_over(&mut self, timeout: Time) {
        if self.estimate.is_none() {
            self.unknown = timeout.max(self.unknown);
            self.doublings = 0;
        }
    }

    /// The timeout now: SRTT + max(G, 4 RTTVAR) within its bounds, backed off.
    pub fn timeout(&self) -> Time {
        let base = match self.estimate {
            None => self.unknown,
            Some((srtt, var)) => {
                let variation = var.saturating_mul(4).max(self.granularity);
                Time::from_ps(srtt.saturating_add(variation))
            }
        };
        let base = base.max(self.min).as_ps();
        // Shifting further than the leading zeros would lose bits: it is above `max` then.
        let backed_off =
            if self.doublings < base.leading_zeros() { base << self.doublings } else { u64::MAX };
        Time::from_ps(backed_off).min(self.max)
    }

    /// The smoothed round-trip time, once there was a sample.
    pub fn srtt(&self) -> Option<Time> {
        self.estimate.map(|(srtt, _)| Time::from_ps(srtt))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rto(min_us: u64) -> Rto {
        Rto::new(&TcpParams { rto_min: Time::from_us(min_us), ..TcpParams::default() })
    }

    /// 100 us: SRTT 100, RTTVAR 50, RTO 300. Then 180 us: RTTVAR 3/4 50 + 1/4 80 = 57.5,
    /// SRTT 7/8 100 + 1/8 180 = 110, RTO 110 + 230 = 340.
    #[test]
    fn the_estimator_follows_rfc_6298() {
        let mut r = rto(1);
        assert_eq!(r.timeout(), Time::from_ms(1000));
        r.sample(Time::from_us(100));
        assert_eq!(r.timeout(), Time::from_us(300));
        r.sample(Time::from_us(180));
        assert_eq!((r.srtt(), r.timeout()), (Some(Time::from_us(110)), Time::from_us(340)));
        // A constant round trip: the variation decays until G would count.
        for _ in 0..200 {
            r.sample(Time::from_us(110));
        }
        assert!(r.timeout() < Time::from_us(111), "{}", r.timeout());
        r.granularity = Time::from_us(40).as_ps();
        assert_eq!(r.timeout() - r.srtt().unwrap(), Time::from_us(40));
    }

    #[test]
    fn the_timeout_doubles_up_to_its_bound_until_there_is_a_sample() {
        let mut r = rto(200_000);
        r.sample(Time::from_us(100));
        let mut seen = vec![];
        for _ in 0..12 {
            seen.push(r.timeout().as_ps() / 1_000_000_000);
            r.back_off();
        }
        let doubled = [200, 400, 800, 1600, 3200, 6400, 12_800, 25_600, 51_200, 102_400];
        assert_eq!(seen[..10], doubled);
        assert_eq!(seen[10..], [120_000, 120_000]);
        for _ in 0..100 {
            r.back_off();
        }
        assert_eq!(r.timeout(), Time::from_ms(120_000));
        r.sample(Time::from_us(100));
        assert_eq!(r.timeout(), Time::from_ms(200));
    }

    #[test]
    fn a_lost_syn_starts_data_with_the_fallback() {
        let mut r = rto(10);
        r.back_off();
        r.start_over(Time::from_ms(3000));
        assert_eq!(r.timeout(), Time::from_ms(3000));
        r.sample(Time::from_ms(1));
        r.start_over(Time::from_ms(3000));
        assert_eq!(r.timeout(), Time::from_ms(3));
    }
}
