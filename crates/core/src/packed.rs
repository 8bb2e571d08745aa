//! Lists of whole numbers as bytes: how millions of them are kept in memory and written to files.
//!
//! | list | for numbers | what it holds |
//! |---|---|---|
//! | [`Varints`] | of which most are small | each number |
//! | [`Runs`] | that stay the same or grow evenly | how often a step is taken, and the step |
//! | [`Sparse`] | of which most are zero | how many zeros come before a number, and the number |
//!
//! A list is appended to another by copying its bytes. It is the same list, byte for byte, as if
//! its numbers had been added one by one.

/// Adds a number to `to`: seven bits per byte, the lowest first; the eighth bit is set in all
/// bytes but the last.
#[inline]
pub fn write_varint(value: u64, to: &mut Vec<u8>) {
    match value {
        0..0x80 => to.push(value as u8),
        0x80..0x4000 => to.extend_from_slice(&[value as u8 | 0x80, (value >> 7) as u8]),
        0x4000..0x20_0000 => {
            let low = [value as u8 | 0x80, (value >> 7) as u8 | 0x80, (value >> 14) as u8];
            to.extend_from_slice(&low);
        }
        _ => write_long(value, to),
    }
}

fn write_long(mut value: u64, to: &mut Vec<u8>) {
    while value >= 0x80 {
        to.push(value as u8 | 0x80);
        value >>= 7;
    }
    to.push(value as u8);
}

/// Takes a number from the beginning of `bytes`; `None` if they end early or it is longer than 64
/// bits.
#[inline]
pub fn read_varint(bytes: &mut &[u8]) -> Option<u64> {
    // most are short
    if let [byte @ 0..0x80, rest @ ..] = *bytes {
        *bytes = rest;
        return Some(u64::from(*byte));
    }
    let mut value = 0u64;
    for shift in (0..64).step_by(7) {
        let (first, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(first & 0x7f) << shift;
        if first & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

/// A difference as a number that is small if the difference is: the sign is the lowest bit.
#[inline]
pub const fn zigzag(difference: u64) -> u64 {
    let signed = difference as i64;
    ((signed << 1) ^ (signed >> 63)) as u64
}

/// The difference that [`zigzag`] was given.
#[inline]
pub const fn unzigzag(coded: u64) -> u64 {
    (coded >> 1) ^ (coded & 1).wrapping_neg()
}

/// Numbers one after the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Varints {
    bytes: Vec<u8>,
}

impl Varints {
    /// Adds a number.
    #[inline]
    pub fn push(&mut self, value: u64) {
        write_varint(value, &mut self.bytes);
    }

    /// Adds all numbers of another list.
    pub fn append(&mut self, other: &Self) {
        self.bytes.extend_from_slice(&other.bytes);
    }

    /// The numbers.
    pub fn iter(&self) -> impl Iterator<Item = u64> {
        let mut rest = self.bytes.as_slice();
        std::iter::from_fn(move || read_varint(&mut rest))
    }

    /// The list as bytes: numbers, each as by [`write_varint`].
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

/// Numbers of which many differ from the one before as that does from the one before it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Runs {
    /// How often a step is taken, and the step: of all runs but the last.
    bytes: Vec<u8>,
    /// How often the last step is taken; 0 in an empty list only.
    count: u64,
    step: u64,
    last: u64,
}

impl Runs {
    /// Adds a number.
    #[inline]
    pub fn push(&mut self, value: u64) {
        let step = value.wrapping_sub(self.last);
        self.last = value;
        if step == self.step && self.count > 0 {
            self.count += 1;
        } else {
            self.begin(1, step);
        }
    }

    /// Adds a number `count` times.
    pub fn push_times(&mut self, value: u64, count: u64) {
        if count > 0 {
            self.push(value);
            self.steps(count - 1, 0);
        }
    }

    /// Adds all numbers of another list.
    pub fn append(&mut self, other: &Self) {
        let mut rest = other.bytes.as_slice();
        let last = (other.count, other.step);
        let (count, step) = read_run(&mut rest).unwrap_or(last);
        if count == 0 {
            return;
        }
        // the first step of a list is its first number; here it may go on with the last run, and
        // so may the run after it
        self.push(step);
        self.steps(count - 1, step);
        if !other.bytes.is_empty() {
            match read_run(&mut rest) {
                None => self.steps(last.0, last.1),
                Some((count, step)) => {
                    self.steps(count, step);
                    self.begin(last.0, last.1);
                    self.bytes.extend_from_slice(rest);
                }
            }
        }
        self.last = other.last;
    }

    /// Adds numbers that each differ by `step` from the one before, without a look at which they
    /// are.
    fn steps(&mut self, count: u64, step: u64) {
        if step == self.step {
            self.count += count;
        } else if count > 0 {
            self.begin(count, step);
        }
    }

    /// The last number; 0 in an empty list.
    pub fn last(&self) -> u64 {
        self.last
    }

    /// The numbers.
    pub fn iter(&self) -> RunsIter<'_> {
        RunsIter { rest: &self.bytes, after: (self.count, self.step), count: 0, step: 0, last: 0 }
    }

    /// The list as bytes: pairs of numbers, each as by [`write_varint`]. The first says for how
    /// many numbers the second, a step as by [`zigzag`], is the difference to the number before;
    /// that of the first number is 0.
    pub fn into_bytes(mut self) -> Vec<u8> {
        if self.count > 0 {
            self.begin(0, 0);
        }
        self.bytes
    }

    /// Ends the last run, if there is one, and begins another.
    fn begin(&mut self, count: u64, step: u64) {
        if self.count > 0 {
            write_varint(self.count, &mut self.bytes);
            write_varint(zigzag(self.step), &mut self.bytes);
        }
        (self.count, self.step) = (count, step);
    }
}

/// How often a step is taken, and the step.
fn read_run(bytes: &mut &[u8]) -> Option<(u64, u64)> {
    Some((read_varint(bytes)?, unzigzag(read_varint(bytes)?)))
}

/// The numbers of [`Runs`].
#[derive(Clone, Debug)]
pub struct RunsIter<'a> {
    rest: &'a [u8],
    /// The run after all of `rest`.
    after: (u64, u64),
    /// How often the present step is still taken.
    count: u64,
    step: u64,
    last: u64,
}

