//! Blame as JSON.

use super::{Account, FlowRow};
use crate::findings::FctPart;
use serde_json::{Map, Value, json};

fn parts(flow: &FlowRow) -> Value {
    let all = FctPart::ALL.into_iter().zip(flow.parts);
    Value::Object(all.map(|(p, t)| (p.name().to_owned(), t.as_ps().into())).collect::<Map<_, _>>())
}

impl Account {
    /// One flow.
    pub fn flow_json(&self, flow: &FlowRow) -> Value {
        let shares = self.shares_of(&flow.flow).into_iter().map(|s| {
            json!({
                "hop": s.hop,
                "part": s.part.name(),
                "port": s.port,
                "root": (!s.root.is_empty()).then_some(&s.root),
                "certainty": (!s.certainty.is_empty()).then_some(&s.certainty),
                "count": s.count,
                "time_ps": s.time.as_ps(),
            })
        });
        let culprits = self.culprits.iter().filter(|c| c.flow == flow.flow).map(|c| {
            json!({
                "hop": c.hop,
                "kind": c.kind,
                "port": c.port,
                "root": (!c.root.is_empty()).then_some(&c.root),
                "culprit": c.culprit,
                "bytes": c.bytes.get(),
                "time_ps": c.time.as_ps(),
            })
        });
        json!({
            "flow": flow.flow,
            "src": flow.src,
            "dst": flow.dst,
            "size": flow.size.map(|s| s.get()),
            "fct_ps": flow.fct.as_ps(),
            "parts": parts(flow),
            "shares": shares.collect::<Vec<_>>(),
            "culprits": culprits.collect::<Vec<_>>(),
        })
    }

    /// All flows, the worst victims and culprits, and the views.
    pub fn json(&self) -> Value {
        let victims = self.victims().into_iter().map(|f| {
            let held = f.part(FctPart::HeldOthers).as_ps();
            json!({ "flow": f.flow, "held_others_ps": held, "fct_ps": f.fct.as_ps() })
        });
        let culprits = self.harm().into_iter().map(|(flow, h)| {
            json!({
                "flow": flow,
                "held_ps": h.held.as_ps(),
                "queued_ps": h.queued.as_ps(),
                "victims": h.victims,
            })
        });
        json!({
            "run": self.title,
            "unfinished": self.open,
            "victims": victims.collect::<Vec<_>>(),
            "culprits": culprits.collect::<Vec<_>>(),
            "flows": self.flows.iter().map(|f| self.flow_json(f)).collect::<Vec<_>>(),
            "views": self.views,
        })
    }
}
