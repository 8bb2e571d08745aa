//! Readers of schedules on input that nobody meant: an error or a schedule, never a panic.

use proptest::prelude::*;
use weir_coll::goal::{binary, text};
use weir_coll::loggops;

const WORDS: &[&str] = &[
    "num_ranks 2\n",
    "rank 0 {\n",
    "rank 1 {\n",
    "}\n",
    "a: ",
    "b: ",
    "send 8b to 1",
    "tag -1",
    "cpu 3",
    "recv 8b from 0",
    "recv 99999b from -1",
    "calc 5",
    "\n",
    "a requires b\n",
    "b irequires a\n",
    "/*",
    "*/",
    "// x\n",
    " ",
    "nic 70000",
    "18446744073709551615",
    "-1",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn arbitrary_bytes_are_a_schedule_or_an_error(
        bytes in prop::collection::vec(any::<u8>(), 0..400),
    ) {
        loggops::fuzz(&bytes);
    }

    /// What is accepted also ends, or names what waits.
    #[test]
    fn words_of_the_format_in_any_order_end(words in prop::collection::vec(0..WORDS.len(), 0..60)) {
        let body: String = words.into_iter().map(|i| WORDS[i]).collect();
        for text in [body.clone(), format!("num_ranks 2\nrank 0 {{\n{body}\n}}\n")] {
            loggops::fuzz(text.as_bytes());
        }
    }

    #[test]
    fn a_damaged_binary_file_is_a_schedule_or_an_error(at in 0_usize..200, byte in any::<u8>()) {
        let text = "num_ranks 2\nrank 0 {\na: send 8b to 1\nb: calc 3\nb requires a\n}\nrank 1 {\n\
                    recv 8b from 0\n}\n";
        let schedule = text::parse(text.as_bytes()).expect("a schedule");
        let mut bytes = binary::write(&schedule).expect("it fits");
        let at = at % bytes.len();
        bytes[at] = byte;
        loggops::fuzz(&bytes);
    }
}