impl<'a> RunsIter<'a> {
    /// The numbers of a list that was turned into bytes; it ends where they make no sense.
    pub fn of_bytes(bytes: &'a [u8]) -> Self {
        Self { rest: bytes, after: (0, 0), count: 0, step: 0, last: 0 }
    }

    /// Whether all has been read.
    pub fn is_over(&self) -> bool {
        self.count == 0 && self.after.0 == 0 && self.rest.is_empty()
    }
}

impl Iterator for RunsIter<'_> {
    type Item = u64;

    #[inline]
    fn next(&mut self) -> Option<u64> {
        if self.count == 0 {
            let run = match self.rest.is_empty() {
                true => std::mem::take(&mut self.after),
                false => read_run(&mut self.rest)?,
            };
            (self.count, self.step) = run;
        }
        self.count = self.count.checked_sub(1)?;
        self.last = self.last.wrapping_add(self.step);
        Some(self.last)
    }
}

/// Numbers of which many are zero.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sparse {
    /// How many zeros come before a number, and the number: of all that are not zero.
    bytes: Vec<u8>,
    /// The zeros at the end.
    zeros: u64,
}

impl Sparse {
    /// Adds a number.
    #[inline]
    pub fn push(&mut self, value: u64) {
        if value == 0 {
            self.zeros += 1;
        } else {
            write_varint(std::mem::take(&mut self.zeros), &mut self.bytes);
            write_varint(value, &mut self.bytes);
        }
    }

    /// Adds all numbers of another list.
    pub fn append(&mut self, other: &Self) {
        let mut rest = other.bytes.as_slice();
        if let Some(zeros) = read_varint(&mut rest) {
            write_varint(self.zeros + zeros, &mut self.bytes);
            self.bytes.extend_from_slice(rest);
            self.zeros = 0;
        }
        self.zeros += other.zeros;
    }

    /// Whether no number is other than zero.
    pub fn is_zero(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The numbers other than zero.
    pub fn values(&self) -> impl Iterator<Item = u64> {
        let mut rest = self.bytes.as_slice();
        std::iter::from_fn(move || {
            read_varint(&mut rest)?;
            read_varint(&mut rest)
        })
    }

    /// The numbers, and then zeros without end.
    pub fn iter(&self) -> SparseIter<'_> {
        SparseIter::of_bytes(&self.bytes)
    }

    /// The list as bytes: pairs of numbers, each as by [`write_varint`]. The first says how many
    /// zeros come before the second. Zeros at the end are not written.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

/// The numbers of [`Sparse`], and then zeros without end.
#[derive(Clone, Debug)]
pub struct SparseIter<'a> {
    rest: &'a [u8],
    /// How many zeros come before `value`; there is none after the last.
    zeros: u64,
    value: Option<u64>,
}

