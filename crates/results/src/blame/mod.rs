//! Blame as people read it: who waited for how long, for what, and because of whom.
//!
//! The rows come from a run ([`Account::of_run`]) or from the files of one ([`Account::read`]), and
//! become text ([`Account::text`], [`Account::flow_text`]) or JSON ([`Account::json`]).

mod json;
mod read;
mod text;
pub mod views;

use crate::findings::{Fault, FctPart};
use crate::run::Run;
use std::collections::BTreeMap;
use weir_core::{Bytes, Time};
use weir_scenario::experiment::Experiment;

/// A flow and where its completion time went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowRow {
    /// Its id, as in `flows.csv`.
    pub flow: String,
    /// From.
    pub src: String,
    /// To.
    pub dst: String,
    /// Payload, if it has an end.
    pub size: Option<Bytes>,
    /// Its completion time.
    pub fct: Time,
    /// By part, in the order of [`FctPart::ALL`].
    pub parts: [Time; 9],
}

impl FlowRow {
    /// The time of one part.
    pub fn part(&self, part: FctPart) -> Time {
        self.parts[part as usize]
    }

    /// `h0 -> h8`.
    fn ends(&self) -> String {
        format!("{} -> {}", self.src, self.dst)
    }
}

/// A row of `blame.csv`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShareRow {
    /// Whose time.
    pub flow: String,
    /// Where on its way: 0 for the host.
    pub hop: u64,
    /// For what.
    pub part: FctPart,
    /// At which port.
    pub port: String,
    /// For a hold, the port at which the pauses began; empty otherwise.
    pub root: String,
    /// For a hold, how sure that is; empty otherwise.
    pub certainty: String,
    /// In how many stretches of time.
    pub count: u64,
    /// For how long.
    pub time: Time,
}

/// A row of `culprits.csv`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CulpritRow {
    /// Who waited.
    pub flow: String,
    /// Where on its way.
    pub hop: u64,
    /// In what sense: `direct`, `indirect`, `original` or `pause`.
    pub kind: String,
    /// At which port it waited.
    pub port: String,
    /// For a pause, the port at which it began.
    pub root: String,
    /// Who is to blame.
    pub culprit: String,
    /// With how many bytes.
    pub bytes: Bytes,
    /// For how much of the time.
    pub time: Time,
}

/// All rows of one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// What was run, for headings.
    pub title: String,
    /// The flows that are complete.
    pub flows: Vec<FlowRow>,
    /// How many flows are not complete: there is no completion time to divide.
    pub open: u64,
    /// See [`ShareRow`].
    pub shares: Vec<ShareRow>,
    /// See [`CulpritRow`].
    pub culprits: Vec<CulpritRow>,
    /// See [`views`].
    pub views: serde_json::Value,
}

/// What one flow did to others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Harm {
    /// For how long others were held because of its bytes.
    pub held: Time,
    /// For how long others stood in queues behind its packets.
    pub queued: Time,
    /// How many others.
    pub victims: u64,
}

