//! A node of a trace, whatever form it was read from.

/// What a node does, by number.
pub(super) const KINDS: [&str; 8] = [
    "INVALID_NODE",
    "METADATA_NODE",
    "MEM_LOAD_NODE",
    "MEM_STORE_NODE",
    "COMP_NODE",
    "COMM_SEND_NODE",
    "COMM_RECV_NODE",
    "COMM_COLL_NODE",
];

/// Collectives, by number.
pub(super) const COLLECTIVES: [&str; 10] = [
    "ALL_REDUCE",
    "REDUCE",
    "ALL_GATHER",
    "GATHER",
    "SCATTER",
    "BROADCAST",
    "ALL_TO_ALL",
    "REDUCE_SCATTER",
    "REDUCE_SCATTER_BLOCK",
    "BARRIER",
];

/// The value of an attribute.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Int(i128),
    Bool(bool),
    Text(String),
    Bools(Vec<bool>),
    /// Something else, in words.
    Other(&'static str),
}

impl Value {
    fn words(&self) -> String {
        match self {
            Self::Int(x) => x.to_string(),
            Self::Bool(x) => x.to_string(),
            Self::Text(x) => format!("`{}`", x.chars().take(40).collect::<String>()),
            Self::Bools(_) => "a list".into(),
            Self::Other(what) => (*what).into(),
        }
    }
}

/// What is known of a node.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Node {
    pub(super) id: u64,
    pub(super) name: String,
    pub(super) kind: u64,
    pub(super) ctrl_deps: Vec<u64>,
    pub(super) data_deps: Vec<u64>,
    pub(super) duration_us: u64,
    /// Values of its inputs.
    pub(super) values: Vec<String>,
    pub(super) is_cpu_op: bool,
    pub(super) comm_type: Option<u64>,
    pub(super) comm_size: Option<u64>,
    pub(super) src: Option<u64>,
    pub(super) dst: Option<u64>,
    pub(super) tag: u32,
    pub(super) root: Option<u64>,
    pub(super) priority: bool,
    pub(super) group: String,
    /// Some dimensions of a network take part, others do not.
    pub(super) some_dimensions: bool,
    pub(super) tensor_size: u64,
}

impl Node {
    /// Takes an attribute over, if it is one that matters.
    pub(super) fn set(&mut self, name: &str, value: Value) -> Result<(), String> {
        match name {
            "is_cpu_op" => {
                self.is_cpu_op = match value {
                    Value::Bool(yes) => yes,
                    Value::Int(x) => x != 0,
                    _ => return Err(wrong(name, &value, "true or false")),
                }
            }
            "comm_type" => self.comm_type = Some(kind_of_collective(&value)?),
            "comm_size" => self.comm_size = Some(whole(name, &value)?),
            "comm_src" => self.src = Some(whole(name, &value)?),
            "comm_dst" => self.dst = Some(whole(name, &value)?),
            "root_rank" => self.root = Some(whole(name, &value)?),
            "comm_tag" => {
                let Value::Int(tag) = value else { return Err(wrong(name, &value, "a number")) };
                let wide = i32::try_from(tag).map(|tag| tag as u32);
                self.tag = wide
                    .or(u32::try_from(tag))
                    .map_err(|_| format!("`comm_tag` is {tag}, which does not fit into 32 bits"))?;
            }
            "tensor_size" => self.tensor_size = whole(name, &value)?,
            "comm_priority" => self.priority = !matches!(value, Value::Int(0)),
            "pg_name" => match value {
                Value::Text(name) => self.group = name,
                Value::Int(number) => self.group = number.to_string(),
                _ => return Err(wrong(name, &value, "the name of a group")),
            },
            "involved_dim" => match value {
                Value::Bools(list) => self.some_dimensions = list.contains(&false),
                _ => return Err(wrong(name, &value, "a list of true and false")),
            },
            _ => {}
        }
        Ok(())
    }
}

fn wrong(name: &str, value: &Value, valid: &str) -> String {
    format!("`{name}` is {}, not {valid}", value.words())
}

fn whole(name: &str, value: &Value) -> Result<u64, String> {
    match value {
        Value::Int(x) => u64::try_from(*x)
            .map_err(|_| format!("`{name}` is {x}, not a number from 0 to 2^64 - 1")),
        _ => Err(wrong(name, value, "a whole number")),
    }
}

/// The number of a word in a list, which may be written as the number itself.
pub(super) fn numbered(word: &str, words: &[&str]) -> Option<u64> {
    let found = words.iter().position(|known| *known == word);
    found.map(|i| i as u64).or_else(|| word.parse().ok())
}

fn kind_of_collective(value: &Value) -> Result<u64, String> {
    if let Value::Text(word) = value {
        let found = numbered(word, &COLLECTIVES);
        return found.ok_or_else(|| wrong("comm_type", value, "the name of a collective"));
    }
    whole("comm_type", value)
}