impl<'a> SparseIter<'a> {
    /// The numbers of a list that was turned into bytes; after what makes no sense come zeros.
    pub fn of_bytes(bytes: &'a [u8]) -> Self {
        let mut numbers = Self { rest: bytes, zeros: 0, value: None };
        numbers.step();
        numbers
    }

    /// Whether all but zeros has been read.
    pub fn is_over(&self) -> bool {
        self.value.is_none() && self.rest.is_empty()
    }

    fn step(&mut self) {
        if let Some(zeros) = read_varint(&mut self.rest) {
            (self.zeros, self.value) = (zeros, read_varint(&mut self.rest));
        } else {
            self.value = None;
        }
    }
}

impl Iterator for SparseIter<'_> {
    type Item = u64;

    #[inline]
    fn next(&mut self) -> Option<u64> {
        let Some(value) = self.value else { return Some(0) };
        if self.zeros > 0 {
            self.zeros -= 1;
            return Some(0);
        }
        self.step();
        Some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn runs(numbers: &[u64]) -> Runs {
        let mut list = Runs::default();
        numbers.iter().for_each(|n| list.push(*n));
        list
    }

    fn sparse(numbers: &[u64]) -> Sparse {
        let mut list = Sparse::default();
        numbers.iter().for_each(|n| list.push(*n));
        list
    }

    fn varints(numbers: &[u64]) -> Varints {
        let mut list = Varints::default();
        numbers.iter().for_each(|n| list.push(*n));
        list
    }

    /// 5, 6, 7 and 9, 9, 9: steps of 5, twice 1, 2, twice 0. 300 is 172 and 2 in sevens of bits.
    #[test]
    fn bytes_are_those_of_the_description() {
        assert_eq!(runs(&[5, 6, 7, 9, 9, 9]).into_bytes(), [1, 10, 2, 2, 1, 4, 2, 0]);
        assert_eq!(runs(&[3, 1]).into_bytes(), [1, 6, 1, 3], "a step of -2");
        assert_eq!(sparse(&[0, 0, 300, 1, 0]).into_bytes(), [2, 172, 2, 0, 1]);
        assert_eq!(varints(&[0, 300]).into_bytes(), [0, 172, 2]);
    }

    #[test]
    fn the_widest_numbers_come_back() {
        let wide = [u64::MAX, 0, u64::MAX, 1 << 63, 1];
        assert_eq!(runs(&wide).iter().collect::<Vec<_>>(), wide);
        assert_eq!(sparse(&wide).iter().take(5).collect::<Vec<_>>(), wide);
        assert_eq!(varints(&wide).iter().collect::<Vec<_>>(), wide);
        assert_eq!(read_varint(&mut [0x80; 11].as_slice()), None);
    }

    fn numbers() -> impl Strategy<Value = Vec<u64>> {
        // many equal and many zero ones, steps that repeat, and any
        let number = prop_oneof![4 => 0u64..3, 2 => 0u64..300, 1 => any::<u64>()];
        prop::collection::vec(number, 0..40)
    }

    proptest! {
        #[test]
        fn a_list_that_is_appended_is_as_if_its_numbers_were_added(
            lists in prop::collection::vec(numbers(), 0..5)
        ) {
            let all: Vec<u64> = lists.concat();
            let (mut r, mut s, mut v) = (Runs::default(), Sparse::default(), Varints::default());
            for list in &lists {
                r.append(&runs(list));
                s.append(&sparse(list));
                v.append(&varints(list));
            }
            prop_assert_eq!(r.iter().collect::<Vec<_>>(), all.clone());
            prop_assert_eq!(s.iter().take(all.len()).collect::<Vec<_>>(), all.clone());
            prop_assert!(s.values().eq(all.iter().copied().filter(|n| *n > 0)));
            prop_assert_eq!(v.iter().collect::<Vec<_>>(), all.clone());
            prop_assert_eq!(&r, &runs(&all));
            prop_assert_eq!(&s, &sparse(&all));
            prop_assert_eq!(&v, &varints(&all));
            let bytes = r.into_bytes();
            let mut read = RunsIter::of_bytes(&bytes);
            prop_assert_eq!(read.by_ref().take(all.len()).collect::<Vec<_>>(), all);
            prop_assert!(read.is_over());
        }
    }
}