impl Account {
    /// Of a run of `e` that kept it.
    pub fn of_run(e: &Experiment, run: &Run) -> Option<Self> {
        let blames = run.blames(e)?;
        let topology = &e.topology;
        let label = |at: weir_scenario::PortAt| topology.port_label(at.node, at.port);
        let root = |at: Option<weir_scenario::PortAt>| at.map_or_else(String::new, label);
        let (mut flows, mut shares, mut culprits) = (Vec::new(), Vec::new(), Vec::new());
        for b in &blames.flows {
            let Some(record) = run.outcome.flows.get(b.flow) else { continue };
            let id = b.flow.to_string();
            flows.push(FlowRow {
                flow: id.clone(),
                src: topology.name(record.src()).to_owned(),
                dst: topology.name(record.dst).to_owned(),
                size: (record.size != Bytes::MAX).then_some(record.size),
                fct: record.fct().unwrap_or_default(),
                parts: b.parts(),
            });
            shares.extend(b.shares.iter().map(|s| ShareRow {
                flow: id.clone(),
                hop: s.hop.into(),
                part: s.part,
                port: label(s.at),
                root: root(s.root),
                certainty: s.certainty.map_or("", |c| c.name()).to_owned(),
                count: s.count.into(),
                time: s.time,
            }));
            culprits.extend(b.culprits.iter().map(|c| CulpritRow {
                flow: id.clone(),
                hop: c.hop.into(),
                kind: c.fault.name().to_owned(),
                port: label(c.at),
                root: root(c.root),
                culprit: c.flow.to_string(),
                bytes: c.bytes,
                time: c.time,
            }));
        }
        // queue pairs of jobs have no end
        let all = run.outcome.flows.iter().filter(|f| !f.is_queue_pair()).count() as u64;
        let open = all.saturating_sub(flows.len() as u64);
        let title = format!("{} · {} · seed {}", e.scenario.name, run.label, run.variant.seed);
        let views = views::json(e, run);
        Some(Self { title, flows, open, shares, culprits, views })
    }

    /// The flow that is called `id`, or what to say if there is none.
    pub fn find(&self, id: &str) -> Result<&FlowRow, String> {
        if let Some(flow) = self.flows.iter().find(|f| f.flow == id) {
            return Ok(flow);
        }
        let some: Vec<&str> = self.flows.iter().take(4).map(|f| f.flow.as_str()).collect();
        Err(match some.is_empty() {
            true => format!("no flow `{id}`: none is complete"),
            false => format!(
                "no complete flow is called `{id}`: names are as in flows.csv, such as {}",
                some.join(", ")
            ),
        })
    }

    /// Flows that were held for others, the longest first.
    pub fn victims(&self) -> Vec<&FlowRow> {
        let held = |f: &&FlowRow| f.part(FctPart::HeldOthers);
        let mut all: Vec<&FlowRow> = self.flows.iter().filter(|f| held(f) > Time::ZERO).collect();
        all.sort_by_key(|f| std::cmp::Reverse(held(f)));
        all
    }

    /// What each flow did to others, the worst first: holds of victims count first.
    pub fn harm(&self) -> Vec<(&str, Harm)> {
        let mut harm: BTreeMap<&str, (Harm, std::collections::BTreeSet<&str>)> = BTreeMap::new();
        // for own congestion a flow has itself to thank
        let others: std::collections::BTreeSet<(&str, &str, &str)> = self
            .shares
            .iter()
            .filter(|s| s.part == FctPart::HeldOthers)
            .map(|s| (s.flow.as_str(), s.port.as_str(), s.root.as_str()))
            .collect();
        for c in self.culprits.iter().filter(|c| c.culprit != c.flow && c.time > Time::ZERO) {
            let held = c.kind == Fault::Pause.name();
            let key = (c.flow.as_str(), c.port.as_str(), c.root.as_str());
            if held && !others.contains(&key) {
                continue;
            }
            let (sum, victims) = harm.entry(c.culprit.as_str()).or_default();
            let part = if held { &mut sum.held } else { &mut sum.queued };
            *part += c.time;
            victims.insert(&c.flow);
        }
        let mut all: Vec<(&str, Harm)> = harm
            .into_iter()
            .map(|(flow, (sum, victims))| (flow, Harm { victims: victims.len() as u64, ..sum }))
            .collect();
        all.sort_by_key(|(flow, h)| (std::cmp::Reverse((h.held, h.queued)), *flow));
        all
    }

    /// The shares of a flow, the longest first.
    pub fn shares_of(&self, flow: &str) -> Vec<&ShareRow> {
        let mut all: Vec<&ShareRow> = self.shares.iter().filter(|s| s.flow == flow).collect();
        all.sort_by_key(|s| std::cmp::Reverse(s.time));
        all
    }
}
