//! The protobuf form, as far as it is needed: a length before each message, then fields.
//!
//! Numbers of fields and their types are those of Chakra's schema. What is not known is skipped, as
//! protobuf wants it; what ends in the middle of a field is an error.

use super::node::{Node, Value};
use std::io::Read;

/// The largest message: nodes have some hundred bytes, with lists of tensors some thousand.
pub const MOST_MESSAGE: u64 = 64 << 20;
/// The most bytes of a file, unpacked.
pub const MOST_BYTES: u64 = 8 << 30;

/// Reads messages with a length before each.
#[derive(Debug)]
pub struct Messages<R> {
    input: R,
    buffer: Vec<u8>,
    read: u64,
}

impl<R: Read> Messages<R> {
    /// Messages from here.
    pub fn new(input: R) -> Self {
        Self { input, buffer: Vec::new(), read: 0 }
    }

    fn byte(&mut self) -> Result<Option<u8>, String> {
        let mut byte = [0];
        loop {
            match self.input.read(&mut byte) {
                Ok(0) => return Ok(None),
                Ok(_) => {
                    self.read += 1;
                    return Ok(Some(byte[0]));
                }
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e.to_string()),
            }
        }
    }

    fn length(&mut self) -> Result<Option<u64>, String> {
        let mut value = 0_u64;
        for i in 0..10 {
            let Some(byte) = self.byte()? else {
                return match i {
                    0 => Ok(None),
                    _ => {
                        Err(format!("byte {}: the file ends in the length of a message", self.read))
                    }
                };
            };
            value |= u64::from(byte & 0x7f).checked_shl(7 * i).unwrap_or(0);
            if byte < 0x80 {
                return Ok(Some(value));
            }
        }
        Err(format!("byte {}: the length of a message has more than ten bytes", self.read))
    }

    /// The next message; `None` at the end of the file.
    pub fn message(&mut self) -> Result<Option<&[u8]>, String> {
        let Some(length) = self.length()? else { return Ok(None) };
        let at = self.read;
        if length > MOST_MESSAGE {
            return Err(format!(
                "byte {at}: a message of {length} bytes is more than {MOST_MESSAGE}: this may be \
                 no Chakra trace"
            ));
        }
        if at + length > MOST_BYTES {
            return Err(format!("byte {at}: the file has more than {MOST_BYTES} bytes unpacked"));
        }
        self.buffer.clear();
        // reads no more than there is, whatever the length claims
        let found = (&mut self.input).take(length).read_to_end(&mut self.buffer);
        let found = found.map_err(|e| format!("byte {at}: {e}"))? as u64;
        self.read += found;
        if found < length {
            return Err(format!(
                "byte {at}: the file ends after {found} of the {length} bytes of a message"
            ));
        }
        Ok(Some(&self.buffer))
    }
}

/// The value of a field.
#[derive(Clone, Copy, Debug)]
enum Raw<'a> {
    Varint(u64),
    Eight([u8; 8]),
    Bytes(&'a [u8]),
    Four([u8; 4]),
}

/// The fields of a message.
struct Fields<'a>(&'a [u8]);

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0_u64;
    for i in 0..10 {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f).checked_shl(7 * i).unwrap_or(0);
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

