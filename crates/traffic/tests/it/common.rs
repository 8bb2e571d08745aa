//! What several integration tests need.

use weir_core::{NodeId, Rate};
use weir_traffic::{Fabric, Names};

/// `n` hosts at 100 Gb/s behind a core of half that capacity.
pub(crate) fn fabric(n: u32) -> Fabric {
    let hosts: Vec<NodeId> = (0..n).map(NodeId).collect();
    let fabric = Fabric::uniform(&hosts, Rate::from_gbps(100)).unwrap();
    let crossing = "7/8".parse().unwrap();
    fabric.with_core(u128::from(n) * 50_000_000_000, Some(crossing)).unwrap()
}

/// Hosts are called `h0`, `h1`, ...; `h2..h5` is a group (h5 excluded). Static paths are called
/// `p0`, `p1`, ... There are two files.
pub(crate) struct Numbered(pub(crate) u32);

impl Names for Numbered {
    fn hosts(&self, name: &str) -> Option<Vec<NodeId>> {
        let host = |name: &str| name.strip_prefix('h')?.parse::<u32>().ok();
        let (from, to) = match name.split_once("..") {
            Some((from, to)) => (host(from)?, host(to)?),
            None => (host(name)?, host(name)? + 1),
        };
        (to <= self.0).then(|| (from..to).map(NodeId).collect())
    }

    fn known_hosts(&self) -> Vec<String> {
        (0..self.0).map(|i| format!("h{i}")).collect()
    }

    fn path(&self, name: &str, _: NodeId, _: NodeId) -> Option<u32> {
        name.strip_prefix('p')?.parse().ok()
    }

    fn file(&self, name: &str) -> Result<String, String> {
        match name {
            "mine.cdf" => Ok("0 0\n1000 100\n".into()),
            "bad.cdf" => Ok("0 0\n1000 50\n".into()),
            "flows.csv" => Ok("src,dst,size,start,class\nh0,h1,5KB,1us,listed\n".into()),
            "bad.csv" => Ok("src,dst,size,start\nh0,h0,5KB,1us\n".into()),
            _ => Err("no such file".into()),
        }
    }
}
