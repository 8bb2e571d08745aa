//! When flows start.

use weir_core::Time;
use weir_core::rng::Stream;

/// How the gaps between arrivals are distributed. All have the mean they are asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Arrival {
    /// Exponential gaps: a Poisson process.
    Poisson,
    /// Log-normal gaps, burstier than Poisson; BFC uses `sigma` = 2.
    LogNormal {
        /// Standard deviation of the logarithm of the gap.
        sigma: f64,
    },
    /// Equal gaps.
    Even,
}

/// A never-ending sequence of gaps with one mean.
#[derive(Clone, Debug)]
pub struct Gaps {
    arrival: Arrival,
    mean_ps: f64,
    stream: Stream,
}

impl Gaps {
    /// Gaps of `mean_ps` picoseconds on average, drawn from `stream`.
    pub fn new(arrival: Arrival, mean_ps: f64, stream: Stream) -> Self {
        Self { arrival, mean_ps, stream }
    }

    /// The next gap in picoseconds, not rounded.
    #[inline]
    pub fn draw(&mut self) -> f64 {
        match self.arrival {
            Arrival::Poisson => -libm::log1p(-self.stream.unit()) * self.mean_ps,
            Arrival::LogNormal { sigma } => {
                // exp(mu + sigma z) has mean exp(mu + sigma^2 / 2), so mu = ln(mean) - sigma^2 / 2
                let z = normal(&mut self.stream);
                libm::exp(sigma * z - sigma * sigma / 2.0) * self.mean_ps
            }
            Arrival::Even => self.mean_ps,
        }
    }

    /// The next gap, to the nearest picosecond.
    #[inline]
    pub fn next_gap(&mut self) -> Time {
        // A cast saturates: a gap beyond the end of time is the end of time.
        Time::from_ps((self.draw() + 0.5) as u64)
    }

    /// A fraction of one gap, uniform: where a process with equal gaps stands at time zero.
    pub fn phase(&mut self) -> Time {
        Time::from_ps((self.stream.unit() * self.mean_ps) as u64)
    }
}

/// A standard normal value by the Box-Muller transform. The second value of the pair is not
/// kept, so that each draw takes two numbers from the stream whatever came before.
fn normal(stream: &mut Stream) -> f64 {
    let radius = libm::sqrt(-2.0 * libm::log1p(-stream.unit()));
    radius * libm::cos(std::f64::consts::TAU * stream.unit())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mean and standard deviation of `n` gaps of mean 1000 ps.
    fn moments(arrival: Arrival, n: u32) -> (f64, f64) {
        let mut gaps = Gaps::new(arrival, 1000.0, Stream::new(5, "gap", 0));
        let (mut sum, mut squares) = (0.0, 0.0);
        for _ in 0..n {
            let gap = gaps.draw();
            sum += gap;
            squares += gap * gap;
        }
        let mean = sum / f64::from(n);
        (mean, (squares / f64::from(n) - mean * mean).sqrt())
    }

    #[test]
    fn exponential_gaps_have_equal_mean_and_deviation() {
        let (mean, deviation) = moments(Arrival::Poisson, 1_000_000);
        // standard error of the mean 1 ps; of the deviation sqrt(2) ps (kurtosis 9)
        assert!((mean - 1000.0).abs() < 4.0, "{mean}");
        assert!((deviation - 1000.0).abs() < 6.0, "{deviation}");
    }

    #[test]
    fn log_normal_gaps_have_the_mean_asked_for() {
        // sigma = 0.5: deviation 1000 sqrt(e^0.25 - 1) = 532.9, standard error 0.53
        let (mean, deviation) = moments(Arrival::LogNormal { sigma: 0.5 }, 1_000_000);
        assert!((mean - 1000.0).abs() < 2.2, "{mean}");
        assert!((deviation - 532.9).abs() < 5.0, "{deviation}");
        // sigma = 2: deviation 7321, so 4 standard errors of 4 million gaps are 14.6
        let (mean, _) = moments(Arrival::LogNormal { sigma: 2.0 }, 4_000_000);
        assert!((mean - 1000.0).abs() < 14.7, "{mean}");
    }

    #[test]
    fn equal_gaps_are_equal_and_start_anywhere() {
        let mut gaps = Gaps::new(Arrival::Even, 1000.4, Stream::new(5, "gap", 0));
        assert!(gaps.phase() < Time::from_ps(1001));
        assert_eq!([gaps.next_gap(), gaps.next_gap()], [Time::from_ps(1000); 2]);
    }

    #[test]
    fn a_gap_too_long_for_the_clock_is_the_end_of_time() {
        let mut gaps = Gaps::new(Arrival::Even, 1e30, Stream::new(5, "gap", 0));
        assert_eq!(gaps.next_gap(), Time::NEVER);
    }
}
