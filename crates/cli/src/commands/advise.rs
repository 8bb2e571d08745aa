//! `weir advise`: what to configure for a link, confirmed by runs.

use super::input::load;
use crate::Status;
use crate::args::{Advise, Interface};
use crate::terminal::{Terminal, print};
use anyhow::{anyhow, bail};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use weir_core::format::{count, plural, time};
use weir_core::{Bytes, Length, Rate, Time};
use weir_fabric::advice::{Budget, Cells, FRAMING, SMALLEST, standard_interface};
use weir_fabric::checks::needs;
use weir_fabric::{Advice, Asic, Options, Rule, Wanted};
use weir_fc::Cell;
use weir_results::worst_case::{Trial, WorstCase};
use weir_sim::config::Hop;

/// Links that are simulated at once.
const PORTS: u64 = 8;

/// `weir advise`.
pub(crate) fn advise(args: &Advise, terminal: &Terminal) -> anyhow::Result<Status> {
    let wanted = match &args.scenario {
        Some(scenario) => match of_scenario(args, scenario, terminal)? {
            Some(all) => all,
            None => return Ok(Status::BadInput),
        },
        None if !args.sonic.is_empty() => match of_sonic(args, terminal)? {
            Some(all) => all,
            None => return Ok(Status::BadInput),
        },
        None => vec![of_flags(args)?],
    };
    let (mut failed, mut texts, mut values) = (false, Vec::new(), Vec::new());
    for wanted in wanted {
        let advice = Advice::new(wanted);
        if args.keys {
            texts.push(advice.scenario_keys().trim_end().to_owned());
            continue;
        }
        let mut text = advice.text();
        let mut value = advice.json();
        if !args.no_run {
            let (said, facts) = match Confirmed::run(&advice)? {
                Ok(c) => {
                    failed |= !c.holds();
                    (c.text(), c.json())
                }
                Err(why) => (format!("not confirmed: {why}"), json!({ "not_run": why })),
            };
            text.push_str(&format!("\n\n  {said}"));
            value["confirmed"] = facts;
        }
        text.push_str("\n\n  as keys of a scenario\n");
        let keys = advice.scenario_keys();
        let keys: Vec<String> =
            keys.lines().map(|l| format!("    {l}").trim_end().into()).collect();
        text.push_str(keys.join("\n").trim_end());
        texts.push(text);
        values.push(value);
    }
    let several = args.scenario.is_some() || !args.sonic.is_empty();
    match (args.json, several) {
        (true, true) => print(&serde_json::to_string_pretty(&values)?)?,
        (true, false) => print(&serde_json::to_string_pretty(&values[0])?)?,
        (false, _) => print(&texts.join("\n\n"))?,
    }
    Ok(if failed { Status::CheckFailed } else { Status::Done })
}

fn of_flags(args: &Advise) -> anyhow::Result<Wanted> {
    let (Some(rate), Some(cable)) = (args.speed, args.length) else {
        bail!("give --speed and --length, or a scenario");
    };
    if let Some(lossless) = args.lossless_mtu.filter(|lossless| *lossless > args.mtu) {
        bail!("--lossless-mtu {lossless} is above the MTU of the port, {}", args.mtu);
    }
    let frame = |mtu: u64| Bytes::new(mtu).saturating_add(FRAMING);
    let budget = Budget {
        rate,
        delay: delay(cable, args.per_metre)?,
        response: args.response,
        latency: args.latency,
        interface: interface(args, rate)?,
        reverse_frame: frame(args.mtu),
        forward_frame: frame(args.lossless_mtu.unwrap_or(args.mtu)),
        cells: None,
    };
    let cells = cells(args, args.asic, args.small_packets, budget.forward_frame);
    Ok(wanted(args, Budget { cells, ..budget }, cable))
}

/// The cells of the flags or of a family. Packets are as small as can be, unless only a share of
/// them is said to be: then they are the largest, and the rule of the family counts the share.
fn cells(args: &Advise, asic: Option<&Asic>, small: u64, largest: Bytes) -> Option<Cells> {
    let cell = args.cell.or_else(|| Cell::new(Bytes::new(asic?.cell)))?;
    Some(Cells { cell, smallest: if small == 100 { SMALLEST } else { largest } })
}

