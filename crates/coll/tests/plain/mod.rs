//! GOAL as text, read without regard to time: what `weir_coll::goal::text` has to read, too, and
//! the errors that it has to give.

use rustc_hash::FxHashMap;
use weir_coll::TextError;
use weir_coll::goal::text::{MOST_MEMORY, MOST_RANKS};
use weir_coll::goal::{ANY, Dependency, Kind, Op, Rank, Schedule, Wait};

/// Bytes of an operation: itself, where its dependents begin, for how many it waits.
const OP: u64 = size_of::<Op>() as u64 + 8 + 4;
/// Bytes of a label while its rank is read.
const LABEL: u64 = 32;
/// Bytes of a dependency while it is read and afterwards.
const EDGE: u64 = size_of::<Dependency>() as u64 + 4;

/// Reads a schedule.
pub(crate) fn parse(text: &[u8]) -> Result<Schedule, TextError> {
    parse_within(text, MOST_MEMORY)
}

/// Reads a schedule that may take so much memory.
fn parse_within(text: &[u8], most: u64) -> Result<Schedule, TextError> {
    let mut reader = Reader { text, at: 0, line: 1, used: 0, most };
    let ranks = reader.header()?;
    let mut programs: Vec<Option<Rank>> = (0..ranks).map(|_| None).collect();
    while reader.next_statement() {
        reader.keyword("rank", "`rank N {`")?;
        let (rank, line) = (reader.number("the number of a rank")?, reader.line);
        let at = usize::try_from(rank).ok().filter(|r| *r < programs.len());
        let Some(at) = at else {
            return Err(reader.error(format!("there is no rank {rank}: num_ranks is {ranks}")));
        };
        reader.symbol(b'{')?;
        reader.end_of_line()?;
        let program = reader.program(ranks)?;
        if programs[at].replace(program).is_some() {
            return Err(TextError { line, what: format!("rank {rank} is given twice") });
        }
    }
    // a rank without a block has nothing to do
    let ranks = programs.into_iter().map(Option::unwrap_or_default).collect();
    Ok(Schedule { ranks })
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
    fn room(&mut self, bytes: u64) -> Result<(), TextError> {
        self.used += bytes;
        match self.used > self.most {
            true => Err(self.error(format!(
                "operations and dependencies take more than {} bytes of memory",
                self.most
            ))),
            false => Ok(()),
        }
    }

    fn error(&self, what: impl Into<String>) -> TextError {
        TextError { line: self.line, what: what.into() }
    }

    fn rest(&self) -> &'a [u8] {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

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

    fn end_of_line(&mut self) -> Result<(), TextError> {
        self.blanks();
        while self.rest().starts_with(b"//") || self.rest().starts_with(b"/*") {
            self.comment();
            self.blanks();
        }
        match self.peek() {
            None => Ok(()),
            Some(b'\n') => {
                self.at += 1;
                self.line += 1;
                Ok(())
            }
            Some(_) => Err(self.error(format!("`{}` after the statement", self.word_here()))),
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

    fn keyword(&mut self, word: &str, wanted: &str) -> Result<(), TextError> {
        self.blanks();
        if !self.rest().starts_with(word.as_bytes()) {
            return Err(self.error(format!("`{}` instead of {wanted}", self.word_here())));
        }
        self.at += word.len();
        Ok(())
    }

    fn optional(&mut self, word: &str) -> bool {
        self.blanks();
        let found = self.rest().starts_with(word.as_bytes());
        if found {
            self.at += word.len();
        }
        found
    }

    fn symbol(&mut self, symbol: u8) -> Result<(), TextError> {
        self.keyword(&char::from(symbol).to_string(), &format!("`{}`", char::from(symbol)))
    }

    fn number(&mut self, what: &str) -> Result<u64, TextError> {
        self.blanks();
        let digits = self.rest().iter().take_while(|b| b.is_ascii_digit()).count();
        let text = &self.rest()[..digits];
        if text.is_empty() {
            return Err(self.error(format!("`{}` instead of {what}", self.word_here())));
        }
        let text = str::from_utf8(text).expect("digits are ASCII");
        // the largest number stands for -1
        let Some(number) = text.parse().ok().filter(|n| *n != ANY) else {
            return Err(self.error(format!("{what}: {text} does not fit into 64 bits")));
        };
        self.at += digits;
        Ok(number)
    }

    fn number_or_any(&mut self, what: &str) -> Result<u64, TextError> {
        if self.optional("-1") { Ok(ANY) } else { self.number(what) }
    }

    fn small(&mut self, what: &str) -> Result<u16, TextError> {
        let number = self.number(what)?;
        u16::try_from(number)
            .map_err(|_| self.error(format!("{what}: {number} is above {}", u16::MAX)))
    }

    fn word(&self) -> &'a str {
        let part = |b: &&u8| b.is_ascii_alphanumeric() || **b == b'_';
        let length = self.rest().iter().take_while(part).count();
        let starts = self.peek().is_some_and(|b| b.is_ascii_alphabetic());
        let length = if starts { length } else { 0 };
        str::from_utf8(&self.rest()[..length]).expect("letters and digits are ASCII")
    }

    fn header(&mut self) -> Result<u64, TextError> {
        if !self.next_statement() {
            return Err(self.error("the file is empty: it begins with `num_ranks N`"));
        }
        self.keyword("num_ranks", "`num_ranks N`")?;
        let ranks = self.number("the number of ranks")?;
        if ranks == 0 || ranks > MOST_RANKS {
            return Err(self.error(format!("{ranks} ranks: from 1 to {MOST_RANKS} can be")));
        }
        self.end_of_line()?;
        Ok(ranks)
    }

    /// The lines of a rank up to its `}`.
    fn program(&mut self, ranks: u64) -> Result<Rank, TextError> {
        let (mut ops, mut dependencies) = (Vec::new(), Vec::new());
        let mut labels: FxHashMap<&'a str, u32> = FxHashMap::default();
        loop {
            if !self.next_statement() {
                return Err(self.error("the file ends before the `}` of a rank"));
            }
            if self.optional("}") {
                self.end_of_line()?;
                return Ok(Rank::new(ops, &dependencies));
            }
            let word = self.word();
            let behind = self.at + word.len();
            let (start, line) = (self.at, self.line);
            self.at = behind;
            self.blanks();
            if !word.is_empty() && self.peek() == Some(b':') {
                self.at += 1;
                let index = u32::try_from(ops.len())
                    .map_err(|_| self.error("more operations of a rank than 2^32"))?;
                if labels.insert(word, index).is_some() {
                    return Err(self.error(format!("two operations are called `{word}`")));
                }
                self.room(OP + LABEL)?;
                ops.push(self.op(ranks)?);
            } else if let Some(wait) = self.dependency_word(word) {
                let on = self.label(&labels)?;
                let waits = find(&labels, word).map_err(|what| TextError { line, what })?;
                self.room(EDGE)?;
                dependencies.push(Dependency { waits, on, wait });
            } else {
                self.at = start;
                self.room(OP)?;
                ops.push(self.op(ranks)?);
            }
            self.end_of_line()?;
        }
    }

    /// `requires` or `irequires` behind the label of an operation.
    fn dependency_word(&mut self, label: &str) -> Option<Wait> {
        if label.is_empty() {
            None
        } else if self.optional("irequires") {
            Some(Wait::Start)
        } else if self.optional("requires") {
            Some(Wait::Completion)
        } else {
            None
        }
    }

    fn label(&mut self, labels: &FxHashMap<&str, u32>) -> Result<u32, TextError> {
        self.blanks();
        let word = self.word();
        if word.is_empty() {
            return Err(self.error(format!("`{}` instead of a label", self.word_here())));
        }
        self.at += word.len();
        find(labels, word).map_err(|what| self.error(what))
    }

    fn op(&mut self, ranks: u64) -> Result<Op, TextError> {
        const WANTED: &str = "`send`, `recv`, `calc` or `}`";
        self.blanks();
        let kinds = [Kind::Send, Kind::Recv, Kind::Calc];
        let kind = kinds.into_iter().find(|k| self.rest().starts_with(k.name().as_bytes()));
        let Some(kind) = kind else {
            return Err(self.error(format!("`{}` instead of {WANTED}", self.word_here())));
        };
        self.at += kind.name().len();
        let mut op = Op { kind, size: 0, peer: 0, tag: 0, cpu: 0, nic: 0 };
        if kind == Kind::Calc {
            op.size = self.number("nanoseconds")?;
        } else {
            op.size = self.number("a number of bytes")?;
            self.symbol(b'b')?;
            op.peer = self.peer(kind, ranks)?;
            if self.optional("tag") {
                op.tag = self.number_or_any("a tag")?;
            }
        }
        if self.optional("cpu") {
            op.cpu = self.small("the number of a CPU")?;
        }
        if kind != Kind::Calc && self.optional("nic") {
            op.nic = self.small("the number of a NIC")?;
        }
        Ok(op)
    }

    fn peer(&mut self, kind: Kind, ranks: u64) -> Result<u64, TextError> {
        let peer = if kind == Kind::Send {
            self.keyword("to", "`to`")?;
            self.number("the number of a rank")?
        } else {
            self.keyword("from", "`from`")?;
            self.number_or_any("the number of a rank, or -1")?
        };
        if peer != ANY && peer >= ranks {
            return Err(self.error(format!("there is no rank {peer}: num_ranks is {ranks}")));
        }
        Ok(peer)
    }
}

fn find(labels: &FxHashMap<&str, u32>, word: &str) -> Result<u32, String> {
    labels.get(word).copied().ok_or_else(|| {
        format!("no operation before this line is called `{word}`: labels belong to one rank")
    })
}