impl<'a> Fields<'a> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (head, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*head)
    }

    /// The next field; `Err` if the message is damaged.
    fn next(&mut self) -> Result<Option<(u64, Raw<'a>)>, String> {
        if self.0.is_empty() {
            return Ok(None);
        }
        let found = self.field();
        found.map(Some).ok_or_else(|| "a field ends in the middle or has an unknown form".into())
    }

    fn field(&mut self) -> Option<(u64, Raw<'a>)> {
        let key = varint(&mut self.0)?;
        let value = match key & 7 {
            0 => Raw::Varint(varint(&mut self.0)?),
            1 => Raw::Eight(self.take()?),
            2 => {
                let length = usize::try_from(varint(&mut self.0)?).ok()?;
                let (head, rest) = self.0.split_at_checked(length)?;
                self.0 = rest;
                Raw::Bytes(head)
            }
            5 => Raw::Four(self.take()?),
            _ => return None,
        };
        Some((key >> 3, value))
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Numbers, packed or one by one.
fn numbers(raw: Raw<'_>, into: &mut Vec<u64>) -> Result<(), String> {
    match raw {
        Raw::Varint(x) => into.push(x),
        Raw::Bytes(mut bytes) => {
            while !bytes.is_empty() {
                into.push(varint(&mut bytes).ok_or("a list of numbers ends in the middle")?);
            }
        }
        Raw::Eight(_) | Raw::Four(_) => return Err("a list of numbers has another form".into()),
    }
    Ok(())
}

/// Whether the first message of a file is a node: it has fields that metadata does not have.
pub(super) fn is_node(message: &[u8]) -> bool {
    let mut fields = Fields(message);
    while let Ok(Some((number, raw))) = fields.next() {
        if number > 2 || !matches!(raw, Raw::Bytes(_)) {
            return true;
        }
    }
    false
}

/// Reads a node.
pub(super) fn node(message: &[u8]) -> Result<Node, (u64, String)> {
    let mut node = Node::default();
    match read_node(message, &mut node) {
        Ok(()) => Ok(node),
        Err(what) => Err((node.id, what)),
    }
}

fn read_node(message: &[u8], node: &mut Node) -> Result<(), String> {
    let mut fields = Fields(message);
    while let Some((number, raw)) = fields.next()? {
        match (number, raw) {
            (1, Raw::Varint(id)) => node.id = id,
            (2, Raw::Bytes(name)) => node.name = text(name),
            (3, Raw::Varint(kind)) => node.kind = kind,
            (4, raw) => numbers(raw, &mut node.ctrl_deps)?,
            (5, raw) => numbers(raw, &mut node.data_deps)?,
            (7, Raw::Varint(us)) => node.duration_us = us,
            (8, Raw::Bytes(info)) => values(info, node)?,
            (10, Raw::Bytes(attribute)) => {
                if let Some((name, value)) = read_attribute(attribute)? {
                    node.set(&name, value)?;
                }
            }
            (1..=5 | 7 | 8 | 10, _) => return Err(format!("field {number} has another form")),
            _ => {}
        }
    }
    Ok(())
}

/// The values of inputs: for metadata, lists of groups as text.
fn values(info: &[u8], node: &mut Node) -> Result<(), String> {
    let mut fields = Fields(info);
    while let Some((number, raw)) = fields.next()? {
        if let (1, Raw::Bytes(value)) = (number, raw) {
            node.values.push(text(value));
        }
    }
    Ok(())
}

fn zigzag(x: u64) -> i128 {
    i128::from((x >> 1) as i64 ^ -((x & 1) as i64))
}

/// The name and the value of an attribute; `None` if it has no value of a form that matters.
fn read_attribute(message: &[u8]) -> Result<Option<(String, Value)>, String> {
    let (mut name, mut value) = (String::new(), None);
    let mut fields = Fields(message);
    while let Some((number, raw)) = fields.next()? {
        let found = match (number, raw) {
            (1, Raw::Bytes(bytes)) => {
                name = text(bytes);
                continue;
            }
            // negative numbers of 32 bits are extended to 64
            (7, Raw::Varint(x)) => Value::Int(i128::from(x as i32)),
            (9, Raw::Varint(x)) => Value::Int(i128::from(x as i64)),
            (11, Raw::Varint(x)) => Value::Int(i128::from(x as u32)),
            (13, Raw::Varint(x)) => Value::Int(i128::from(x)),
            (15 | 17, Raw::Varint(x)) => Value::Int(zigzag(x)),
            (19, Raw::Four(x)) => Value::Int(i128::from(u32::from_le_bytes(x))),
            (21, Raw::Eight(x)) => Value::Int(i128::from(u64::from_le_bytes(x))),
            (23, Raw::Four(x)) => Value::Int(i128::from(i32::from_le_bytes(x))),
            (25, Raw::Eight(x)) => Value::Int(i128::from(i64::from_le_bytes(x))),
            (27, Raw::Varint(x)) => Value::Bool(x != 0),
            (29 | 31, Raw::Bytes(bytes)) => Value::Text(text(bytes)),
            (28, Raw::Bytes(list)) => Value::Bools(bools(list)?),
            (3 | 5, _) => Value::Other("a fraction"),
            _ => continue,
        };
        value = Some(found);
    }
    Ok(value.map(|value| (name, value)))
}

fn bools(list: &[u8]) -> Result<Vec<bool>, String> {
    let mut all = Vec::new();
    let mut fields = Fields(list);
    while let Some((number, raw)) = fields.next()? {
        if number == 1 {
            numbers(raw, &mut all)?;
        }
    }
    Ok(all.into_iter().map(|x| x != 0).collect())
}
