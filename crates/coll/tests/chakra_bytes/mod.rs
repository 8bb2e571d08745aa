//! An encoder of Chakra traces, written from the schema and used by tests only.

fn varint(mut x: u64, out: &mut Vec<u8>) {
    while x >= 0x80 {
        out.push(x as u8 | 0x80);
        x >>= 7;
    }
    out.push(x as u8);
}

fn number(field: u64, x: u64, out: &mut Vec<u8>) {
    // proto3 leaves zeros out
    if x != 0 {
        varint(field << 3, out);
        varint(x, out);
    }
}

fn bytes(field: u64, what: &[u8], out: &mut Vec<u8>) {
    varint(field << 3 | 2, out);
    varint(what.len() as u64, out);
    out.extend(what);
}

fn packed(field: u64, list: &[u64], out: &mut Vec<u8>) {
    if !list.is_empty() {
        let mut inner = Vec::new();
        list.iter().for_each(|x| varint(*x, &mut inner));
        bytes(field, &inner, out);
    }
}

/// An attribute, encoded.
#[derive(Clone, Debug)]
pub(crate) struct Attr(Vec<u8>);

impl Attr {
    fn new(name: &str, field: u64, value: u64) -> Self {
        let mut out = Vec::new();
        bytes(1, name.as_bytes(), &mut out);
        varint(field << 3, &mut out);
        varint(value, &mut out);
        Self(out)
    }

    pub(crate) fn int32(name: &str, x: i32) -> Self {
        Self::new(name, 7, i64::from(x) as u64)
    }

    pub(crate) fn int64(name: &str, x: i64) -> Self {
        Self::new(name, 9, x as u64)
    }

    pub(crate) fn uint(name: &str, x: u64) -> Self {
        Self::new(name, 13, x)
    }

    pub(crate) fn bool(name: &str, x: bool) -> Self {
        Self::new(name, 27, u64::from(x))
    }

    pub(crate) fn text(name: &str, x: &str) -> Self {
        let mut out = Vec::new();
        bytes(1, name.as_bytes(), &mut out);
        bytes(29, x.as_bytes(), &mut out);
        Self(out)
    }

    pub(crate) fn bools(name: &str, list: &[bool]) -> Self {
        let (mut out, mut inner) = (Vec::new(), Vec::new());
        bytes(1, name.as_bytes(), &mut out);
        let list: Vec<u64> = list.iter().map(|x| u64::from(*x)).collect();
        packed(1, &list, &mut inner);
        bytes(28, &inner, &mut out);
        Self(out)
    }
}

/// A node.
#[derive(Clone, Debug, Default)]
pub(crate) struct Node {
    pub(crate) id: u64,
    pub(crate) kind: u64,
    pub(crate) duration: u64,
    pub(crate) ctrl: Vec<u64>,
    pub(crate) data: Vec<u64>,
    pub(crate) values: Vec<String>,
    pub(crate) attrs: Vec<Attr>,
}

impl Node {
    pub(crate) fn after(self, data: &[u64]) -> Self {
        Self { data: data.into(), ..self }
    }

    pub(crate) fn after_control(self, ctrl: &[u64]) -> Self {
        Self { ctrl: ctrl.into(), ..self }
    }

    fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        number(1, self.id, &mut out);
        bytes(2, b"a name", &mut out);
        number(3, self.kind, &mut out);
        packed(4, &self.ctrl, &mut out);
        packed(5, &self.data, &mut out);
        number(7, self.duration, &mut out);
        for value in &self.values {
            let mut info = Vec::new();
            bytes(1, value.as_bytes(), &mut info);
            bytes(8, &info, &mut out);
        }
        self.attrs.iter().for_each(|a| bytes(10, &a.0, &mut out));
        out
    }
}

pub(crate) fn send(id: u64, to: u32, size: u64, tag: i32) -> Node {
    let attrs = vec![
        Attr::int32("comm_dst", to as i32),
        Attr::int64("comm_size", size as i64),
        Attr::int32("comm_tag", tag),
        // to be ignored on messages
        Attr::int64("comm_type", 5),
    ];
    Node { id, kind: 5, attrs, ..Node::default() }
}

pub(crate) fn recv(id: u64, from: u32, size: u64, tag: i32) -> Node {
    let attrs = vec![
        Attr::int32("comm_src", from as i32),
        Attr::int64("comm_size", size as i64),
        Attr::int32("comm_tag", tag),
    ];
    Node { id, kind: 6, attrs, ..Node::default() }
}

pub(crate) fn collective(id: u64, kind: i64, size: i64, group: &str) -> Node {
    let mut attrs = vec![Attr::int64("comm_type", kind), Attr::int64("comm_size", size)];
    if !group.is_empty() {
        attrs.push(Attr::text("pg_name", group));
    }
    Node { id, kind: 7, attrs, ..Node::default() }
}

/// A file: the version, then nodes, each with its length before it.
pub(crate) fn file(nodes: &[Node]) -> Vec<u8> {
    let mut metadata = Vec::new();
    bytes(1, b"0.0.4", &mut metadata);
    let mut out = Vec::new();
    for message in std::iter::once(metadata).chain(nodes.iter().map(Node::encode)) {
        varint(message.len() as u64, &mut out);
        out.extend(message);
    }
    out
}

/// The same, packed.
pub(crate) fn gzip(plain: &[u8]) -> Vec<u8> {
    let mut out = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3];
    out.extend(miniz_oxide::deflate::compress_to_vec(plain, 6));
    out.extend(crc32fast::hash(plain).to_le_bytes());
    out.extend((plain.len() as u32).to_le_bytes());
    out
}
