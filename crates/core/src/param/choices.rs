//! Parameters that take several words at once.

use super::kind::known;
use std::fmt;

/// The words that a set is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choices {
    /// All words, at most 32. The first stands for the empty set, and stands alone.
    pub words: &'static [&'static str],
    /// Groups of words of which a set has one at most.
    pub apart: &'static [&'static [&'static str]],
}

/// A set of words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chosen {
    choices: Choices,
    /// Bit `i`: the word `i` is in it. The first word is no bit.
    bits: u32,
}

impl Choices {
    /// The set written as words with commas between them, in any order.
    pub fn read(self, text: &str) -> Result<Chosen, String> {
        let mut bits = 0;
        let mut none = false;
        for word in text.split(',').map(str::trim) {
            known(word, self.words)?;
            let at = self.words.iter().position(|w| *w == word).expect("it is known");
            if at == 0 {
                none = true;
            } else if bits & (1 << at) != 0 {
                return Err(format!("`{word}` is named twice"));
            } else {
                bits |= 1 << at;
            }
        }
        let chosen = Chosen { choices: self, bits };
        if none && bits != 0 {
            let (empty, other) = (self.words[0], chosen);
            return Err(format!("`{empty}` stands alone: it is the value without `{other}`"));
        }
        for group in self.apart {
            let both: Vec<&str> = group.iter().copied().filter(|w| chosen.has(w)).collect();
            if let [a, b, ..] = both[..] {
                return Err(format!("`{a}` and `{b}` exclude each other"));
            }
        }
        Ok(chosen)
    }
}

impl Chosen {
    /// Whether `word` is in it.
    pub fn has(self, word: &str) -> bool {
        self.words().any(|w| w == word)
    }

    /// Its words, in the order of the table.
    pub fn words(self) -> impl Iterator<Item = &'static str> {
        let all = self.choices.words.iter().enumerate();
        all.filter(move |(i, _)| self.bits & (1 << i) != 0).map(|(_, w)| *w)
    }
}

impl fmt::Display for Chosen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.bits == 0 {
            return f.write_str(self.choices.words[0]);
        }
        f.write_str(&self.words().collect::<Vec<_>>().join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const READINGS: Choices = Choices {
        words: &["text", "sign", "once", "printed", "bounded"],
        apart: &[&["printed", "bounded"]],
    };

    #[test]
    fn words_combine_in_any_order_and_are_shown_in_the_order_of_the_table() {
        let set = READINGS.read("once, sign").unwrap();
        assert_eq!(set.to_string(), "sign, once");
        assert!(set.has("sign") && !set.has("printed") && !set.has("text"));
        assert_eq!(READINGS.read("sign,once"), Ok(set));
    }

    #[test]
    fn the_first_word_is_the_empty_set() {
        let set = READINGS.read("text").unwrap();
        assert_eq!((set.to_string().as_str(), set.words().count()), ("text", 0));
        let error = READINGS.read("text, sign").unwrap_err();
        assert_eq!(error, "`text` stands alone: it is the value without `sign`");
    }

    #[test]
    fn what_excludes_each_other_is_refused() {
        let error = READINGS.read("bounded, printed").unwrap_err();
        assert_eq!(error, "`printed` and `bounded` exclude each other");
        assert_eq!(READINGS.read("sign, sign").unwrap_err(), "`sign` is named twice");
        assert!(READINGS.read("sing").unwrap_err().contains("did you mean `sign`?"));
        assert!(READINGS.read("").unwrap_err().contains("is not one of"));
    }
}
