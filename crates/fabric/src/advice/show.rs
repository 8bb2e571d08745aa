//! Advice as text, as JSON and as keys of a scenario.

use super::{Advice, Division};
use serde_json::{Value, json};
use std::fmt::Write;
use weir_core::{Bytes, Response, Time, format};

/// 1/8, 1, 4.
pub(crate) fn alpha_text(n: i8) -> String {
    match n {
        0.. => (1u64 << n.min(62)).to_string(),
        _ => format!("1/{}", 1u64 << n.unsigned_abs().min(62)),
    }
}

/// Metres with one decimal below ten.
pub(crate) fn metres(m: f64) -> String {
    if m.abs() < 10.0 { format!("{m:.1} m") } else { format!("{m:.0} m") }
}

impl Advice {
    /// As text.
    pub fn text(&self) -> String {
        let (w, b) = (&self.wanted, &self.wanted.budget);
        let mut out = String::new();
        let mut line = |text: String| match text.is_empty() {
            true => out.push('\n'),
            false => out.push_str(&format!("  {text}\n")),
        };
        line(format!(
            "{}, {} of cable ({}), MTU {}, the peer stops {}",
            b.rate,
            w.cable,
            format::time(b.delay),
            b.reverse_frame.saturating_sub(super::FRAMING).get(),
            match b.response.at(b.rate) {
                Time::ZERO => "at once".to_owned(),
                time => format!("within {}", format::time(time)),
            },
        ));
        if let Some(cells) = b.cells {
            line(format!(
                "memory in cells of {}; the worst packets have {} and take {}",
                cells.cell.bytes(),
                cells.worst(b.forward_frame),
                cells.cell.stored(cells.worst(b.forward_frame))
            ));
        }
        line(String::new());
        line(format!("headroom per port and lossless priority   {}", self.headroom));
        for t in b.terms() {
            line(format!("  {:<36}  {:>12}   {}", t.name, bytes(t.bytes), t.formula));
        }
        if w.spare.delay(w.per_metre) > Time::ZERO {
            line(format!("  {:<36}  {:>12}", "spare cable", w.spare.to_string()));
        }
        self.rule_text(&mut line);
        line(format!(
            "margin: {} of cable; each metre takes {}",
            metres(self.margin),
            bytes(b.bytes_per_metre(w.per_metre))
        ));
        self.division_text(&mut line);
        line(String::new());
        line("popular estimates".into());
        for s in &self.shortcuts {
            let short = self.headroom.saturating_sub(s.bytes);
            let verdict = match short {
                Bytes::ZERO => "enough here".to_owned(),
                short => format!("{short} too little"),
            };
            line(format!("  {:<28} {:>10}   {verdict}", s.name, s.bytes.to_string()));
            line(format!("    neglects {}", s.neglects));
        }
        out.truncate(out.trim_end().len());
        out
    }

    fn rule_text(&self, line: &mut impl FnMut(String)) {
        let (Some(rule), Some(sizes)) = (&self.wanted.rule, &self.rule) else { return };
        line(String::new());
        line(format!("{}: {}", rule.asic.name, rule.version()));
        line(format!("  xoff {}   xon {}   size {}", sizes.xoff, sizes.xon, sizes.size));
        for t in &sizes.terms {
            let times = match t.in_cells {
                true => format!(" x {:.3} (cells of {} B)", sizes.occupancy, rule.asic.cell),
                false => String::new(),
            };
            let covered = if t.modelled { "" } else { "; not in the simulator" };
            let (name, value) = (t.name, bytes(t.bytes));
            line(format!("  {name:<36}  {value:>12}{times}   {}{covered}", t.formula));
        }
    }

    fn division_text(&self, line: &mut impl FnMut(String)) {
        let w = &self.wanted;
        match &self.division {
            None => line("memory: give --buffer and --ports to divide it".into()),
            Some(Err(least)) => line(format!(
                "memory: too small: {} ports with {} need more than {least}",
                w.ports,
                priorities(w.priorities)
            )),
            Some(Ok(d)) => {
                line(String::new());
                let share = d.shared.get() as f64 / d.buffer.get().max(1) as f64;
                line(format!(
                    "memory {}: headroom {}, left for sharing {} ({})",
                    d.buffer,
                    d.headroom,
                    d.shared,
                    format::percent(share)
                ));
                line(format!(
                    "  alpha {}: a single congested port pauses at {}",
                    alpha_text(w.alpha),
                    d.pause
                ));
                line(format!("  or fixed: xoff {}, xon {}", d.xoff, d.xon));
                line(format!(
                    "  ECN: Kmin {}, Kmax {}, Pmax {} %",
                    d.marking.kmin, d.marking.kmax, d.marking.percent
                ));
            }
        }
    }

