//! All algorithms behind one name, one parameter set and one state.

use crate::control::{Ack, CongestionControl, Needs, Pacing, Path, TimerKind, Timers};
use crate::dcqcn::{DcqcnOnDemand, DcqcnParams};
use crate::dcqcn_paper::{DcqcnPaper, DcqcnPaperParams};
use crate::dctcp::{Dctcp, DctcpParams};
use crate::hpcc::{Hpcc, HpccParams, Telemetry};
use crate::none::{LineRate, NoneParams};
use crate::own::{Added, OWN, OwnCc};
use crate::params::{ParamError, ParamInfo};
use crate::swift::{Swift, SwiftParams};
use crate::timely::{Timely, TimelyParams};
use weir_core::param::{self, Param};
use weir_core::{Bytes, Rate, Time};

macro_rules! algorithms {
    ($( $(#[doc = $doc:literal])* $variant:ident, $name:literal, $params:ty, $state:ty; )*) => {
        /// The congestion controls there are.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum CcKind {
            $( $(#[doc = $doc])* $variant, )*
            /// One that a program has added.
            Own(Added),
        }

        impl CcKind {
            /// Those that are built in.
            pub const ALL: &[Self] = &[$( Self::$variant, )*];

            /// The name in scenario files.
            pub const fn name(self) -> &'static str {
                match self {
                    $( Self::$variant => $name, )*
                    Self::Own(own) => own.get().name(),
                }
            }

            /// One line on what it is.
            pub const fn summary(self) -> &'static str {
                match self {
                    $( Self::$variant => concat!($($doc),*).trim_ascii(), )*
                    Self::Own(own) => own.get().summary(),
                }
            }
        }

        impl CcKind {
            /// What it reacts to.
            pub fn needs(self) -> Needs {
                match self {
                    $( Self::$variant => <$state as CongestionControl>::needs(), )*
                    Self::Own(own) => own.get().needs(),
                }
            }

            /// The table of its parameters.
            pub const fn params(self) -> &'static [Param] {
                match self {
                    $( Self::$variant => <$params>::PARAMS, )*
                    Self::Own(_) => &[],
                }
            }
        }

        /// An algorithm with its parameters: makes the state of each flow.
        #[derive(Clone, Debug, PartialEq)]
        pub enum CcParams {
            $( $(#[doc = $doc])* $variant($params), )*
            /// An algorithm that is not in this crate.
            Own(OwnCc),
        }

        impl CcParams {
            /// The algorithm's defaults.
            pub fn new(kind: CcKind) -> Self {
                match kind {
                    $( CcKind::$variant => Self::$variant(Default::default()), )*
                    CcKind::Own(own) => Self::Own(own.get().clone()),
                }
            }

            /// Which algorithm; `None` for one that is not in this crate.
            pub const fn kind(&self) -> Option<CcKind> {
                match self {
                    $( Self::$variant(_) => Some(CcKind::$variant), )*
                    Self::Own(_) => None,
                }
            }

            /// The parameters with their present values.
            pub fn list(&self) -> Vec<ParamInfo> {
                match self {
                    $( Self::$variant(p) => p.list(), )*
                    Self::Own(_) => Vec::new(),
                }
            }

            /// Sets the parameter `name` from text.
            pub fn set(&mut self, name: &str, value: &str) -> Result<(), ParamError> {
                let done = match self {
                    $( Self::$variant(p) => p.set(name, value), )*
                    Self::Own(_) => None,
                };
                done.map(|result| result.map_err(ParamError::Value)).unwrap_or_else(|| {
                    let names: Vec<_> = self.list().iter().map(|p| p.name).collect();
                    Err(ParamError::Unknown {
                        algorithm: self.name(),
                        name: name.into(),
                        valid: names.join(", "),
                    })
                })
            }

            /// The state of a flow that starts on `path`.
            pub fn start(&self, path: &Path) -> Cc {
                match self {
                    $( Self::$variant(p) => Cc::$variant(<$state>::new(p, path)), )*
                    Self::Own(own) => Cc::Own(own.start(path)),
                }
            }
        }

        /// The congestion control state of one flow, whatever the algorithm. Its methods are those
        /// of [`CongestionControl`]. One run uses one algorithm, so it is not in a box.
        #[derive(Debug)]
        pub enum Cc {
            $( $(#[doc = $doc])* $variant($state), )*
            /// An algorithm that is not in this crate.
            Own(Box<dyn CongestionControl>),
        }

        impl Cc {
            /// See [`CongestionControl::on_ack`].
            #[inline]
            pub fn on_ack(&mut self, ack: &Ack<'_>, timers: &mut Timers) -> Pacing {
                match self {
                    $( Self::$variant(s) => s.on_ack(ack, timers), )*
                    Self::Own(s) => s.on_ack(ack, timers),
                }
            }

            /// See [`CongestionControl::on_cnp`].
            #[inline]
            pub fn on_cnp(&mut self, now: Time, timers: &mut Timers) -> Pacing {
                match self {
                    $( Self::$variant(s) => s.on_cnp(now, timers), )*
                    Self::Own(s) => s.on_cnp(now, timers),
                }
            }

            /// See [`CongestionControl::on_sent`].
            #[inline]
            pub fn on_sent(&mut self, now: Time, frame_bytes: u64, timers: &mut Timers) -> Pacing {
                match self {
                    $( Self::$variant(s) => s.on_sent(now, frame_bytes, timers), )*
                    Self::Own(s) => s.on_sent(now, frame_bytes, timers),
                }
            }

            /// See [`CongestionControl::on_timer`].
            #[inline]
            pub fn on_timer(&mut self, kind: TimerKind, now: Time, timers: &mut Timers) -> Pacing {
                match self {
                    $( Self::$variant(s) => s.on_timer(kind, now, timers), )*
                    Self::Own(s) => s.on_timer(kind, now, timers),
                }
            }

            /// See [`CongestionControl::on_timeout`].
            #[inline]
            pub fn on_timeout(&mut self, now: Time) -> Pacing {
                match self {
                    $( Self::$variant(s) => s.on_timeout(now), )*
                    Self::Own(s) => s.on_timeout(now),
                }
            }

            /// See [`CongestionControl::on_nic`].
            pub fn on_nic(&mut self, line_rate: Rate) {
                match self {
                    $( Self::$variant(s) => s.on_nic(line_rate), )*
                    Self::Own(s) => s.on_nic(line_rate),
                }
            }

            /// See [`CongestionControl::rate`].
            #[inline]
            pub fn rate(&self) -> Rate {
                match self {
                    $( Self::$variant(s) => s.rate(), )*
                    Self::Own(s) => s.rate(),
                }
            }

            /// See [`CongestionControl::window`].
            #[inline]
            pub fn window(&self) -> Option<Bytes> {
                match self {
                    $( Self::$variant(s) => s.window(), )*
                    Self::Own(s) => s.window(),
                }
            }
        }
    };
}

algorithms! {
    /// Line rate from the first packet to the last.
    None, "none", NoneParams, LineRate;
    /// Rate cuts on marks and staged recovery, with the timers of deployed NICs.
    Dcqcn, "dcqcn", DcqcnParams, DcqcnOnDemand;
    /// Rate cuts on marks, recovery by timer and byte counter: DCQCN as published.
    DcqcnPaper, "dcqcn-paper", DcqcnPaperParams, DcqcnPaper;
    /// Follows the slope of the round-trip time.
    Timely, "timely", TimelyParams, Timely;
    /// Follows the utilisation that every switch on the way reports.
    Hpcc, "hpcc", HpccParams, Hpcc;
    /// Cuts by the marked fraction once per round-trip time.
    Dctcp, "dctcp", DctcpParams, Dctcp;
    /// Keeps the round-trip time at a target by adjusting the window.
    Swift, "swift", SwiftParams, Swift;
}

impl Cc {
    /// Whether rate and window are what they were at the start, whatever happens: nothing need be
    /// told.
    #[inline]
    pub const fn is_fixed(&self) -> bool {
        matches!(self, Self::None(_))
    }
}

impl CcParams {
    /// The algorithm's name.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Own(own) => own.name(),
            known => known.kind().expect("any other is in this crate").name(),
        }
    }

    /// What the algorithm reacts to.
    pub fn needs(&self) -> Needs {
        match self {
            Self::Own(own) => own.needs(),
            known => known.kind().expect("any other is in this crate").needs(),
        }
    }

    /// How telemetry crosses the wire; `None` for an algorithm that needs none.
    pub fn telemetry(&self) -> Option<Telemetry> {
        match self {
            Self::Hpcc(p) => Some(p.telemetry),
            other => other.needs().telemetry.then_some(Telemetry::Exact),
        }
    }

    /// The published parameter set called `name`, where the algorithm has several.
    pub fn profile(kind: CcKind, name: &str) -> Result<Self, ParamError> {
        let bad = |why: String| {
            let why = format!("`{name}` is not a parameter set: {why}");
            ParamError::Value(param::ParamError { name: "profile", why })
        };
        match kind {
            CcKind::Dcqcn => DcqcnParams::profile(name)
                .map(Self::Dcqcn)
                .ok_or_else(|| bad(format!("choose one of {}", kind.profiles().join(", ")))),
            _ => Err(bad(format!("`{}` has one parameter set", kind.name()))),
        }
    }

    /// The least rate the algorithm sends at; `None` where it has none but the window.
    pub fn min_rate(&self) -> Option<Rate> {
        match self {
            Self::None(_) | Self::Swift(_) | Self::Own(_) => None,
            Self::Dcqcn(p) => Some(p.min_rate),
            Self::DcqcnPaper(p) => Some(p.min_rate),
            Self::Timely(p) => Some(p.min_rate),
            Self::Hpcc(p) => Some(p.min_rate),
            Self::Dctcp(p) => Some(p.min_rate),
        }
    }

    /// How far apart receivers send congestion notification packets for one flow, when the
    /// algorithm wants packets of their own; `None` when marks are echoed on ACKs.
    pub fn cnp_interval(&self) -> Option<Time> {
        match self {
            Self::Dcqcn(p) => Some(p.cnp_interval).filter(|&t| t != Time::ZERO),
            Self::DcqcnPaper(p) => Some(p.cnp_interval),
            _ => None,
        }
    }
}

impl CcKind {
    /// All there are: the built-in ones, then those that a program has added.
    pub fn all() -> impl Iterator<Item = Self> {
        let added = OWN.iter().map(|own| Self::Own(Added::new(own)));
        Self::ALL.iter().copied().chain(added)
    }

    /// The names of its published parameter sets, the default first; empty where there is one.
    pub const fn profiles(self) -> &'static [&'static str] {
        match self {
            Self::Dcqcn => DcqcnParams::PROFILES,
            _ => &[],
        }
    }
}

impl std::str::FromStr for CcKind {
    type Err = ParamError;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::all().find(|k| k.name() == name).ok_or_else(|| {
            let names: Vec<_> = Self::all().map(Self::name).collect();
            ParamError::Algorithm { name: name.into(), valid: names.join(", ") }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_profile_is_found_by_name_and_others_are_refused() {
        for &kind in CcKind::ALL {
            for name in kind.profiles() {
                assert_eq!(CcParams::profile(kind, name).map(|p| p.kind()), Ok(Some(kind)));
            }
            let text = CcParams::profile(kind, "other").unwrap_err().to_string();
            assert!(text.contains(if kind == CcKind::Dcqcn { "nic" } else { kind.name() }));
        }
    }

    #[test]
    fn every_algorithm_runs_on_any_feedback() {
        let mut timers = Timers::new();
        for &kind in CcKind::ALL {
            let mut cc = CcParams::new(kind).start(&crate::for_tests::path_100g());
            for i in 1..200u64 {
                let now = Time::from_us(i);
                let hop = crate::IntHop {
                    time: now,
                    tx_bytes: i * 12_500,
                    queue: (i % 7) * 100_000,
                    rate: Rate::from_gbps(100),
                    port: (i / 50) as u32,
                };
                let ack = Ack {
                    ecn: i % 3 == 0,
                    rtt: Time::from_us(5 + i % 90),
                    hops: &[hop],
                    ..crate::for_tests::ack(now, i * 1000, i * 1000 + 20_000)
                };
                cc.on_ack(&ack, &mut timers);
                cc.on_sent(now, 1048, &mut timers);
                if i % 50 == 0 {
                    cc.on_cnp(now, &mut timers);
                }
                for (kind, at) in std::mem::take(&mut timers).drain() {
                    cc.on_timer(kind, at, &mut Timers::new());
                }
                assert!((1..=100_000_000_000).contains(&cc.rate().as_bps()), "{}", kind.name());
                assert_ne!(cc.window(), Some(Bytes::ZERO));
            }
        }
    }

    #[test]
    fn every_algorithm_reads_back_by_name_and_lists_settable_parameters() {
        for &kind in CcKind::ALL {
            assert_eq!(kind.name().parse(), Ok(kind));
            let mut params = CcParams::new(kind);
            for p in params.list() {
                assert_eq!(params.set(p.name, &p.value), Ok(()), "{} {}", kind.name(), p.name);
            }
            assert_eq!(params, CcParams::new(kind));
            assert!(kind.params().iter().all(|p| !p.doc.is_empty()));
            assert!(params.set("no-such", "1").unwrap_err().to_string().contains(kind.name()));
        }
        assert!("cubic".parse::<CcKind>().unwrap_err().to_string().contains("none"));
    }
}
