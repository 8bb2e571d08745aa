//! Which operation of a rank has which label.
//!
//! Fast path: programs that write schedules number their labels (`l1`, `l2`, ..., or `send1`,
//! `recv1`, ...), so what stands before the number is one of a few prefixes, and the numbers of a
//! prefix follow each other closely. Such a label is a place in an array of its prefix, which skips
//! the hash table. Result is the same: a label is told apart from others by its prefix and number,
//! as numbers that begin with 0 are none. All other labels are in the table: those without a
//! number, with a long prefix, with one prefix too many, or with a number that would leave most of
//! an array empty.

use rustc_hash::FxHashMap;

/// Bytes of a label while its rank is read, in the table as in an array, both of which may have
/// room for twice as many.
pub(super) const BYTES: u64 = 32;
/// The most prefixes with an array.
const PREFIXES: usize = 8;
/// An array has at most so many times as many places as labels, and [`FIRST`] more.
const SPARSE: usize = 4;
const FIRST: usize = 64;
/// No operation: an index has to be below.
const NONE: u32 = u32::MAX;

/// Where a word stands in the text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Word {
    pub(super) begin: usize,
    pub(super) end: usize,
    /// Where the digits at its end begin.
    digits: usize,
    /// Their number, if it fits.
    number: u32,
}

impl Word {
    /// The word at `begin`: a letter, then letters, digits and underscores. Empty if there is none.
    #[inline]
    pub(super) fn at(text: &[u8], begin: usize) -> Self {
        let mut word = Self { begin, end: begin, digits: begin, number: 0 };
        if !text.get(begin).is_some_and(|b| b.is_ascii_alphabetic()) {
            return word;
        }
        for byte in &text[begin..] {
            let digit = byte.wrapping_sub(b'0');
            if digit < 10 {
                word.number = word.number.wrapping_mul(10).wrapping_add(u32::from(digit));
            } else if PARTS[usize::from(*byte)] {
                word.number = 0;
                word.digits = word.end + 1;
            } else {
                break;
            }
            word.end += 1;
        }
        word
    }

    pub(super) fn is_empty(self) -> bool {
        self.begin == self.end
    }

    /// Prefix and number, if it has both and they are short.
    #[inline]
    fn numbered(self, text: &[u8]) -> Option<(u64, usize)> {
        let (prefix, digits) = (self.digits - self.begin, self.end - self.digits);
        let short = prefix <= 8 && (1..=9).contains(&digits);
        if !short || (digits > 1 && text[self.digits] == b'0') {
            return None;
        }
        // the first byte is a letter, so prefixes of different lengths differ
        let bytes = &text[self.begin..self.digits];
        let prefix = bytes.iter().fold(0, |key, byte| key << 8 | u64::from(*byte));
        Some((prefix, self.number as usize))
    }
}

/// The letters and the underscore.
const PARTS: [bool; 256] = {
    let mut parts = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        parts[byte] = (byte as u8).is_ascii_alphabetic() || byte as u8 == b'_';
        byte += 1;
    }
    parts
};

/// The labels that begin alike and end in a number.
#[derive(Debug)]
struct Numbered {
    prefix: u64,
    labels: usize,
    /// Operations by number, or [`NONE`].
    ops: Vec<u32>,
}

/// The labels of a rank.
#[derive(Debug)]
pub(super) struct Labels<'a> {
    text: &'a [u8],
    /// Those of former ranks behind the first `prefixes`, for their memory.
    numbered: Vec<Numbered>,
    prefixes: usize,
    others: FxHashMap<&'a [u8], u32>,
}

impl<'a> Labels<'a> {
    pub(super) fn new(text: &'a [u8]) -> Self {
        Self { text, numbered: Vec::new(), prefixes: 0, others: FxHashMap::default() }
    }

    /// Forgets all labels.
    pub(super) fn clear(&mut self) {
        self.prefixes = 0;
        // to clear a large table takes long, and the next rank may be small
        self.others = FxHashMap::default();
    }

