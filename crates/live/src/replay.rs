//! A log fed to fresh nodes, and every answer compared.

use crate::log::{Direction, Event, Header, Lines, Log, RunOf};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use thiserror::Error;
use weir_core::{NodeId, PortId, Time};
use weir_results::lineup::{Lineup, Otherwise, Request, Setting};
use weir_scenario::Problems;
use weir_sim::stations::{Ended, Station, run_apart};
use weir_sim::{Finish, SimError};

/// What a replay has found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replayed {
    /// Nodes that were fed.
    pub nodes: usize,
    /// Frames given to them.
    pub given: u64,
    /// Frames that they answered with.
    pub answered: u64,
    /// Up to when.
    pub end: Time,
    /// The first answer of each port that differs; none if all are the same.
    pub differences: Vec<Difference>,
}

/// An answer that differs from the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The node.
    pub node: NodeId,
    /// The port.
    pub port: PortId,
    /// The how-manieth answer of the port, from 1.
    pub number: usize,
    /// The line of the log, if it has so many.
    pub logged: Option<String>,
    /// The answer of the fresh node, if it gave so many.
    pub answered: Option<String>,
}

/// Why nothing was replayed.
#[derive(Debug, Error)]
pub enum ReplayError {
    /// The scenario in the log cannot be loaded.
    #[error("the scenario in the log cannot be loaded")]
    Scenario(Problems),
    /// Its files cannot be put anywhere.
    #[error("cannot write the files of the log to {}: {error}", .place.display())]
    Files {
        /// Where to.
        place: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// The network of the log is not that of its scenario.
    #[error("the network of the log is not the one that its scenario describes in this version")]
    Network,
    /// It cannot be run.
    #[error(transparent)]
    Sim(#[from] SimError),
}

/// Loads the scenario of a log.
pub fn load(run: &RunOf) -> Result<Lineup, ReplayError> {
    let place = std::env::temp_dir().join(format!("weir-replay-{}", std::process::id()));
    let wrong = |error| ReplayError::Files { place: place.clone(), error };
    let loaded = unpack(run, &place).map_err(wrong).and_then(|file| {
        let scheme: Vec<String> = run.scheme.iter().cloned().collect();
        let variant: Vec<String> = run.variant.iter().cloned().collect();
        let request = Request {
            sets: &run.sets,
            schemes: &scheme,
            variants: &variant,
            cc: run.cc.as_deref(),
            ..Request::default()
        };
        let reference = file.to_string_lossy();
        Lineup::load(&reference, &request, Otherwise::Own).map_err(ReplayError::Scenario)
    });
    let _ = std::fs::remove_dir_all(&place);
    loaded
}

/// Writes the scenario and the files it reads.
fn unpack(run: &RunOf, place: &Path) -> std::io::Result<PathBuf> {
    std::fs::create_dir_all(place)?;
    for file in &run.files {
        let path = Path::new(&file.name);
        let plain = |c: std::path::Component<'_>| matches!(c, std::path::Component::Normal(_));
        if !path.components().all(plain) {
            let why = format!("`{}` is not below the directory of the scenario", file.name);
            return Err(std::io::Error::new(std::io::ErrorKind::InvalidInput, why));
        }
        let path = place.join(path);
        std::fs::create_dir_all(path.parent().unwrap_or(place))?;
        std::fs::write(path, &file.text)?;
    }
    let file = place.join("scenario.toml");
    std::fs::write(&file, &run.text)?;
    Ok(file)
}

/// Feeds a log to fresh nodes.
pub fn replay(log: &Log) -> Result<Replayed, ReplayError> {
    let lineup = load(&log.header.run)?;
    replay_on(log, &lineup.settings[0])
}

/// [`replay`] with the scenario loaded.
pub fn replay_on(log: &Log, setting: &Setting) -> Result<Replayed, ReplayError> {
    let e = &*setting.experiment;
    let config = e.config(setting.with_seed(log.header.run.seed));
    let Header { source, dilation, run, .. } = &log.header;
    let fresh = Header::new(*source, *dilation, run.clone(), &e.topology, &config);
    if (&fresh.nodes, &fresh.rules) != (&log.header.nodes, &log.header.rules) {
        return Err(ReplayError::Network);
    }
    let mut by_node: BTreeMap<NodeId, Vec<&Event>> = BTreeMap::new();
    for event in &log.events {
        by_node.entry(event.node).or_default().push(event);
    }
    let mut found =
        Replayed { nodes: 0, given: 0, answered: 0, end: log.end, differences: Vec::new() };
    let drive = |stations: &mut [Station<'_>]| {
        for station in stations {
            let events = by_node.remove(&station.node()).unwrap_or_default();
            feed(station, &events, log.end, Lines::new(&config), &mut found);
        }
        (Ended::at(Finish::Interrupted, log.end), ())
    };
    // what the nodes report is of no interest here
    let _ = run_apart(&e.topology, &e.prepared(&config), &e.traffic, &config, drive)?;
    Ok(found)
}

/// Gives a node its frames, and compares its answers.
fn feed(
    station: &mut Station<'_>,
    events: &[&Event],
    end: Time,
    empty: Lines,
    found: &mut Replayed,
) {
    let node = station.node();
    let line = |port, at, parcel: &_| {
        let mut lines = empty.clone();
        lines.answered(node, port, at, parcel);
        lines.text.trim_end().to_owned()
    };
    let mut logged: BTreeMap<PortId, Vec<String>> = BTreeMap::new();
    for event in events {
        match event.direction {
            Direction::Given => {
                station.arrive(event.port, event.at, event.parcel.clone());
                found.given += 1;
            }
            Direction::Answered => {
                let text = line(event.port, event.at, &event.parcel);
                logged.entry(event.port).or_default().push(text);
            }
        }
    }
    station.run(end);
    found.nodes += 1;
    let mut answers: BTreeMap<PortId, Vec<String>> = BTreeMap::new();
    for departure in station.departures() {
        let text = line(departure.port, departure.arrival, &departure.parcel);
        answers.entry(departure.port).or_default().push(text);
        found.answered += 1;
    }
    let ports: Vec<PortId> = logged.keys().chain(answers.keys()).copied().collect();
    for port in ports {
        let (was, is) = (logged.remove(&port), answers.remove(&port));
        let (was, is) = (was.unwrap_or_default(), is.unwrap_or_default());
        let longest = was.len().max(is.len());
        if let Some(i) = (0..longest).find(|&i| was.get(i) != is.get(i)) {
            let (logged, answered) = (was.get(i).cloned(), is.get(i).cloned());
            found.differences.push(Difference { node, port, number: i + 1, logged, answered });
        }
    }
}
