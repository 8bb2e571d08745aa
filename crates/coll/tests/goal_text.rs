//! The reader of GOAL text against the plain one: the same schedules, and the same errors.

mod plain;

use proptest::prelude::*;
use weir_coll::goal::text;

/// What may stand between two words.
const GAPS: &[&str] = &[" ", " ", " ", "", "  ", "\t", " \t\r ", "\r"];
/// What may stand at the end of a line, and between lines.
const ENDS: &[&str] = &[
    "\n",
    "\n",
    "\n",
    "\r\n",
    " \n",
    "\n\n\t\n",
    " // words: send 1b to 0\n",
    "/* one */ // two\n",
    "/* more\nlines */\n",
    "\n/* before */ ",
    "\n//\n",
    "/**/\n",
    "\n /*/ not closed */\n",
];
/// Labels; those of numbers in order are made beside these.
const LABELS: &[&str] = &[
    "a",
    "b0",
    "b00",
    "b01",
    "b1",
    "send1",
    "recv",
    "calc2",
    "requires",
    "x_1",
    "l4294967297",
    "l1",
    "a1b2",
    "a_very_long_label_with_a_number_7",
    "l999999999",
    "l70000",
    "_a",
    "é",
    "l-1",
];
/// Numbers, mostly ones that are right.
const NUMBERS: &[&str] = &[
    "0",
    "1",
    "2",
    "3",
    "8",
    "65535",
    "65536",
    "007",
    "18446744073709551614",
    "-1",
    "18446744073709551615",
    "18446744073709551616",
    "000000000000000000000000000001",
    "x",
    "",
    "99999999999999999999999999999999",
];
/// Bytes and words that are put somewhere.
const DAMAGE: &[&str] = &[
    "",
    "}",
    "{",
    "\n",
    "rank",
    "num_ranks 3",
    ":",
    "-",
    "/*",
    "*/",
    "//",
    "\0",
    "\u{a0}",
    "send",
    "l1",
    "tag",
    "b",
    "\"",
    "\\",
];

#[derive(Clone, Debug)]
struct Line {
    form: u8,
    label: u8,
    /// Which labels of those before it.
    on: (u16, u16),
    numbers: [u8; 5],
    parts: u8,
    gaps: [u8; 4],
    end: u8,
}

fn line() -> impl Strategy<Value = Line> {
    let rest = (any::<[u8; 5]>(), any::<u8>(), any::<[u8; 4]>(), any::<u8>());
    (any::<u8>(), any::<u8>(), any::<(u16, u16)>(), rest).prop_map(
        |(form, label, on, (numbers, parts, gaps, end))| Line {
            form,
            label,
            on,
            numbers,
            parts,
            gaps,
            end,
        },
    )
}

fn of<'a>(list: &[&'a str], which: u8) -> &'a str {
    list[usize::from(which) % list.len()]
}

/// How much of a text is wrong: the first error ends the reading, so mostly nothing is.
#[derive(Clone, Copy, Debug)]
enum Care {
    Valid,
    Odd,
}

impl Care {
    fn number(self, which: u8) -> &'static str {
        match self {
            Self::Valid => of(&NUMBERS[..3], which),
            Self::Odd if which > 20 => of(&NUMBERS[..5], which),
            Self::Odd => of(NUMBERS, which),
        }
    }

    fn gap(self, which: u8) -> &'static str {
        match self {
            Self::Valid => " ",
            Self::Odd => of(GAPS, which),
        }
    }
}

impl Line {
    /// The words of an operation or a dependency, with odd spaces between them.
    fn write(&self, care: Care, labels: &mut Vec<String>, out: &mut String) {
        let number = |i: usize| care.number(self.numbers[i]);
        let known = |which: u16| labels.get(usize::from(which) % labels.len().max(1)).cloned();
        let mut words: Vec<String> = Vec::new();
        match self.form % 8 {
            0 | 1 if !labels.is_empty() => {
                let word = if self.parts.is_multiple_of(2) { "requires" } else { "irequires" };
                words.extend(
                    [known(self.on.0), Some(word.into()), known(self.on.1)].into_iter().flatten(),
                );
            }
            form => {
                let label = match self.label % 8 {
                    0 => None,
                    1 if matches!(care, Care::Odd) => Some(of(LABELS, self.numbers[0]).to_owned()),
                    2 => Some(format!("s{}", labels.len())),
                    3 => Some(format!("odd_{}x", labels.len())),
                    4 => Some(format!("l{}", 1000 + labels.len())),
                    _ => Some(format!("l{}", labels.len())),
                };
                if let Some(label) = label {
                    words.extend([label.clone(), ":".into()]);
                    labels.push(label);
                }
                let (kind, peer) =
                    [("calc", ""), ("send", "to"), ("recv", "from")][usize::from(form % 3)];
                words.extend([kind.into(), number(0).into()]);
                if form % 3 > 0 {
                    words.extend(["b".into(), peer.into(), number(1).into()]);
                }
                for (bit, word) in ["tag", "cpu", "nic"].into_iter().enumerate() {
                    let fits = form % 3 > 0
                        || word == "cpu"
                        || (matches!(care, Care::Odd) && self.parts > 250);
                    if self.parts & 1 << bit != 0 && fits {
                        words.extend([word.into(), number(2 + bit).into()]);
                    }
                }
            }
        }
        for (i, word) in words.iter().enumerate() {
            out.push_str(word);
            // without a blank two words would be one
            let glue = care.gap(self.gaps[i % 4]);
            out.push_str(if glue.is_empty() && i.is_multiple_of(3) { " " } else { glue });
        }
        out.push_str(if matches!(care, Care::Valid) {
            of(&ENDS[..4], self.end)
        } else {
            of(ENDS, self.end)
        });
    }
}

