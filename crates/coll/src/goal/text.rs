//! GOAL as text.
//!
//! Deviations from the original reader, all of them more lenient or louder: blanks may precede a
//! statement, ranks may come in any order, comments may end a line; a label that is given twice, a
//! number that does not fit, a peer that does not exist and an unknown label are errors.
//!
//! Schedules have gigabytes, so a line that is right takes no allocation: words are compared as
//! bytes where they stand, and text is made of them for messages only. The same reader written
//! without regard to time is in `tests/plain`, and both read the same (`tests/goal_text.rs`);
//! `examples/goal_speed.rs` says how fast.

mod labels;

use self::labels::{Labels, Word};
use super::{ANY, Dependency, Kind, Op, Rank, Schedule, Wait};
use crate::TextError;

/// The most ranks that are read: more would be a damaged file.
pub const MOST_RANKS: u64 = 1 << 22;
/// The most memory that operations, labels and dependencies may take.
pub const MOST_MEMORY: u64 = 2 << 30;
/// Bytes of an operation: itself, where its dependents begin, for how many it waits.
const OP: u64 = size_of::<Op>() as u64 + 8 + 4;
/// Bytes of a label while its rank is read.
const LABEL: u64 = labels::BYTES;
/// Bytes of a dependency while it is read and afterwards.
const EDGE: u64 = size_of::<Dependency>() as u64 + 4;

/// Reads a schedule.
pub fn parse(text: &[u8]) -> Result<Schedule, TextError> {
    parse_within(text, MOST_MEMORY)
}

/// Reads a schedule that may take so much memory.
fn parse_within(text: &[u8], most: u64) -> Result<Schedule, TextError> {
    let mut reader = Reader { text, at: 0, line: 1, used: 0, most };
    let ranks = reader.header()?;
    let mut block = Block { ops: Vec::new(), dependencies: Vec::new(), labels: Labels::new(text) };
    let mut programs: Vec<Option<Rank>> = (0..ranks).map(|_| None).collect();
    while reader.next_statement() {
        reader.keyword(b"rank", "`rank N {`")?;
        let (rank, line) = (reader.number("the number of a rank")?, reader.line);
        let at = usize::try_from(rank).ok().filter(|r| *r < programs.len());
        let Some(at) = at else {
            return Err(reader.error(format!("there is no rank {rank}: num_ranks is {ranks}")));
        };
        reader.keyword(b"{", "`{`")?;
        reader.end_of_line()?;
        let program = reader.program(ranks, &mut block)?;
        if programs[at].replace(program).is_some() {
            return Err(TextError { line, what: format!("rank {rank} is given twice") });
        }
    }
    // a rank without a block has nothing to do
    let ranks = programs.into_iter().map(Option::unwrap_or_default).collect();
    Ok(Schedule { ranks })
}

/// What has been read of a rank; its memory is used for the next rank again.
struct Block<'a> {
    ops: Vec<Op>,
    dependencies: Vec<Dependency>,
    labels: Labels<'a>,
}

struct Reader<'a> {
    text: &'a [u8],
    at: usize,
    line: usize,
    /// Bytes of memory that the schedule takes so far, and may take.
    used: u64,
    most: u64,
}

impl<'a> Reader<'a> {
    #[inline]
    fn room(&mut self, bytes: u64) -> Result<(), TextError> {
        self.used += bytes;
        if self.used > self.most { Err(self.no_room()) } else { Ok(()) }
    }

    #[cold]
    fn no_room(&self) -> TextError {
        let most = self.most;
        self.error(format!("operations and dependencies take more than {most} bytes of memory"))
    }

    #[cold]
    fn error(&self, what: impl Into<String>) -> TextError {
        TextError { line: self.line, what: what.into() }
    }

    #[cold]
    fn instead(&self, wanted: &str) -> TextError {
        self.error(format!("`{}` instead of {wanted}", self.word_here()))
    }