/// The delay of a cable that exists on earth.
fn delay(cable: Length, per_metre: Time) -> anyhow::Result<Time> {
    let delay = cable.delay(per_metre);
    if delay > Time::from_ms(100) {
        bail!("a cable of {cable} delays by {}: at most 100 ms", time(delay));
    }
    Ok(delay)
}

fn interface(args: &Advise, rate: Rate) -> anyhow::Result<Time> {
    match args.interface {
        Interface::Fixed(time) => Ok(time),
        Interface::Standard => standard_interface(rate).ok_or_else(|| {
            anyhow!("the delay of 802.3 interfaces at {rate} is not published here: give a time")
        }),
    }
}

fn wanted(args: &Advise, budget: Budget, cable: Length) -> Wanted {
    let rule = args.asic.map(|asic| Rule {
        port_mtu: args.mtu,
        lossless_mtu: args.lossless_mtu.unwrap_or(1024),
        small_packets: args.small_packets,
        lanes: args.lanes,
        gearbox: args.gearbox,
        shared: args.shared_headroom || args.oversubscription > 1,
        ..Rule::new(asic, budget.rate.as_bps() / 1_000_000, cable.metres_up())
    });
    Wanted {
        budget,
        cable,
        per_metre: args.per_metre,
        spare: args.spare.unwrap_or_default(),
        buffer: args.buffer,
        ports: args.ports,
        priorities: args.priorities,
        oversubscription: args.oversubscription,
        alpha: args.dynamic_th,
        rule,
    }
}

/// One question for each kind of link into a switch of a scenario.
fn of_scenario(
    args: &Advise,
    scenario: &str,
    terminal: &Terminal,
) -> anyhow::Result<Option<Vec<Wanted>>> {
    let Some(e) = load(scenario, &args.sets, terminal) else { return Ok(None) };
    let s = &e.scenario;
    let frame = s.nic.config.max_frame();
    let hop = Hop::of(&s.switch.config, &s.nic.config);
    let cell = args.cell.or(hop.cell).or_else(|| Cell::new(Bytes::new(args.asic?.cell)));
    let cells = cell.map(|cell| Cells { cell, smallest: hop.smallest });
    let links: BTreeSet<(Rate, Time)> =
        e.topology.links().iter().map(|l| (l.rate, l.delay)).collect();
    let ports = e.topology.switches().map(|n| e.topology.ports(n).len()).max().unwrap_or(1) as u64;
    let each = links.into_iter().map(|(rate, delay)| {
        let budget = Budget {
            rate,
            delay,
            response: s.link.response,
            latency: s.switch.config.latency,
            interface: Time::ZERO,
            reverse_frame: frame,
            forward_frame: frame,
            cells,
        };
        let cable = Length::of_delay(delay, args.per_metre);
        let buffer = Some(s.switch.config.buffer).filter(|b| *b != Bytes::MAX);
        let buffer = args.buffer.or(buffer);
        let priorities = (s.switch.config.lossless.len() as u64).max(1);
        let own = wanted(args, budget, cable);
        Wanted { ports: args.ports.max(ports), priorities, buffer, ..own }
    });
    Ok(Some(each.collect()))
}

/// One question for each kind of lossless port of SONiC switches.
fn of_sonic(args: &Advise, terminal: &Terminal) -> anyhow::Result<Option<Vec<Wanted>>> {
    let Some(switches) = super::sonic::switches(&args.sonic, terminal)? else { return Ok(None) };
    let options = Options {
        asic: args.asic,
        response: args.response,
        per_metre: args.per_metre,
        ..Options::default()
    };
    let mut all: Vec<Wanted> = Vec::new();
    for switch in &switches {
        let ports = switch.lossless_ports();
        for port in &ports {
            let Some((budget, rule)) = needs(switch, port, &options) else { continue };
            let priorities = switch.pfc(port).len() as u64;
            let small = switch.small_packets.as_ref().map_or(100, |(share, _)| *share);
            let cells = cells(args, options.asic_of(switch), small, budget.forward_frame);
            let one = Wanted {
                budget: Budget { latency: args.latency, cells, ..budget },
                cable: Length::from_metres(switch.cables.get(*port).copied().unwrap_or(0)),
                ports: args.ports.max(ports.len() as u64),
                priorities: priorities.max(1),
                oversubscription: args.oversubscription.max(switch.oversubscription),
                rule: rule.map(|(rule, _)| rule),
                ..wanted(args, budget, Length::default())
            };
            if !all.contains(&one) {
                all.push(one);
            }
        }
    }
    if all.is_empty() {
        terminal.complain(
            "no lossless port with a speed and a cable length: PORT, PORT_QOS_MAP and CABLE_LENGTH \
             must have them",
        );
        return Ok(None);
    }
    Ok(Some(all))
}