    /// The operation that is called so.
    #[inline]
    pub(super) fn find(&self, word: Word) -> Option<u32> {
        if let Some((prefix, number)) = word.numbered(self.text)
            && let Some(all) = self.numbered[..self.prefixes].iter().find(|n| n.prefix == prefix)
            && let Some(op) = all.ops.get(number).filter(|op| **op != NONE)
        {
            return Some(*op);
        }
        self.other(word)
    }

    /// Calls an operation so; whether none was.
    #[inline]
    pub(super) fn insert(&mut self, word: Word, op: u32) -> bool {
        if let Some((prefix, number)) = word.numbered(self.text)
            && let Some(place) = self.place(prefix, number)
        {
            let free = *place == NONE;
            *place = op;
            // it may have been inserted when the array was too short for it
            return free && self.other(word).is_none();
        }
        self.others.insert(&self.text[word.begin..word.end], op).is_none()
    }

    #[inline]
    fn other(&self, word: Word) -> Option<u32> {
        if self.others.is_empty() {
            return None;
        }
        self.others.get(&self.text[word.begin..word.end]).copied()
    }

    /// The place of a number in the array of its prefix, if there is or can be one.
    #[inline]
    fn place(&mut self, prefix: u64, number: usize) -> Option<&mut u32> {
        let known = self.numbered[..self.prefixes].iter().position(|n| n.prefix == prefix);
        let at = known.or_else(|| self.begin(prefix))?;
        let all = &mut self.numbered[at];
        if number >= all.ops.len() {
            if number >= SPARSE * all.labels + FIRST {
                return None;
            }
            all.ops.resize(number + 1, NONE);
        }
        all.labels += 1;
        all.ops.get_mut(number)
    }

    /// Begins an array, if there may be one more.
    #[cold]
    fn begin(&mut self, prefix: u64) -> Option<usize> {
        let at = self.prefixes;
        if at == PREFIXES {
            return None;
        }
        match self.numbered.get_mut(at) {
            Some(used) => {
                used.ops.clear();
                (used.prefix, used.labels) = (prefix, 0);
            }
            None => self.numbered.push(Numbered { prefix, labels: 0, ops: Vec::new() }),
        }
        self.prefixes += 1;
        Some(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The labels of a text that are found, each with the number that it has in the text.
    fn labels(text: &str) -> (Labels<'_>, Vec<Word>) {
        let bytes = text.as_bytes();
        let begins = text.split(' ').map(|w| w.as_ptr() as usize - text.as_ptr() as usize);
        (Labels::new(bytes), begins.map(|begin| Word::at(bytes, begin)).collect())
    }

    #[test]
    fn labels_that_differ_in_anything_differ() {
        let many: Vec<String> =
            (0..20).map(|i| format!("prefix{}_{i}", char::from(b'a' + i))).collect();
        let text = format!(
            "a a0 a1 a01 a10 a010 a00 b1 a1b1 a1b a_1 a999999999 a9999999999 a4294967297 \
             longer_than_eight1 longer_than_eight2 {}",
            many.join(" ")
        );
        let (mut labels, words) = labels(&text);
        for (op, word) in (0..).zip(&words) {
            assert_eq!(labels.find(*word), None);
            assert!(labels.insert(*word, op));
        }
        for (op, word) in (0..).zip(&words) {
            assert_eq!(labels.find(*word), Some(op));
            assert!(!labels.insert(*word, op));
        }
        labels.clear();
        assert!(words.iter().all(|word| labels.find(*word).is_none()));
    }

    #[test]
    fn a_number_that_was_too_large_for_the_array_is_found_when_it_is_not() {
        let text: Vec<String> =
            std::iter::once(200).chain(0..201).map(|i| format!("l{i}")).collect();
        let text = text.join(" ");
        let (mut labels, words) = labels(&text);
        for (op, word) in (0..201).zip(&words) {
            assert!(labels.insert(*word, op));
        }
        assert_eq!(labels.others.len(), 1);
        assert_eq!(labels.find(words[201]), Some(0));
        assert!(!labels.insert(words[201], 7));
    }
}
