//! Families of switches: what the headroom rule needs to know of them.

use weir_core::Bytes;

/// Which form of the headroom rule a family uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleForm {
    /// NVIDIA Spectrum: whole cells, small packets counted by bytes.
    Spectrum,
    /// Intel Tofino: fractions of cells, small packets counted by packets.
    Tofino,
}

/// A family of switches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asic {
    /// How it is written on the command line.
    pub name: &'static str,
    /// The form of the rule; `None` where only the size of the memory is known.
    pub form: Option<RuleForm>,
    /// Bytes of a cell of the packet memory.
    pub cell: u64,
    /// What arrives while a packet is in the pipeline, in KiB.
    pub pipeline_kib: u64,
    /// What arrives during the delay of MAC and PHY, in tenths of a KiB.
    pub mac_phy_tenths: u64,
    /// What arrives while a peer of an unlisted speed reacts, in tenths of a KiB.
    pub peer_tenths: u64,
    /// Bytes on a tile for each Gb/s of the port.
    pub tile_per_gbps: u64,
    /// What the family needs in addition.
    pub extra: u64,
    /// All of its packet memory, where it is published.
    pub buffer: Option<Bytes>,
    /// Words in a `platform` or `hwsku` that belong to it.
    pub hints: &'static [&'static str],
}

const fn mib(n: u64) -> Option<Bytes> {
    Some(Bytes::new(n << 20))
}

const fn spectrum(name: &'static str, cell: u64, hints: &'static [&'static str]) -> Asic {
    Asic {
        name,
        form: Some(RuleForm::Spectrum),
        cell,
        pipeline_kib: 19,
        mac_phy_tenths: 8,
        peer_tenths: 38,
        tile_per_gbps: 0,
        extra: 0,
        buffer: None,
        hints,
    }
}

const SPECTRUM_1: [&str; 6] = ["sn2700", "sn2410", "sn2100", "sn2740", "sn2010", "sn2201"];

/// The families that are known.
pub static ASICS: [Asic; 8] = [
    Asic { buffer: mib(16), ..spectrum("spectrum-1", 96, &SPECTRUM_1) },
    Asic { buffer: mib(42), ..spectrum("spectrum-2", 144, &["sn3700", "sn3800", "sn3420"]) },
    Asic { buffer: mib(64), ..spectrum("spectrum-3", 144, &["sn4600", "sn4700", "sn4410"]) },
    Asic { tile_per_gbps: 15, ..spectrum("spectrum-4", 192, &["sn5600", "sn5400"]) },
    Asic { tile_per_gbps: 15, ..spectrum("spectrum-5", 192, &["sn5610", "sn5640"]) },
    Asic { pipeline_kib: 42, extra: 18 * 1024, ..spectrum("spectrum-6", 256, &["sn6600"]) },
    Asic {
        name: "tofino-2",
        form: Some(RuleForm::Tofino),
        cell: 176,
        pipeline_kib: 68,
        mac_phy_tenths: 8,
        peer_tenths: 90,
        tile_per_gbps: 0,
        extra: 0,
        buffer: None,
        hints: &["wedge400", "newport", "tofino2"],
    },
    Asic {
        name: "tomahawk-6",
        form: None,
        cell: 420,
        pipeline_kib: 0,
        mac_phy_tenths: 0,
        peer_tenths: 0,
        tile_per_gbps: 0,
        extra: 0,
        // 636 183 cells of 420 B
        buffer: Some(Bytes::new(636_183 * 420)),
        hints: &["th6", "tomahawk6"],
    },
];

impl Asic {
    /// The family of this name.
    pub fn find(name: &str) -> Option<&'static Self> {
        let plain = |s: &str| s.to_ascii_lowercase().replace(['-', '_', ' '], "");
        ASICS.iter().find(|a| plain(a.name) == plain(name))
    }

    /// The family of a device, by its `platform` or `hwsku`.
    pub fn of_device(description: &str) -> Option<&'static Self> {
        let text = description.to_ascii_lowercase();
        ASICS.iter().find(|a| a.hints.iter().any(|hint| text.contains(hint)))
    }

    /// All names, for messages.
    pub fn names() -> String {
        ASICS.map(|a| a.name).join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_are_found_by_name_and_by_device() {
        assert_eq!(Asic::find("Spectrum_2").map(|a| a.cell), Some(144));
        assert_eq!(Asic::find("spectrum-9"), None);
        let by_sku = |sku| Asic::of_device(sku).map(|a| a.name);
        assert_eq!(by_sku("ACS-MSN2700"), Some("spectrum-1"));
        assert_eq!(by_sku("Mellanox-SN2700-D48C8"), Some("spectrum-1"));
        assert_eq!(by_sku("x86_64-mlnx_msn4600c-r0"), Some("spectrum-3"));
        assert_eq!(by_sku("Mellanox-SN5600-V256"), Some("spectrum-4"));
        assert_eq!(by_sku("Force10-S6000"), None);
    }
}
