//! Settings of hosts, out of scripts and command output: `mlnx_qos`, `dcb`, `cma_roce_tos`,
//! `ethtool -a`.

use std::collections::BTreeSet;

/// One setting, and the line it stands on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// From 1.
    pub line: usize,
    /// What it says.
    pub what: HostFact,
}

/// What a line of a host says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HostFact {
    /// A type of service for RoCE.
    Tos(u64),
    /// A DSCP for a priority: `--dscp2prio set,26,3`.
    DscpToPriority(u8, u8),
    /// All DSCPs of a priority, as `mlnx_qos` prints them.
    Dscps(BTreeSet<u8>, u8),
    /// Priorities with PFC.
    Pfc(BTreeSet<u8>),
    /// How priorities are assigned.
    TrustsPcp,
    /// 802.3x pause is on.
    LinkPause(String),
}

/// A file with settings of a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    /// The file.
    pub file: String,
    /// In the order of its lines.
    pub settings: Vec<Setting>,
}

impl Host {
    /// Reads what is known of it; other lines are ignored.
    pub fn read(file: &str, text: &str) -> Self {
        let mut settings = Vec::new();
        let mut pause_report = false;
        for (index, raw) in text.lines().enumerate() {
            let line = raw.split('#').next().unwrap_or_default().trim();
            let words: Vec<&str> = line.split_whitespace().collect();
            let mut say = |what| settings.push(Setting { line: index + 1, what });
            if line.starts_with("Pause parameters") {
                pause_report = true;
            }
            let found = match words.first() {
                Some(&"RX:" | &"TX:") if pause_report => {
                    let on = words.get(1) == Some(&"on");
                    on.then(|| HostFact::LinkPause(line.to_owned()))
                }
                Some(_) if has(&words, "cma_roce_tos") => {
                    after(&words, &["-t", "--tos"]).map(HostFact::Tos)
                }
                Some(&"echo") if line.contains("traffic_class") => {
                    words.get(1).and_then(|w| number(w)).map(HostFact::Tos)
                }
                Some(_) if has(&words, "ethtool") && words.contains(&"-A") => {
                    let on = |side| words.windows(2).any(|w| w == [side, "on"]);
                    (on("rx") || on("tx")).then(|| HostFact::LinkPause(line.to_owned()))
                }
                Some(_) => printed(line, &words),
                None => None,
            };
            found.into_iter().for_each(&mut say);
            if has(&words, "mlnx_qos") {
                mlnx_qos(&words).into_iter().for_each(&mut say);
            }
        }
        Self { file: file.to_owned(), settings }
    }
}

/// What `mlnx_qos`, `dcb` and the kernel print, and `dcb` takes.
fn printed(line: &str, words: &[&str]) -> Option<HostFact> {
    if let Some(class) = line.strip_prefix("Global tclass=") {
        return number(class).map(HostFact::Tos);
    }
    if let Some(state) = line.strip_prefix("Priority trust state:") {
        return state.trim().eq_ignore_ascii_case("pcp").then_some(HostFact::TrustsPcp);
    }
    match words {
        // the row below `PFC configuration:`
        ["enabled", bits @ ..] if bits.len() == 8 => flags(bits).map(HostFact::Pfc),
        [priority, dscps] => {
            let priority = priority.strip_prefix("prio:")?.parse().ok()?;
            let list = dscps.strip_prefix("dscp:")?.split(',').filter(|d| !d.is_empty());
            let set: Option<BTreeSet<u8>> = list.map(|d| d.parse().ok()).collect();
            set.map(|set| HostFact::Dscps(set, priority))
        }
        _ if words.contains(&"prio-pfc") => Some(HostFact::Pfc(prio_pfc(words))),
        _ => None,
    }
}

/// `0 0 0 1 1 0 0 0`.
fn flags(bits: &[&str]) -> Option<BTreeSet<u8>> {
    let fits = bits.len() == 8 && bits.iter().all(|b| matches!(*b, "0" | "1"));
    fits.then(|| (0..8).filter(|i| bits[usize::from(*i)] == "1").collect())
}