    /// As JSON, all sizes in bytes.
    pub fn json(&self) -> Value {
        let (w, b) = (&self.wanted, &self.wanted.budget);
        let terms: Vec<Value> = b
            .terms()
            .iter()
            .map(|t| json!({ "name": t.name, "formula": t.formula, "bytes": t.bytes }))
            .collect();
        let shortcuts: Vec<Value> = self
            .shortcuts
            .iter()
            .map(|s| json!({ "name": s.name, "bytes": s.bytes.get(), "neglects": s.neglects }))
            .collect();
        json!({
            "speed_bps": b.rate.as_bps(),
            "cable": w.cable.to_string(),
            "delay_ps": b.delay.as_ps(),
            "response_ps": b.response.at(b.rate).as_ps(),
            "cell": b.cells.map(|c| c.cell.bytes().get()),
            "worst_packet": b.cells.map(|c| c.worst(b.forward_frame).get()),
            "formula": "speed x (2 delay + response + latency + interface) + frame ahead of the \
                        PAUSE + PAUSE + frame begun + packet that crosses the threshold; in \
                        cells, what the worst packets take in that time",
            "need": self.need.get(),
            "headroom": self.headroom.get(),
            "margin_metres": self.margin,
            "terms": terms,
            "rule": self.rule_json(),
            "memory": self.division_json(),
            "shortcuts": shortcuts,
            "scenario": self.scenario_keys(),
        })
    }

    fn rule_json(&self) -> Value {
        let (Some(rule), Some(sizes)) = (&self.wanted.rule, &self.rule) else {
            return Value::Null;
        };
        let terms: Vec<Value> = sizes
            .terms
            .iter()
            .map(|t| {
                json!({
                    "name": t.name, "formula": t.formula, "bytes": t.bytes,
                    "in_cells": t.in_cells, "in_the_simulator": t.modelled,
                })
            })
            .collect();
        json!({
            "asic": rule.asic.name, "version": rule.version(), "xon": sizes.xon,
            "xoff": sizes.xoff, "size": sizes.size, "occupancy": sizes.occupancy, "terms": terms,
        })
    }

    fn division_json(&self) -> Value {
        match &self.division {
            None => Value::Null,
            Some(Err(least)) => json!({ "too_small": true, "least": least.get() }),
            Some(Ok(d)) => json!({
                "buffer": d.buffer.get(), "headroom": d.headroom.get(),
                "shared": d.shared.get(), "alpha": alpha_text(self.wanted.alpha),
                "pause": d.pause.get(), "xoff": d.xoff.get(), "xon": d.xon.get(),
                "kmin": d.marking.kmin.get(), "kmax": d.marking.kmax.get(),
                "pmax_percent": d.marking.percent,
            }),
        }
    }

    /// Keys to paste into a scenario.
    pub fn scenario_keys(&self) -> String {
        let (w, b) = (&self.wanted, &self.wanted.budget);
        let mut out = String::new();
        let response = match b.response {
            Response::Standard => Response::STANDARD.to_owned(),
            Response::Fixed(time) => format!("{}ps", time.as_ps()),
        };
        // in cells the smallest packet counts: a header and one byte
        let header = b.cells.map(|c| c.smallest.min(super::SMALLEST).get().saturating_sub(1));
        let payload = b.reverse_frame.get().saturating_sub(header.unwrap_or(super::FRAMING.get()));
        let header = header.map_or_else(String::new, |h| format!("header = \"{h}B\"\n"));
        let _ = write!(
            out,
            "[nic]\npayload = \"{payload}B\"\n{header}\n[link]\nresponse = \"{response}\"\n\n\
             [switch]\n"
        );
        if let Some(cells) = b.cells {
            let _ = writeln!(out, "cell = \"{}B\"", cells.cell.bytes().get());
        }
        if b.latency > Time::ZERO {
            let _ = writeln!(out, "latency = \"{}ps\"", b.latency.as_ps());
        }
        if w.priorities > 1 {
            // 3 and 4 are usual
            let first = 3.min(8u64.saturating_sub(w.priorities));
            let all: Vec<String> =
                (first..first + w.priorities.min(8)).map(|p| p.to_string()).collect();
            let _ = writeln!(out, "lossless = [{}]", all.join(", "));
        }
        let headroom = self.headroom.get();
        match &self.division {
            Some(Ok(d)) => keys_of(&mut out, d, headroom, &alpha_text(w.alpha)),
            _ => {
                let limit = Bytes::from_kb(75).get() + headroom - 1;
                let _ = writeln!(
                    out,
                    "thresholds = {{ xoff = \"75KB\", xon = \"45KB\", limit = \"{limit}B\" }}"
                );
            }
        }
        out
    }
}

fn keys_of(out: &mut String, d: &Division, headroom: u64, alpha: &str) {
    let m = &d.marking;
    let _ = write!(
        out,
        "buffer = \"{}B\"\nthresholds = {{ alpha = \"{alpha}\", headroom = \"{headroom}B\" }}\n\
         ecn = {{ kmin = \"{}B\", kmax = \"{}B\", pmax = \"{}/100\" }}\n",
        d.buffer.get(),
        m.kmin.get(),
        m.kmax.get(),
        m.percent
    );
}

fn priorities(n: u64) -> String {
    if n == 1 { "1 lossless priority".into() } else { format!("{n} lossless priorities") }
}

fn bytes(b: f64) -> String {
    format::bytes_f64(b)
}
