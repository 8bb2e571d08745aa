//! Parameters as text, and the reader that turns them into a pattern's fields.
//!
//! A pattern documents its parameters in an [`Entry`]; the defaults written there are the
//! defaults used, because the [`Reader`] parses that very text when nothing was given.

use crate::error::TrafficError;
use crate::flow::Pair;
use crate::size::{SizeTable, Sizes, builtin_table};
use std::collections::{BTreeMap, BTreeSet};
use weir_core::param::word;
pub use weir_core::param::{Fallback, FromText, Kind, Param};
use weir_core::{Bytes, ClassId, NodeId, Ratio, nearest};

/// A pattern as documented: its name, what it does and what it takes.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The name in scenarios.
    pub name: &'static str,
    /// What it does, in a sentence or two.
    pub doc: &'static str,
    /// Its parameters, in groups.
    pub groups: &'static [&'static [Param]],
}

impl Entry {
    /// All its parameters.
    pub fn params(&self) -> impl Iterator<Item = &'static Param> {
        self.groups.iter().flat_map(|group| group.iter())
    }
}

/// A table of parameters: name, kind, fallback, meaning.
macro_rules! params {
    ($($name:literal $kind:expr, $fallback:expr, $doc:literal;)*) => {
        &[$(weir_core::param::Param {
            name: $name,
            fallback: $fallback,
            kind: $kind,
            doc: $doc,
        },)*]
    };
}
pub(crate) use params;

/// The parameters given for one pattern: names and what was written, a list where several values
/// were.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Params(BTreeMap<String, Vec<String>>);

impl Params {
    /// No parameters.
    pub fn new() -> Self {
        Self::default()
    }

    /// Gives `name` one value.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl ToString) -> Self {
        self.0.insert(name.into(), vec![value.to_string()]);
        self
    }

    /// Takes `name` back.
    #[must_use]
    pub fn without(mut self, name: &str) -> Self {
        self.0.remove(name);
        self
    }

    /// Gives `name` a list of values.
    #[must_use]
    pub fn with_list<T: ToString>(
        mut self,
        name: &str,
        values: impl IntoIterator<Item = T>,
    ) -> Self {
        self.0.insert(name.into(), values.into_iter().map(|v| v.to_string()).collect());
        self
    }
}

/// What names mean in a scenario. A caller supplies this; the methods with a default are for
/// scenarios that have no such things.
pub trait Names {
    /// The host or the group of hosts called `name`.
    fn hosts(&self, name: &str) -> Option<Vec<NodeId>>;

    /// Names of hosts and groups, to suggest one when `hosts` found none.
    fn known_hosts(&self) -> Vec<String> {
        Vec::new()
    }

    /// The index of the static path called `name` for a flow from `src` to `dst`.
    fn path(&self, name: &str, src: NodeId, dst: NodeId) -> Option<u32> {
        let _ = (name, src, dst);
        None
    }

    /// The text of a file that the scenario refers to, or why it cannot be read.
    fn file(&self, name: &str) -> Result<String, String> {
        let _ = name;
        Err("no files can be read here".into())
    }
}

/// Reads the parameters of one pattern.
pub struct Reader<'a> {
    entry: &'static Entry,
    params: &'a Params,
    names: &'a dyn Names,
    class: &'a mut dyn FnMut(&str) -> Result<ClassId, TrafficError>,
    read: BTreeSet<&'static str>,
}

impl<'a> Reader<'a> {
    /// A reader over `params`, none of which may be unknown to `entry`.
    pub(crate) fn new(
        entry: &'static Entry,
        params: &'a Params,
        names: &'a dyn Names,
        class: &'a mut dyn FnMut(&str) -> Result<ClassId, TrafficError>,
    ) -> Result<Self, TrafficError> {
        let known = || entry.params().map(|p| p.name);
        for name in params.0.keys() {
            if known().all(|k| k != name) {
                return Err(TrafficError::UnknownParameter {
                    pattern: entry.name,
                    name: name.clone(),
                    nearest: nearest(name, known()).map(str::to_owned),
                    known: known().collect(),
                });
            }
        }
        Ok(Self { entry, params, names, class, read: BTreeSet::new() })
    }

