//! The reference's random numbers: MRG32k3a (L'Ecuyer) with one stream per draw.
//!
//! Stream k starts k 2^127 + 2^76 steps after the seed state (all six words 1). Marking takes the
//! first number of a new stream each time, so what matters is to step quickly from one stream to
//! the next; link errors draw on from one far stream.

const M1: u64 = 4_294_967_087;
const M2: u64 = 4_294_944_443;
const NORM: f64 = 1.0 / (M1 + 1) as f64;

type Matrix = [[u64; 3]; 3];
type Vector = [u64; 3];

const A1: Matrix = [[0, 1, 0], [0, 0, 1], [M1 - 810_728, 1_403_580, 0]];
const A2: Matrix = [[0, 1, 0], [0, 0, 1], [M2 - 1_370_589, 0, 527_612]];

#[inline]
fn apply<const M: u64>(a: &Matrix, v: &Vector) -> Vector {
    // Three products below 2^64 each: reduce one by one, then the sum of three below 2^32.
    a.map(|row| (row[0] * v[0] % M + row[1] * v[1] % M + row[2] * v[2] % M) % M)
}

fn multiply<const M: u64>(a: &Matrix, b: &Matrix) -> Matrix {
    let mut out = [[0; 3]; 3];
    for (i, row) in out.iter_mut().enumerate() {
        for (j, cell) in row.iter_mut().enumerate() {
            *cell = (0..3).fold(0, |sum, k| (sum + a[i][k] * b[k][j] % M) % M);
        }
    }
    out
}

/// `a^(2^e)`.
fn power_of_two<const M: u64>(a: &Matrix, e: u32) -> Matrix {
    (0..e).fold(*a, |m, _| multiply::<M>(&m, &m))
}

/// A generator in full: its state is the six words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Generator {
    s: Vector,
    t: Vector,
}

impl Generator {
    /// The generator that the reference uses for link errors: stream 2^63 + 50.
    pub(crate) fn for_link_errors() -> Self {
        let mut streams = Streams::at(0);
        let jump1 = power_of_two::<M1>(&A1, 127 + 63);
        let jump2 = power_of_two::<M2>(&A2, 127 + 63);
        streams.here.s = apply::<M1>(&jump1, &streams.here.s);
        streams.here.t = apply::<M2>(&jump2, &streams.here.t);
        for _ in 0..50 {
            streams.skip();
        }
        streams.here
    }

    /// The next number in (0, 1).
    #[inline]
    pub(crate) fn draw(&mut self) -> f64 {
        let p = (1_403_580 * self.s[1] + (M1 - 810_728) * self.s[0] % M1) % M1;
        let q = (527_612 * self.t[2] + (M2 - 1_370_589) * self.t[0] % M2) % M2;
        self.s = [self.s[1], self.s[2], p];
        self.t = [self.t[1], self.t[2], q];
        let difference = if p > q { p - q } else { p + M1 - q };
        difference as f64 * NORM
    }
}

/// The sequence of streams: each [`draw`](Streams::draw) is the first number of the next one.
#[derive(Clone, Debug)]
pub(crate) struct Streams {
    here: Generator,
    jump1: Matrix,
    jump2: Matrix,
}

impl Streams {
    /// Ready to hand out stream `number`.
    pub(crate) fn at(number: u64) -> Self {
        let one = [1, 1, 1];
        let here = Generator {
            s: apply::<M1>(&power_of_two::<M1>(&A1, 76), &one),
            t: apply::<M2>(&power_of_two::<M2>(&A2, 76), &one),
        };
        let mut streams =
            Self { here, jump1: power_of_two::<M1>(&A1, 127), jump2: power_of_two::<M2>(&A2, 127) };
        for _ in 0..number {
            streams.skip();
        }
        streams
    }

    /// Uses up a stream without looking at it.
    #[inline]
    pub(crate) fn skip(&mut self) {
        self.here.s = apply::<M1>(&self.jump1, &self.here.s);
        self.here.t = apply::<M2>(&self.jump2, &self.here.t);
    }

    /// The first number of the next stream.
    #[inline]
    pub(crate) fn draw(&mut self) -> f64 {
        let u = self.here.clone().draw();
        self.skip();
        u
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_stream_has_the_published_state() {
        let g = Streams::at(0).here;
        assert_eq!(g.s, [1_786_595_909, 1_318_450_546, 2_975_062_582]);
        assert_eq!(g.t, [2_586_387_715, 1_104_109_601, 3_270_994_274]);
    }

    #[test]
    #[expect(clippy::excessive_precision, reason = "the digits are those the reference prints")]
    fn first_numbers_of_streams_are_the_reference_s() {
        for (k, u) in [
            (0, 0.816_532_044_168_250_98),
            (1, 0.835_150_073_680_844_04),
            (2, 0.943_898_466_259_912_03),
            (20, 0.030_855_163_796_309_867),
            (62, 0.912_957_794_241_425_98),
        ] {
            assert_eq!(Streams::at(k).draw(), u, "stream {k}");
        }
        let mut streams = Streams::at(0);
        streams.draw();
        streams.skip();
        assert_eq!(streams.draw(), 0.943_898_466_259_912_03);
    }

    #[test]
    fn link_errors_draw_from_their_own_stream() {
        let mut g = Generator::for_link_errors();
        let got = [g.draw(), g.draw(), g.draw()];
        assert_eq!(
            got,
            [0.460_392_457_377_545_36, 0.056_660_465_380_497_47, 0.094_335_827_189_928_88]
        );
    }
}