/// What two runs at the worst instant say.
struct Confirmed {
    ports: u64,
    /// The headroom with the packet that crosses the threshold.
    headroom: Bytes,
    /// At the advised headroom.
    at: Trial,
    /// With a byte less than arrives at the worst instant.
    below: Trial,
    /// What arrives after the decision to pause.
    arrives: Bytes,
    /// The cells in which memory was counted, and the packets that arrived.
    cells: Option<(Bytes, Bytes)>,
    /// Terms that the model does not have.
    missing: Vec<&'static str>,
}

impl Confirmed {
    /// Runs. `Ok(Err)`: why that would take too long.
    fn run(advice: &Advice) -> anyhow::Result<Result<Self, String>> {
        let w = &advice.wanted;
        let alone = WorstCase { budget: w.budget, ports: 1 };
        if !alone.is_fast_enough() {
            return Ok(Err("the run needs a link of at least 10 Mb/s".into()));
        }
        let Some(most) = alone.most_ports() else {
            let n = count(alone.packets());
            return Ok(Err(format!("{n} packets arrive in the worst case, too many for a run")));
        };
        let case = WorstCase { ports: w.ports.min(PORTS).min(most), ..alone };
        let run = |h: Bytes| case.run(h).map_err(|why| anyhow!("the confirming run: {why}"));
        let arrives = case.expected();
        let terms = advice.rule.iter().flat_map(|sizes| &sizes.terms);
        let mut missing: Vec<_> = terms.filter(|t| !t.modelled).map(|t| t.name).collect();
        let largest = w.budget.forward_frame;
        let cells = w.budget.cells.map(|c| (c.cell.bytes(), c.worst(largest)));
        if w.budget.cells.is_some_and(|c| c.smallest == largest && largest > SMALLEST) {
            missing.push("packets smaller than the largest");
        }
        Ok(Ok(Self {
            ports: case.ports,
            headroom: advice.headroom,
            at: run(advice.headroom.saturating_sub(w.budget.stored()))?,
            below: run(arrives.saturating_sub(Bytes::new(1)))?,
            arrives,
            cells,
            missing,
        }))
    }

    fn holds(&self) -> bool {
        self.at.lost == 0 && self.below.lost > 0
    }

    fn text(&self) -> String {
        let lost = |trial: &Trial| match (trial.lost, trial.first) {
            (0, _) | (_, None) => "nothing lost".to_owned(),
            (n, Some(at)) => format!("{} lost, the first at {}", plural(n, "packet"), time(at)),
        };
        let mut text = format!(
            "{}: worst instant of {} at once: {} with {};\n  {} arrive after the decision, and \
             with a byte less {}",
            if self.holds() { "confirmed" } else { "NOT confirmed" },
            plural(self.ports, "port"),
            lost(&self.at),
            self.headroom,
            self.arrives,
            lost(&self.below)
        );
        if let Some((cell, packet)) = self.cells {
            text.push_str(&format!(
                ";\n  memory counted in cells of {cell}, the peer sends packets of {packet}"
            ));
        }
        if !self.missing.is_empty() {
            text.push_str(&format!("; not in the model: {}", self.missing.join(", ")));
        }
        text
    }

    fn json(&self) -> Value {
        let trial = |t: &Trial| {
            json!({
                "headroom": t.headroom.get(), "lost": t.lost,
                "first_ps": t.first.map(Time::as_ps),
            })
        };
        json!({
            "holds": self.holds(), "ports": self.ports, "arrives": self.arrives.get(),
            "advised": trial(&self.at), "below": trial(&self.below),
            "cell": self.cells.map(|(cell, _)| cell.get()),
            "packet": self.cells.map(|(_, packet)| packet.get()),
            "not_in_the_model": self.missing,
        })
    }
}
