//! CSV: a line per cable, with a head that names the columns.

use super::{Cable, CablingError, KIND, LENGTH, List, PORT, SPEED, is, missing, plain};

/// Names of the columns with the two ends.
const FROM: &[&str] = &[
    "a",
    "from",
    "source",
    "src",
    "node1",
    "node_a",
    "device_a",
    "local",
    "local_device",
    "device",
    "startdevice",
    "start_device",
    "a_device",
    "a_node",
    "switch",
];
const TO: &[&str] = &[
    "b",
    "to",
    "target",
    "destination",
    "dst",
    "node2",
    "node_b",
    "device_b",
    "remote",
    "remote_device",
    "peer",
    "neighbor",
    "neighbour",
    "enddevice",
    "end_device",
    "b_device",
    "b_node",
];

/// The cells of a line; a cell in quotation marks may hold the separator.
fn cells(line: &str, separator: char) -> Vec<String> {
    let (mut cells, mut cell, mut quoted) = (Vec::new(), String::new(), false);
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => cell.extend(chars.next()),
            '"' => quoted = !quoted,
            c if c == separator && !quoted => cells.push(std::mem::take(&mut cell)),
            c => cell.push(c),
        }
    }
    cells.push(cell);
    cells.iter().map(|c| c.trim().to_owned()).collect()
}

pub(super) fn read(text: &str) -> Result<List, CablingError> {
    let text = text.trim_start_matches('\u{feff}');
    let lines = text.lines().enumerate().map(|(i, line)| (i + 1, line));
    let mut lines = lines.filter(|(_, l)| !l.trim().is_empty() && !l.trim_start().starts_with('#'));
    let Some((at, head)) = lines.next() else {
        return Err(CablingError::new(1, "the list is empty"));
    };
    let separator = [',', ';', '\t'].into_iter().max_by_key(|&s| head.matches(s).count());
    let separator = separator.unwrap_or(',');
    let names = cells(head, separator);
    let find = |known: &[&str]| names.iter().position(|n| is(n, known));
    let from = find(FROM).ok_or_else(|| missing(at, "from", &names))?;
    let to = find(TO).ok_or_else(|| missing(at, "to", &names))?;
    let (speed, length) = (find(SPEED), find(LENGTH));
    let kinds = [from, to].map(|end| beside(&names, end, KIND));
    let [first, second] = [from, to].map(|end| beside(&names, end, PORT));
    // `device,port,peer,peer_port`
    let first = first.or_else(|| second.and(names.iter().position(|n| is(n, PORT))));
    let mut list = List::default();
    for (line, text) in lines {
        let row = cells(text, separator);
        let cell = |i: usize| row.get(i).filter(|c| !c.is_empty()).cloned();
        let (Some(a), Some(b)) = (cell(from), cell(to)) else {
            return Err(CablingError::new(line, "a cable needs two ends"));
        };
        let of = |column: Option<usize>| column.and_then(cell);
        let (a, p) = with_port(a, of(first));
        let (b, q) = with_port(b, of(second));
        let ports = [p, q];
        for (end, kind) in [(&a, kinds[0]), (&b, kinds[1])] {
            if let Some(kind) = kind.and_then(cell) {
                list.kinds.insert(end.clone(), kind);
            }
        }
        list.cable(Cable { line, ends: [a, b], ports, speed: of(speed), length: of(length) });
    }
    Ok(list)
}

/// `leaf0:Ethernet4`, where no column has the port: the device and its port.
fn with_port(end: String, port: Option<String>) -> (String, Option<String>) {
    match end.split_once(':') {
        Some((device, number)) if port.is_none() && !device.is_empty() && !number.is_empty() => {
            (device.to_owned(), Some(number.to_owned()))
        }
        _ => (end, port),
    }
}

/// The column with the type or the port of an end: `type_a` and `from_type` for `node_a` and
/// `from`, `local_port` for `local_device`, `port1` for `node1`.
fn beside(names: &[String], end: usize, what: &[&str]) -> Option<usize> {
    let own = plain(&names[end]);
    let word = ["device", "node"].into_iter().find_map(|w| own.strip_prefix(w));
    let stem = ["_device", "_node", "device", "node"].into_iter().find_map(|w| own.strip_suffix(w));
    let stems = [Some(own.as_str()), own.rsplit('_').next(), word, stem];
    let stems: Vec<&str> = stems.into_iter().flatten().map(|s| s.trim_matches('_')).collect();
    let fits = |name: &String| {
        let name = plain(name);
        let pairs = what.iter().flat_map(|k| stems.iter().map(move |s| (*k, *s)));
        pairs.filter(|(_, stem)| !stem.is_empty()).any(|(kind, stem)| {
            let forms = [format!("{stem}_{kind}"), format!("{kind}_{stem}")];
            forms.contains(&name) || name == format!("{kind}{stem}")
        })
    };
    names.iter().position(fits)
}