    #[inline]
    fn rest(&self) -> &'a [u8] {
        &self.text[self.at..]
    }

    #[inline]
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    #[inline]
    fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r')) {
            self.at += 1;
        }
    }

    /// Skips blanks, empty lines and comments; whether something follows.
    fn next_statement(&mut self) -> bool {
        loop {
            self.blanks();
            match self.rest() {
                [] => return false,
                [b'\n', ..] => {
                    self.at += 1;
                    self.line += 1;
                }
                [b'/', b'/' | b'*', ..] => self.comment(),
                _ => return true,
            }
        }
    }

    /// Skips a comment; one that is not closed goes to the end of the text.
    fn comment(&mut self) {
        let rest = self.rest();
        let length = if rest.starts_with(b"//") {
            rest.iter().position(|b| *b == b'\n')
        } else {
            rest.windows(2).skip(2).position(|w| w == b"*/").map(|i| i + 4)
        };
        let length = length.unwrap_or(rest.len());
        self.line += rest[..length].iter().filter(|b| **b == b'\n').count();
        self.at += length;
    }

    #[inline]
    fn end_of_line(&mut self) -> Result<(), TextError> {
        loop {
            self.blanks();
            match self.rest() {
                [] => return Ok(()),
                [b'\n', ..] => {
                    self.at += 1;
                    self.line += 1;
                    return Ok(());
                }
                [b'/', b'/' | b'*', ..] => self.comment(),
                _ => {
                    let what = format!("`{}` after the statement", self.word_here());
                    return Err(self.error(what));
                }
            }
        }
    }

    /// What stands here, for messages.
    fn word_here(&self) -> String {
        const MOST: usize = 24;
        let end = |b: &u8| b.is_ascii_whitespace();
        let rest = self.rest();
        let length = rest.iter().position(end).unwrap_or(rest.len()).min(MOST);
        String::from_utf8_lossy(&rest[..length]).escape_debug().to_string()
    }

    #[inline]
    fn keyword(&mut self, word: &[u8], wanted: &str) -> Result<(), TextError> {
        if self.optional(word) { Ok(()) } else { Err(self.instead(wanted)) }
    }

    #[inline]
    fn optional(&mut self, word: &[u8]) -> bool {
        self.blanks();
        let found = self.rest().starts_with(word);
        if found {
            self.at += word.len();
        }
        found
    }

    #[inline]
    fn number(&mut self, what: &str) -> Result<u64, TextError> {
        self.blanks();
        let begin = self.at;
        let mut number = 0_u64;
        while let Some(digit @ b'0'..=b'9') = self.peek() {
            number = number.wrapping_mul(10).wrapping_add(u64::from(digit - b'0'));
            self.at += 1;
        }
        match self.at - begin {
            0 => Err(self.instead(what)),
            // they fit always
            1..=19 => Ok(number),
            _ => self.long(what, begin),
        }
    }

    /// The number of many digits, from `begin` to here.
    #[cold]
    fn long(&self, what: &str, begin: usize) -> Result<u64, TextError> {
        let digits = str::from_utf8(&self.text[begin..self.at]).expect("digits are ASCII");
        // the largest number stands for -1
        digits
            .parse()
            .ok()
            .filter(|n| *n != ANY)
            .ok_or_else(|| self.error(format!("{what}: {digits} does not fit into 64 bits")))
    }

    #[inline]
    fn number_or_any(&mut self, what: &str) -> Result<u64, TextError> {
        if self.optional(b"-1") { Ok(ANY) } else { self.number(what) }
    }

    fn small(&mut self, what: &str) -> Result<u16, TextError> {
        let number = self.number(what)?;
        u16::try_from(number)
            .map_err(|_| self.error(format!("{what}: {number} is above {}", u16::MAX)))
    }

    /// Goes behind the word that stands here.
    #[inline]
    fn word(&mut self) -> Word {
        let word = Word::at(self.text, self.at);
        self.at = word.end;
        word
    }

    /// A word, for messages.
    fn words(&self, word: Word) -> &'a str {
        str::from_utf8(&self.text[word.begin..word.end]).expect("letters and digits are ASCII")
    }

    fn header(&mut self) -> Result<u64, TextError> {
        if !self.next_statement() {
            return Err(self.error("the file is empty: it begins with `num_ranks N`"));
        }
        self.keyword(b"num_ranks", "`num_ranks N`")?;
        let ranks = self.number("the number of ranks")?;
        if ranks == 0 || ranks > MOST_RANKS {
            return Err(self.error(format!("{ranks} ranks: from 1 to {MOST_RANKS} can be")));
        }
        self.end_of_line()?;
        Ok(ranks)
    }

    /// The lines of a rank up to its `}`.
    fn program(&mut self, ranks: u64, block: &mut Block<'a>) -> Result<Rank, TextError> {
        let Block { ops, dependencies, labels } = block;
        ops.clear();
        dependencies.clear();
        labels.clear();
        loop {
            if !self.next_statement() {
                return Err(self.error("the file ends before the `}` of a rank"));
            }
            if self.optional(b"}") {
                self.end_of_line()?;
                return Ok(Rank::new(ops.clone(), dependencies));
            }
            let word = self.word();
            self.blanks();
            if !word.is_empty() && self.peek() == Some(b':') {
                self.at += 1;
                let index = u32::try_from(ops.len())
                    .map_err(|_| self.error("more operations of a rank than 2^32"))?;
                if !labels.insert(word, index) {
                    let label = self.words(word);
                    return Err(self.error(format!("two operations are called `{label}`")));
                }
                self.room(OP + LABEL)?;
                self.op(ranks, ops)?;
            } else if let Some(wait) = self.dependency_word(word) {
                let on = self.label(labels)?;
                let waits = labels.find(word).ok_or_else(|| self.unknown(word))?;
                self.room(EDGE)?;
                dependencies.push(Dependency { waits, on, wait });
            } else {
                self.at = word.begin;
                self.room(OP)?;
                self.op(ranks, ops)?;
            }
            self.end_of_line()?;
        }
    }

    /// `requires` or `irequires` behind the label of an operation.
    #[inline]
    fn dependency_word(&mut self, label: Word) -> Option<Wait> {
        if label.is_empty() {
            None
        } else if self.optional(b"irequires") {
            Some(Wait::Start)
        } else if self.optional(b"requires") {
            Some(Wait::Completion)
        } else {
            None
        }
    }

    #[inline]
    fn label(&mut self, labels: &Labels<'_>) -> Result<u32, TextError> {
        self.blanks();
        let word = self.word();
        if word.is_empty() {
            return Err(self.instead("a label"));
        }
        labels.find(word).ok_or_else(|| self.unknown(word))
    }

    #[cold]
    fn unknown(&self, label: Word) -> TextError {
        self.error(format!(
            "no operation before this line is called `{}`: labels belong to one rank",
            self.words(label)
        ))
    }

    #[inline]
    fn op(&mut self, ranks: u64, ops: &mut Vec<Op>) -> Result<(), TextError> {
        self.blanks();
        let kind = if self.optional(b"send") {
            Kind::Send
        } else if self.optional(b"recv") {
            Kind::Recv
        } else if self.optional(b"calc") {
            Kind::Calc
        } else {
            return Err(self.instead("`send`, `recv`, `calc` or `}`"));
        };
        let mut op = Op { kind, size: 0, peer: 0, tag: 0, cpu: 0, nic: 0 };
        if kind == Kind::Calc {
            op.size = self.number("nanoseconds")?;
        } else {
            op.size = self.number("a number of bytes")?;
            self.keyword(b"b", "`b`")?;
            op.peer = self.peer(kind, ranks)?;
            if self.optional(b"tag") {
                op.tag = self.number_or_any("a tag")?;
            }
        }
        if self.optional(b"cpu") {
            op.cpu = self.small("the number of a CPU")?;
        }
        if kind != Kind::Calc && self.optional(b"nic") {
            op.nic = self.small("the number of a NIC")?;
        }
        ops.push(op);
        Ok(())
    }

    #[inline]
    fn peer(&mut self, kind: Kind, ranks: u64) -> Result<u64, TextError> {
        let peer = if kind == Kind::Send {
            self.keyword(b"to", "`to`")?;
            self.number("the number of a rank")?
        } else {
            self.keyword(b"from", "`from`")?;
            self.number_or_any("the number of a rank, or -1")?
        };
        if peer != ANY && peer >= ranks {
            return Err(self.error(format!("there is no rank {peer}: num_ranks is {ranks}")));
        }
        Ok(peer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        parse(text.as_bytes()).expect_err("it is wrong").to_string()
    }

    #[test]
    fn every_form_of_a_line_is_read() {
        let text = "// first\n/* two\nlines */ num_ranks 2\n\nrank 1 {\n  r1: recv 8b from -1 tag \
                    -1 cpu 2 nic 1 // whatever\n}\nrank 0 {\na:calc5 cpu 3\nb: send 8b to 1\n\
                    b irequires a\nb requires a\n/* } */\n}";
        let s = parse(text.as_bytes()).expect("a schedule");
        let recv = Op { kind: Kind::Recv, size: 8, peer: ANY, tag: ANY, cpu: 2, nic: 1 };
        assert_eq!(s.ranks[1].ops, [recv]);
        assert_eq!(recv.words(), "recv 8b from -1 tag -1");
        let zero = &s.ranks[0];
        assert_eq!(zero.ops[0], Op { kind: Kind::Calc, size: 5, peer: 0, tag: 0, cpu: 3, nic: 0 });
        assert_eq!(zero.dependents(0, Wait::Start), [1]);
        assert_eq!(zero.dependents(0, Wait::Completion), [1]);
        assert_eq!(zero.waits_for, [0, 2]);
        assert_eq!(s.resources(), (4, 2));
    }

    #[test]
    fn errors_name_the_line_and_what_would_be_valid() {
        assert_eq!(error(""), "line 1: the file is empty: it begins with `num_ranks N`");
        let inside = |line: &str| error(&format!("num_ranks 2\nrank 0 {{\n{line}\n}}\n"));
        assert_eq!(
            inside("sned 1b to 1"),
            "line 3: `sned` instead of `send`, `recv`, `calc` or `}`"
        );
        assert_eq!(inside("send 1b to 2"), "line 3: there is no rank 2: num_ranks is 2");
        assert_eq!(inside("send 1 to 1"), "line 3: `to` instead of `b`");
        assert_eq!(
            inside("a requires b"),
            "line 3: no operation before this line is called `b`: labels belong to one rank"
        );
        assert_eq!(inside("a: calc 1\na: calc 2"), "line 4: two operations are called `a`");
        assert_eq!(
            inside("calc 99999999999999999999"),
            "line 3: nanoseconds: 99999999999999999999 does not fit into 64 bits"
        );
        assert_eq!(inside("calc 1 cpu 65536"), "line 3: the number of a CPU: 65536 is above 65535");
        assert_eq!(inside("calc 1 calc 2"), "line 3: `calc` after the statement");
        assert_eq!(
            error("num_ranks 1\nrank 0 {\n"),
            "line 3: the file ends before the `}` of a rank"
        );
        assert_eq!(error("num_ranks 1\nrank 1 {\n}"), "line 2: there is no rank 1: num_ranks is 1");
        let twice = "num_ranks 1\nrank 0 {\n}\nrank 0 {\n}\n";
        assert_eq!(error(twice), "line 4: rank 0 is given twice");
        assert!(error("num_ranks 99999999999").contains("from 1 to 4194304 can be"));
    }

    #[test]
    fn memory_is_bounded() {
        let text = b"num_ranks 1\nrank 0 {\na: calc 1\nb: calc 2\nb requires a\n}\n";
        let most = 2 * (OP + LABEL) + EDGE;
        assert!(parse_within(text, most).is_ok());
        let error = parse_within(text, most - 1).expect_err("it is too much").to_string();
        assert!(error.starts_with("line 5: operations and dependencies take more than"), "{error}");
    }

    #[test]
    fn a_label_may_begin_like_an_operation() {
        let text = "num_ranks 1\nrank 0 {\nsend1: calc 1\ncalc2: calc 2\ncalc2 requires send1\n}\n";
        let s = parse(text.as_bytes()).expect("a schedule");
        assert_eq!(s.ranks[0].dependents(0, Wait::Completion), [1]);
    }
}