    /// The documented parameters that were never asked for: there must be none.
    pub(crate) fn unread(&self) -> Vec<&'static str> {
        self.entry.params().map(|p| p.name).filter(|name| !self.read.contains(name)).collect()
    }

    fn doc(&mut self, name: &'static str) -> &'static Param {
        self.read.insert(name);
        self.entry
            .params()
            .find(|p| p.name == name)
            .expect("a pattern reads only the parameters it documents")
    }

    /// What was written for `name`, or its default; `None` where absence has a meaning.
    fn texts(&mut self, name: &'static str) -> Result<Option<Vec<String>>, TrafficError> {
        let doc = self.doc(name);
        match (self.params.0.get(name), doc.fallback) {
            (Some(given), _) => {
                if given.len() != 1 && !doc.kind.is_list() {
                    let valid = format!("give one value: {}", doc.kind.describe());
                    let found = format!("a list of {}", given.len());
                    return Err(TrafficError::value(name, found, valid));
                }
                Ok(Some(given.clone()))
            }
            (None, Fallback::Is(text)) => Ok(Some(vec![text.into()])),
            (None, Fallback::Absent(_)) => Ok(None),
            (None, Fallback::Required) => Err(TrafficError::Missing {
                pattern: self.entry.name,
                parameter: name,
                doc: doc.doc,
            }),
        }
    }

    /// Whether a value was given, as against a default.
    pub fn given(&self, name: &str) -> bool {
        self.params.0.contains_key(name)
    }

    /// One value, or `None` where absence has a meaning.
    pub fn optional<T: FromText>(&mut self, name: &'static str) -> Result<Option<T>, TrafficError> {
        let Some(texts) = self.texts(name)? else { return Ok(None) };
        let param = self.doc(name);
        Ok(texts.first().map(|text| param.read(text)).transpose()?)
    }

    /// One value.
    pub fn get<T: FromText>(&mut self, name: &'static str) -> Result<T, TrafficError> {
        Ok(self.optional(name)?.expect("a parameter that may be absent is read as optional"))
    }

    /// A list of values; empty when absent.
    pub fn list<T: FromText>(&mut self, name: &'static str) -> Result<Vec<T>, TrafficError> {
        let texts = self.texts(name)?.unwrap_or_default();
        let param = self.doc(name);
        let read = |text: &String| T::from_text(text).map_err(|why| param.error(why).into());
        texts.iter().map(read).collect()
    }

    /// The value that stands for the word given.
    pub fn choice<T: Copy>(
        &mut self,
        name: &'static str,
        words: &[(&'static str, T)],
    ) -> Result<T, TrafficError> {
        let doc = self.doc(name);
        let known: Vec<&str> = words.iter().map(|&(word, _)| word).collect();
        debug_assert!(
            matches!(doc.kind, Kind::Choice(documented) if documented == known),
            "the words documented for `{name}` are those it takes"
        );
        let text: String = self.get(name)?;
        word(&text, words).map_err(|why| doc.error(why).into())
    }

    /// Hosts; `None` when absent, which stands for all.
    pub fn hosts(&mut self, name: &'static str) -> Result<Option<Vec<NodeId>>, TrafficError> {
        let Some(texts) = self.texts(name)? else { return Ok(None) };
        let mut hosts = Vec::new();
        for text in &texts {
            hosts.extend(self.resolve(name, text)?);
        }
        Ok(Some(hosts))
    }

    /// Groups of hosts, one per value.
    pub fn groups(&mut self, name: &'static str) -> Result<Vec<Vec<NodeId>>, TrafficError> {
        let texts = self.texts(name)?.unwrap_or_default();
        texts.iter().map(|text| self.resolve(name, text)).collect()
    }

    /// One host.
    pub fn host(&mut self, name: &'static str) -> Result<NodeId, TrafficError> {
        let text: String = self.get(name)?;
        match self.resolve(name, &text)?.as_slice() {
            &[host] => Ok(host),
            hosts => {
                let found = format!("`{text}`, a group of {}", hosts.len());
                Err(TrafficError::value(name, found, "name one host"))
            }
        }
    }

    fn resolve(&self, parameter: &'static str, name: &str) -> Result<Vec<NodeId>, TrafficError> {
        self.names.hosts(name).ok_or_else(|| {
            let known = self.names.known_hosts();
            let nearest = nearest(name, known.iter().map(String::as_str)).map(str::to_owned);
            TrafficError::UnknownName { parameter, what: "host", name: name.into(), nearest }
        })
    }

    /// The static path called `path` for a flow from `src` to `dst`.
    pub fn path(
        &self,
        parameter: &'static str,
        path: &str,
        src: NodeId,
        dst: NodeId,
    ) -> Result<u32, TrafficError> {
        self.names.path(path, src, dst).ok_or_else(|| TrafficError::UnknownName {
            parameter,
            what: "static path",
            name: format!("{path} from {src} to {dst}"),
            nearest: None,
        })
    }

    /// The pairs of `senders` and `receivers`: one receiver for all senders, or one for each; and
    /// the static path of each pair, if `path` is given.
    pub fn pairs(&mut self) -> Result<Vec<Pair>, TrafficError> {
        let senders = self.hosts("senders")?.unwrap_or_default();
        let receivers = self.hosts("receivers")?.unwrap_or_default();
        let path: Option<String> = self.optional("path")?;
        if receivers.len() != 1 && receivers.len() != senders.len() {
            let valid =
                format!("give one receiver, or one for each of the {} senders", senders.len());
            let found = format!("a list of {}", receivers.len());
            return Err(TrafficError::value("receivers", found, valid));
        }
        let receivers = receivers.iter().cycle();
        senders
            .iter()
            .zip(receivers)
            .map(|(&src, &dst)| {
                let path = path.as_ref().map(|p| self.path("path", p, src, dst)).transpose()?;
                Ok(Pair { src, dst, path })
            })
            .collect()
    }

    /// The id of a class.
    pub fn class(&mut self, name: &str) -> Result<ClassId, TrafficError> {
        (self.class)(name)
    }

    /// The text of a file.
    pub fn file(&self, parameter: &'static str, file: &str) -> Result<String, TrafficError> {
        self.names.file(file).map_err(|message| TrafficError::File {
            parameter,
            file: file.into(),
            message,
        })
    }

    /// The host called `name` in a file.
    pub(crate) fn lookup(&self, name: &str) -> Option<NodeId> {
        match self.names.hosts(name)?.as_slice() {
            &[host] => Some(host),
            _ => None,
        }
    }

    /// The static path called `name` in a file.
    pub(crate) fn way(&self, name: &str, src: NodeId, dst: NodeId) -> Option<u32> {
        self.names.path(name, src, dst)
    }

    /// Flow sizes: one size, a range, a table or a file; tables are multiplied by `scale`.
    pub fn sizes(
        &mut self,
        name: &'static str,
        scale: &'static str,
    ) -> Result<Sizes, TrafficError> {
        let sizes = self.optional_sizes(name, scale)?;
        Ok(sizes.expect("a parameter that may be absent is read as optional"))
    }

    /// [`Reader::sizes`], or `None` where absence has a meaning.
    pub fn optional_sizes(
        &mut self,
        name: &'static str,
        scale: &'static str,
    ) -> Result<Option<Sizes>, TrafficError> {
        let scale_by: Ratio = self.get(scale)?;
        let text: Option<String> = self.optional(name)?;
        let sizes =
            text.as_deref().map(|t| self.parse_sizes(name, t.trim(), scale_by)).transpose()?;
        if self.given(scale) && !matches!(sizes, Some(Sizes::Table { .. })) {
            let valid =
                format!("only the sizes of a table can be scaled, and `{name}` is not a table");
            return Err(TrafficError::value(scale, scale_by, valid));
        }
        Ok(sizes)
    }

    fn parse_sizes(
        &self,
        name: &'static str,
        text: &str,
        scale: Ratio,
    ) -> Result<Sizes, TrafficError> {
        let bad = |e: &dyn ToString| TrafficError::value(name, format!("`{text}`"), e.to_string());
        if let Some((low, high)) = text.split_once("..") {
            let low = low.parse().map_err(|e| bad(&e))?;
            let high = high.parse().map_err(|e| bad(&e))?;
            return Ok(Sizes::Uniform { low, high });
        }
        if text == "unlimited" || text.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
            return Bytes::from_text(text).map(Sizes::Fixed).map_err(|e| bad(&e));
        }
        if text.ends_with(".cdf") {
            let table: Result<SizeTable, _> = self.file(name, text)?.parse();
            let table = table.map_err(|e| TrafficError::File {
                parameter: name,
                file: text.into(),
                message: e.to_string(),
            })?;
            return Ok(Sizes::Table { table: table.into(), scale });
        }
        match builtin_table(text) {
            Ok(table) => Ok(Sizes::Table { table, scale }),
            Err(error) => Err(TrafficError::UnknownTable { parameter: name, error }),
        }
    }
}
