//! The codes of findings: what each means, how grave it is, what mends it and which counters
//! confirm it.

use weir_core::{Severity, nearest};

/// A kind of finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Code {
    /// `SN201`.
    pub code: &'static str,
    /// How grave.
    pub severity: Severity,
    /// In a few words.
    pub title: &'static str,
    /// What goes wrong, and why.
    pub why: &'static str,
    /// What to do.
    pub mend: &'static str,
    /// Counters that confirm it on a switch or a host.
    pub evidence: &'static [&'static str],
}

use Severity::{Error, Note, Warning};

const PG_DROPS: &str = "SAI_INGRESS_PRIORITY_GROUP_STAT_DROPPED_PACKETS";
const XOFF_ROOM: &str = "SAI_INGRESS_PRIORITY_GROUP_STAT_XOFF_ROOM_WATERMARK_BYTES";
const POOL_XOFF: &str = "SAI_BUFFER_POOL_STAT_XOFF_ROOM_WATERMARK_BYTES";
const SHARED: &str = "SAI_INGRESS_PRIORITY_GROUP_STAT_SHARED_WATERMARK_BYTES";
const PFC_RX: &str = "SAI_PORT_STAT_PFC_3_RX_PKTS";
const PFC_TX: &str = "SAI_PORT_STAT_PFC_3_TX_PKTS";
const RX_PAUSE: &str = "SAI_PORT_STAT_PFC_3_RX_PAUSE_DURATION_US";
const MARKED: &str = "SAI_QUEUE_STAT_WRED_ECN_MARKED_PACKETS";
const QUEUE: &str = "SAI_QUEUE_STAT_SHARED_WATERMARK_BYTES";
const STORMS: &str = "PFC_WD_QUEUE_STATS_DEADLOCK_DETECTED";
const RESTORED: &str = "PFC_WD_QUEUE_STATS_DEADLOCK_RESTORED";
const NIC_PAUSE: &str = "ethtool -S: rx_prio3_pause, tx_prio3_pause";
const NIC_CNP: &str = "ethtool -S: np_ecn_marked_roce_packets, rp_cnp_handled";

macro_rules! codes {
    ($($code:ident $severity:ident $title:literal
        why $why:literal mend $mend:literal evidence $evidence:expr;)*) => {
        $(
            #[doc = $title]
            pub static $code: Code = Code {
                code: stringify!($code), severity: $severity, title: $title, why: $why,
                mend: $mend, evidence: $evidence,
            };
        )*
        /// All codes, in order.
        pub static CODES: &[&Code] = &[$(&$code),*];
    };
}