/// `dcb pfc set dev eth0 prio-pfc all:off 3:on`, and what `dcb pfc show` prints.
fn prio_pfc(words: &[&str]) -> BTreeSet<u8> {
    let mut set = BTreeSet::new();
    for (which, state) in words.iter().filter_map(|w| w.split_once(':')) {
        let on = state == "on";
        let some: Vec<u8> = match which {
            "all" => (0..8).collect(),
            one => one.parse::<u8>().ok().filter(|p| *p < 8).into_iter().collect(),
        };
        match on {
            true => set.extend(some),
            false => set.retain(|p| !some.contains(p)),
        }
    }
    set
}

fn has(words: &[&str], program: &str) -> bool {
    words.iter().any(|w| w.rsplit('/').next() == Some(program))
}

/// Decimal, or hexadecimal with 0x.
fn number(word: &str) -> Option<u64> {
    let word = word.trim_matches(['"', '\'']);
    match word.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => word.strip_prefix("tclass=").unwrap_or(word).parse().ok(),
    }
}

fn value<'a>(words: &[&'a str], names: &[&str]) -> Option<&'a str> {
    let at = words.iter().enumerate().find_map(|(i, word)| {
        let (name, given) = word.split_once('=').map_or((*word, None), |(n, v)| (n, Some(v)));
        names.contains(&name).then(|| given.or_else(|| words.get(i + 1).copied()))
    });
    at.flatten()
}

fn after(words: &[&str], names: &[&str]) -> Option<u64> {
    value(words, names).and_then(number)
}

fn mlnx_qos(words: &[&str]) -> Vec<HostFact> {
    let mut all = Vec::new();
    if let Some(list) = value(words, &["--pfc", "-f"]) {
        let bits: Vec<&str> = list.split(',').map(str::trim).collect();
        all.extend(flags(&bits).map(HostFact::Pfc));
    }
    if value(words, &["--trust"]).is_some_and(|v| v.eq_ignore_ascii_case("pcp")) {
        all.push(HostFact::TrustsPcp);
    }
    if let Some(list) = value(words, &["--dscp2prio"]) {
        let parts: Vec<&str> = list.trim_matches(['\'', '"']).split(',').collect();
        if let ["set", dscp, priority] = parts.as_slice()
            && let (Ok(dscp), Ok(priority)) = (dscp.parse(), priority.parse())
        {
            all.push(HostFact::DscpToPriority(dscp, priority));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_found_with_their_lines() {
        let text = "#!/bin/sh\nmlnx_qos -i eth0 --trust=pcp --pfc 0,0,0,1,1,0,0,0\n\
                    cma_roce_tos -d mlx5_0 -t 106  # review\n\
                    echo 0x68 > /sys/class/infiniband/mlx5_0/tc/1/traffic_class\n\
                    Pause parameters for eth0:\nAutonegotiate: off\nRX:  on\nTX:  off\n\
                    ethtool -A eth0 rx off tx off\nmlnx_qos -i eth0 --dscp2prio set,26,3\n";
        let found = Host::read("host.sh", text).settings;
        let lines: Vec<usize> = found.iter().map(|s| s.line).collect();
        assert_eq!(lines, [2, 2, 3, 4, 7, 10]);
        assert_eq!(found[0].what, HostFact::Pfc([3, 4].into()));
        assert_eq!(found[1].what, HostFact::TrustsPcp);
        assert_eq!(found[2].what, HostFact::Tos(106));
        assert_eq!(found[3].what, HostFact::Tos(104));
        assert_eq!(found[5].what, HostFact::DscpToPriority(26, 3));
    }

    #[test]
    fn what_tools_print_is_read() {
        let text = "DCBX mode: OS controlled\nPriority trust state: pcp\ndscp2prio mapping:\n\
                    \tprio:0 dscp:07,06,05,04,03,02,01,00,\n\tprio:3 dscp:26,\n\
                    PFC configuration:\n\tpriority    0   1   2   3   4   5   6   7\n\
                    \tenabled     0   0   0   1   0   0   0   0\nGlobal tclass=106\n\
                    dcb pfc set dev eth0 prio-pfc all:off 3:on 4:on\n";
        let found = Host::read("host.txt", text).settings;
        let wanted = [
            (2, HostFact::TrustsPcp),
            (4, HostFact::Dscps((0..8).collect(), 0)),
            (5, HostFact::Dscps([26].into(), 3)),
            (8, HostFact::Pfc([3].into())),
            (9, HostFact::Tos(106)),
            (10, HostFact::Pfc([3, 4].into())),
        ];
        let found: Vec<_> = found.into_iter().map(|s| (s.line, s.what)).collect();
        assert_eq!(found, wanted);
    }
}
