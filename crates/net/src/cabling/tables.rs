//! CSV: a line per cable, with a head that names the columns.

use super::{Cable, CablingError, KIND, LENGTH, List, SPEED, is, missing, plain};

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
    // the type of each end: `type_a`, `from_type`, ...
    let kind_of = |end: usize| {
        let own = plain(&names[end]);
        let fits = |n: &&String| {
            let n = plain(n);
            KIND.iter().any(|k| {
                let suffix = own.rsplit('_').next().unwrap_or(&own);
                [format!("{own}_{k}"), format!("{k}_{own}"), format!("{k}_{suffix}")].contains(&n)
            })
        };
        names.iter().position(|n| fits(&n))
    };
    let kinds = [kind_of(from), kind_of(to)];
    let mut list = List::default();
    for (line, text) in lines {
        let row = cells(text, separator);
        let cell = |i: usize| row.get(i).filter(|c| !c.is_empty()).cloned();
        let (Some(a), Some(b)) = (cell(from), cell(to)) else {
            return Err(CablingError::new(line, "a cable needs two ends"));
        };
        for (end, kind) in [(&a, kinds[0]), (&b, kinds[1])] {
            if let Some(kind) = kind.and_then(cell) {
                list.kinds.insert(end.clone(), kind);
            }
        }
        let of = |column: Option<usize>| column.and_then(cell);
        list.cable(Cable { line, ends: [a, b], speed: of(speed), length: of(length) });
    }
    Ok(list)
}