codes! {
    SN101 Error "a value is broken"
        why "The value is not of the type, range or pattern that its field has. A switch refuses \
             it, or worse, ignores the whole entry."
        mend "Write a value that the field allows; the finding names them."
        evidence &[];
    SN102 Error "a mandatory field is missing"
        why "The entry is refused without it."
        mend "Add the field."
        evidence &[];
    SN103 Error "a name refers to nothing"
        why "The entry names a profile, pool or map that the configuration does not have, so it \
             has no effect."
        mend "Correct the name, or add what it names."
        evidence &[];
    SN104 Warning "a number is not written as a string"
        why "All values of config_db are strings. Some programs that read the file refuse others."
        mend "Put the value in quotes."
        evidence &[];
    SN105 Note "nothing is lossless"
        why "No port enables PFC and no priority group has headroom, so there is nothing to check."
        mend "Nothing, if that is intended."
        evidence &[];
    SN201 Error "the headroom is too small"
        why "More can arrive after XOFF than the headroom stores: frames on both directions, the \
             cable's round trip, and what the peer sends before it reacts. The rest is dropped \
             although PFC is on."
        mend "Raise xoff (and size) of the profile to the needed value, or use a shorter cable."
        evidence &[PG_DROPS, XOFF_ROOM];
    SN202 Error "a lossless priority has no priority group"
        why "PFC is enabled for a priority whose priority group has no BUFFER_PG entry, so its \
             headroom is zero and every packet after XOFF is dropped."
        mend "Add a BUFFER_PG entry with a lossless profile."
        evidence &[PG_DROPS];
    SN203 Error "the headroom is zero"
        why "The profile of a priority group for which PFC is enabled has no xoff: packets that \
             arrive after the PAUSE are dropped, silently as far as PFC counters go."
        mend "Give the group a lossless profile, or disable PFC for the priority."
        evidence &[PG_DROPS];
    SN204 Error "size does not cover xon and xoff"
        why "Without a shared headroom pool the size of the profile is all that the group is \
             given, so it must hold xon and xoff."
        mend "Set size to at least xon + xoff, or configure a shared headroom pool."
        evidence &[PG_DROPS, XOFF_ROOM];
    SN205 Warning "xon and xoff are in the wrong order"
        why "The resume threshold is above the headroom or the pause threshold: the port resumes \
             while it is still congested, and pauses flap."
        mend "xon must be below the threshold at which the group pauses; exchange xon and xoff if \
              they were swapped."
        evidence &[PFC_TX];
    SN206 Warning "a priority group resumes only when it is empty"
        why "xon and xon_offset are both zero. The link runs dry while the RESUME travels."
        mend "Set xon, or xon_offset, to about the headroom's cable and response part."
        evidence &[RX_PAUSE];
    SN207 Warning "the profile is for another port"
        why "The name of the profile gives a speed or a cable length that the port does not have, \
             so its headroom was computed for another link."
        mend "Use the profile of the port's speed and cable."
        evidence &[XOFF_ROOM];
    SN208 Error "the lookup table has no such port"
        why "pg_profile_lookup.ini has no row for the speed and cable length of the port, so no \
             profile is created and its headroom is zero."
        mend "Add a row, or use a length that the table has."
        evidence &[PG_DROPS];
    SN209 Warning "the profile differs from the lookup table"
        why "The profile was changed by hand, or the table after it was created."
        mend "Use the values of the table, or write down why not."
        evidence &[XOFF_ROOM];
    SN210 Warning "the cable length of a lossless port is unknown"
        why "Without an entry in CABLE_LENGTH, or with 0m, the switch computes no headroom for \
             the port and this program cannot check it."
        mend "Add the length of the cable, rounded up."
        evidence &[];
    SN211 Warning "small packets are not counted fully"
        why "small_packet_percentage is below 100 and there is no shared headroom pool, so the \
             rule gives too little for traffic of small packets, each of which fills a cell in \
             part. Newer versions add 2 KiB where the difference is larger (swss PR 4757)."
        mend "Set small_packet_percentage to 100, or configure a shared headroom pool."
        evidence &[PG_DROPS, XOFF_ROOM];
    SN212 Note "the headroom is several times what is needed"
        why "The memory is missing where ports share it: pauses begin earlier."
        mend "Lower xoff to the needed value with a margin, if the memory is needed."
        evidence &[XOFF_ROOM, SHARED];
    SN213 Error "a port needs more headroom than it may have"
        why "The sum over the port's groups with what lossy traffic and mirroring need exceeds the \
             largest headroom of a port. The switch refuses the last group."
        mend "Use fewer lossless groups, shorter cables or a shared headroom pool."
        evidence &[];
    SN214 Warning "the headroom is below the rule of the switch"
        why "It covers what the cable and the peer need, but not the cells that small packets \
             waste, nor what the family needs in addition: under small packets it may be too \
             little."
        mend "Raise xoff (and size) of the profile to the value of the rule."
        evidence &[PG_DROPS, XOFF_ROOM];
    SN301 Error "the pools exceed the memory"
        why "Pool size and shared headroom together are more than the chip has. A cold boot drops \
             the profile silently, a warm reboot aborts (sonic-buildimage issue 28657)."
        mend "Lower size or xoff of the pool."
        evidence &[];
    SN302 Note "the memory of the switch is not known"
        why "Pools are not compared with the chip's memory because its size is not published."
        mend "Give it with --memory."
        evidence &[];
    SN303 Error "what groups are guaranteed exceeds their pool"
        why "The sum of the sizes of all priority groups is more than the pool has. The last \
             profiles are refused."
        mend "Raise the pool's size or lower the sizes of profiles."
        evidence &[];
    SN304 Error "the shared headroom pool is smaller than one group's headroom"
        why "A single paused group can use its whole xoff; the pool cannot store that."
        mend "Set xoff of the pool to at least the largest xoff of a profile, better to their sum \
              divided by the oversubscription you accept."
        evidence &[POOL_XOFF, PG_DROPS];
    SN305 Warning "the shared headroom pool is more oversubscribed than configured"
        why "The sum of xoff of all groups divided by the pool's xoff exceeds \
             over_subscribe_ratio: when many ports pause at once, packets are lost."
        mend "Raise xoff of the pool, or the ratio if that is accepted."
        evidence &[POOL_XOFF, PG_DROPS];
    SN306 Error "a profile is in a pool of the other direction"
        why "Priority groups need a profile of an ingress pool, queues one of an egress pool."
        mend "Name a pool of the right direction."
        evidence &[];
    SN307 Error "a pool has both size and percentage"
        why "The dynamic buffer model accepts one of the two."
        mend "Remove one."
        evidence &[];
    SN308 Error "thresholds do not fit the mode of the pool"
        why "A profile of a dynamic pool has dynamic_th, one of a static pool static_th, and none \
             has both or neither."
        mend "Write the one that belongs to the pool."
        evidence &[];
    SN309 Warning "dynamic_th gives one group most of the pool"
        why "dynamic_th is an exponent: alpha = 2^n, not 1/n. Above 0 a single congested group may \
             take more than half of the shared memory, so others pause early and marking comes \
             late."
        mend "Write a negative number: -3 is alpha = 1/8."
        evidence &[SHARED, PFC_TX];
    SN310 Error "a lossless queue is limited at the egress"
        why "The egress profile drops packets of a lossless queue before the ingress pauses."
        mend "Use a static_th as large as the egress lossless pool."
        evidence &[QUEUE];
    SN401 Error "PFC is enabled on one end only"
        why "One end sends PAUSE frames that the other ignores, or none at all where it needs them."
        mend "Enable PFC for the same priorities on both ends."
        evidence &[PFC_RX, PFC_TX, PG_DROPS];
    SN402 Error "the ends of a link pause different priorities"
        why "A PAUSE for a priority that the other end does not enable has no effect."
        mend "Enable PFC for the same priorities on both ends."
        evidence &[PFC_RX, PFC_TX, PG_DROPS];
    SN403 Warning "a priority group has headroom but no PFC"
        why "The headroom is reserved and never used, and the traffic is not lossless."
        mend "Add the priority to pfc_enable, or use a lossy profile."
        evidence &[PFC_TX];
    SN404 Warning "asymmetric PFC hides storms"
        why "With pfc_asym the port honours PAUSE of every priority. A storm on a lossy priority \
             stops it, and the watchdog does not look there (swss PR 1128)."
        mend "Turn pfc_asym off, or let the watchdog look at all priorities."
        evidence &[PFC_RX, RX_PAUSE];
    SN405 Error "802.3x pause is on beside PFC"
        why "Link pause stops all priorities. It took 21.7 % of a 400 Gb/s link with every drop \
             counter at zero (daqiri PR 252), and some systems disable PFC where it is on."
        mend "Turn link pause off on the port and the NIC: ethtool -A DEV rx off tx off."
        evidence &[NIC_PAUSE];
    SN406 Error "the ends of a link have different speeds"
        why "The link does not come up, or the headroom was computed for another speed."
        mend "Set the same speed on both ends."
        evidence &[];
    SN407 Error "the ends of a link have different MTUs"
        why "Frames larger than the smaller MTU are dropped, and the headroom of one end counts \
             frames that are too small."
        mend "Set the same mtu on both ends."
        evidence &["SAI_PORT_STAT_IF_IN_ERRORS"];
    SN408 Warning "the ends of a link disagree about its length"
        why "One of them computes too little headroom."
        mend "Measure, and write the same length, rounded up, on both ends."
        evidence &[XOFF_ROOM];
    SN409 Warning "neighbours do not agree about a link"
        why "One switch names a port as its neighbour that names another one, or none. The link \
             cannot be checked."
        mend "Correct DEVICE_NEIGHBOR, or the cabling."
        evidence &[];
    SN501 Error "lossless traffic is stored in another group than the one that pauses"
        why "The traffic class goes to the queue of a PFC priority but to the priority group of \
             another, so a PAUSE is sent for the wrong priority or without headroom."
        mend "Map the traffic class to the priority group of its PFC priority."
        evidence &[PG_DROPS, PFC_TX];
    SN502 Error "lossy traffic is stored in a lossless group"
        why "The class shares a group that pauses, but its queue is not stopped by that PAUSE: it \
             fills the headroom, and a lossy queue generates PFC (sonic-buildimage issue 19764)."
        mend "Map the class to a lossy priority group, or to the lossless queue."
        evidence &[PFC_TX, PG_DROPS];
    SN503 Warning "no DSCP leads to a lossless priority"
        why "PFC is enabled for a priority that no packet gets."
        mend "Map the DSCP of the hosts to its traffic class."
        evidence &[];
    SN504 Error "switches disagree about a lossless DSCP"
        why "A packet is lossless on one hop and lossy on the next, where it is dropped."
        mend "Use the same DSCP_TO_TC_MAP everywhere."
        evidence &[PG_DROPS];
    SN505 Error "a traffic class has no queue or no priority group"
        why "DSCP_TO_TC_MAP leads to a traffic class that the map of queues or of priority groups \
             does not have. Such packets go where the family puts unmapped classes: lossless \
             traffic may become lossy, and the reverse."
        mend "Add the class to the map, or correct the DSCP's class."
        evidence &[PG_DROPS];
    SN601 Warning "a lossless queue is not marked"
        why "Without ECN, congestion control does not react and PFC does all the work: pauses \
             spread."
        mend "Give the queue a wred_profile with ecn_all."
        evidence &[MARKED, NIC_CNP];
    SN602 Error "the minimum of marking is not below its maximum"
        why "The profile is refused, or marks everything or nothing."
        mend "Exchange the two thresholds."
        evidence &[MARKED];
    SN603 Error "PFC comes before ECN"
        why "The minimum threshold of marking is above the length at which the ingress pauses: \
             senders are stopped before they are told to slow down."
        mend "Lower the minimum below the pause threshold."
        evidence &[MARKED, PFC_TX];
    SN604 Error "a lossless queue drops instead of marking"
        why "WRED is enabled on a lossless queue without ECN for that colour."
        mend "Set ecn to ecn_all."
        evidence &["SAI_QUEUE_STAT_WRED_DROPPED_PACKETS"];
    SN605 Warning "marking has no effect"
        why "The probability of marking is zero up to the maximum threshold."
        mend "Set a probability, 5 % in the default template."
        evidence &[MARKED];
    SN701 Warning "the watchdog polls more slowly than it is to detect"
        why "Storms are found at polls only; one that is shorter than the interval is missed."
        mend "Set POLL_INTERVAL to at most detection_time."
        evidence &[STORMS];
    SN702 Warning "a lossless port has no watchdog"
        why "One sick host can stop the fabric: its PAUSE storm spreads and nothing ends it."
        mend "Add the port to PFC_WD: action drop, 200 ms, 200 ms."
        evidence &[RX_PAUSE];
    SN703 Warning "the watchdog looks at other priorities than PFC pauses"
        why "A storm of a priority that is not in pfcwd_sw_enable is not detected."
        mend "Set pfcwd_sw_enable to pfc_enable."
        evidence &[STORMS];
    SN704 Warning "the watchdog restores sooner than it detects"
        why "A storm that goes on is restored and detected again and again: 170 cycles in 20 \
             minutes were seen (sonic-buildimage issue 29203). While a queue is dropped, its \
             ingress goes on sending PFC (issues 23444, 26248)."
        mend "Set restoration_time to at least detection_time."
        evidence &[STORMS, RESTORED];
    SN705 Warning "the watchdog covers many priorities at once"
        why "When all priorities of a port are stormed together, detection and restoration flap \
             (sonic-buildimage issue 29203)."
        mend "Watch the lossless priorities only."
        evidence &[STORMS, RESTORED];
    SN706 Warning "the watchdog only reports"
        why "With action alert a storm goes on and spreads. Detection also needs pause without a \
             gap (sonic-mgmt issue 27589)."
        mend "Use action drop."
        evidence &[STORMS];
    SN801 Error "bounced traffic returns in its own lossless queue"
        why "In a dual-ToR pair, traffic for the other ToR is tunnelled up and down again. In the \
             same lossless queue it closes a cycle of buffers: a deadlock is possible (SONiC PR \
             950)."
        mend "Remap class 3 to queue 2 and class 4 to queue 6 in the tunnel maps \
              (sonic-buildimage PR 10176)."
        evidence &[RX_PAUSE, STORMS];
    SN802 Error "the queue of bounced traffic is not lossless"
        why "The tunnel remaps lossless traffic to a queue for which PFC is not enabled."
        mend "Enable PFC for queues 2 and 6 on the ports to the fabric."
        evidence &[PG_DROPS];
    SN901 Error "a ToS is used as a DSCP, or the reverse"
        why "The DSCP is the upper six bits of the ToS: ToS = 4 x DSCP. DSCP 26 is ToS 104, not \
             106 and not 26."
        mend "Write 4 x DSCP where a ToS is asked for."
        evidence &["tcpdump: tos"];
    SN902 Error "the DSCP of a host is not lossless at the switch"
        why "RoCE traffic of this host is mapped to a lossy class and is dropped under congestion."
        mend "Use the DSCP that the switches map to a lossless class."
        evidence &[PG_DROPS];
    SN903 Error "a host pauses other priorities than its switch"
        why "PAUSE frames of the switch have no effect on the host, or the host's on the switch."
        mend "mlnx_qos -i DEV --pfc with the priorities of pfc_enable."
        evidence &[NIC_PAUSE, PFC_RX];
    SN904 Error "a host trusts PCP, the switch DSCP"
        why "The host assigns priorities by VLAN tag; RoCE without a tag becomes priority 0."
        mend "mlnx_qos -i DEV --trust dscp."
        evidence &[NIC_PAUSE];
}

impl Code {
    /// The code of this name, in any case.
    pub fn find(name: &str) -> Option<&'static Self> {
        CODES.iter().copied().find(|c| c.code.eq_ignore_ascii_case(name))
    }

    /// The code whose name is most like this one.
    pub fn suggest(name: &str) -> Option<&'static str> {
        nearest(&name.to_ascii_uppercase(), CODES.iter().map(|c| c.code))
    }

    /// For `weir explain`.
    pub fn explanation(&self) -> String {
        let mut out = format!(
            "{} ({}): {}\n\nWhy   {}\nMend  {}",
            self.code,
            self.severity.name(),
            self.title,
            self.why,
            self.mend
        );
        if !self.evidence.is_empty() {
            out.push_str("\nSeen in\n");
            let lines: Vec<String> = self.evidence.iter().map(|e| format!("      {e}")).collect();
            out.push_str(&lines.join("\n"));
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_unique_and_in_order() {
        assert!(CODES.windows(2).all(|w| w[0].code < w[1].code));
        assert_eq!(Code::find("sn201").map(|c| c.code), Some("SN201"));
        assert_eq!(Code::find("SN999"), None);
    }
}