/// A text that is a schedule, or nearly.
fn written(care: Care, ranks: &[Vec<Line>]) -> String {
    let mut out = format!("num_ranks {}\n", ranks.len().max(3));
    // in the order of the file from the last to the first
    for (rank, lines) in ranks.iter().enumerate().rev() {
        out.push_str(&format!("rank {rank} {{\n"));
        let mut labels = Vec::new();
        for line in lines {
            line.write(care, &mut labels, &mut out);
        }
        out.push_str("}\n");
    }
    out
}

fn ranks() -> impl Strategy<Value = Vec<Vec<Line>>> {
    prop::collection::vec(prop::collection::vec(line(), 0..40), 1..5)
}

#[test]
fn both_read_the_forms_that_random_texts_may_miss() {
    for text in [
        "",
        "\n",
        "num_ranks",
        "num_ranks 1",
        "num_ranks 0",
        "num_ranks 1 2",
        "num_ranks 1\nrank",
        "num_ranks 1\nrank 0 {",
        "num_ranks 1\nrank 0 {\n",
        "num_ranks 1\nrank 0 {}",
        "num_ranks 1\nrank 0 {\n}",
        "num_ranks 1\nrank 0 {\nl1",
        "num_ranks 1\nrank 0 {\nl1:",
        "num_ranks 1\nrank 0 {\nl1: calc 1",
        "num_ranks 1\nrank 0 {\nl1: calc 1\nl1 requires",
        "num_ranks 1\nrank 0 {\nl1: calc 1\nl1 requires l1\n",
        "num_ranks 1\nrank 0 {\n/*",
        "num_ranks 1\nrank 0 {\nl1: calc 1\nl2 requires l1\n}",
        "num_ranks 1\nrank 0 {\n//",
        "num_ranks 1\nrank 0 {\nl1: calc 1\nl1 requires l2\n}",
        "num_ranks 2\nrank 0 {\nl1: calc 1\n}\nrank 1 {\nl1: calc 1\nl1 irequires l1\n}",
        "num_ranks 2\nrank 0 {\nl1: calc 1\n}\nrank 1 {\nl2: calc 1\nl2 requires l1\n}",
    ] {
        assert_eq!(text::parse(text.as_bytes()), plain::parse(text.as_bytes()), "{text:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn valid_schedules_are_read_alike(ranks in ranks()) {
        let text = written(Care::Valid, &ranks);
        let read = text::parse(text.as_bytes());
        // tag, CPU and peers are small, and labels numbered: only the same label twice is wrong
        if let Err(e) = &read {
            prop_assert!(e.what.starts_with("two operations are called"), "{e}\n{text}");
        }
        prop_assert_eq!(read, plain::parse(text.as_bytes()));
    }

    #[test]
    fn odd_texts_are_read_alike_or_give_the_same_error(ranks in ranks()) {
        let text = written(Care::Odd, &ranks);
        prop_assert_eq!(text::parse(text.as_bytes()), plain::parse(text.as_bytes()));
    }

    #[test]
    fn damaged_texts_give_the_same_error(
        ranks in ranks(),
        at in any::<prop::sample::Index>(),
        removed in 0_usize..4,
        damage in 0..DAMAGE.len(),
        byte in prop::option::of(any::<u8>()),
    ) {
        let mut bytes = written(Care::Valid, &ranks).into_bytes();
        let at = at.index(bytes.len());
        let end = (at + removed).min(bytes.len());
        bytes.splice(at..end, DAMAGE[damage].bytes().chain(byte));
        prop_assert_eq!(text::parse(&bytes), plain::parse(&bytes));
    }

    #[test]
    fn cut_texts_give_the_same_error(ranks in ranks(), at in any::<prop::sample::Index>()) {
        let text = written(Care::Odd, &ranks);
        let bytes = &text.as_bytes()[..at.index(text.len())];
        prop_assert_eq!(text::parse(bytes), plain::parse(bytes));
    }
}
