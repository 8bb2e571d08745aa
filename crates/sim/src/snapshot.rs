//! A look at a run that goes on: its flows and what was recorded so far.

use crate::alone;
use crate::node::Node;
use crate::outcome::{Finish, Flows, Outcome, Recording};
use crate::report;
use crate::world::World;
use weir_core::NodeId;

impl World<'_> {
    /// The outcome as far as it is known: flows and the recording, without totals, ports, switches
    /// and a digest. It copies all of that, so it should not be asked for more often than somebody
    /// looks.
    pub(crate) fn so_far(&self) -> Outcome {
        let mut outcome = report::nothing(self.now, Finish::Interrupted);
        let ids = 0..self.shared.topology.nodes().len();
        let nodes = || ids.clone().map(|i| self.node(NodeId::from_index(i)));
        outcome.flows = self.flows_so_far();
        let Some(config) = self.shared.config.probes.record else { return outcome };
        let mut recording = Recording::new(config.window);
        for recorder in nodes().filter_map(|n| n.probes().recorder.as_deref()) {
            let (found, samples) = recorder.so_far();
            recording.add(found, samples);
        }
        recording.settle();
        outcome.recording = Some(Box::new(recording));
        outcome
    }

    fn flows_so_far(&self) -> Flows {
        let mut flows = Flows::default();
        let ids = 0..self.shared.topology.nodes().len();
        let nics = || {
            ids.clone().filter_map(|i| match self.node(NodeId::from_index(i)) {
                Node::Nic(nic) => Some(nic),
                Node::Switch(_) => None,
            })
        };
        nics().for_each(|nic| flows.add(nic.flow_records(self.now)));
        nics().for_each(|nic| nic.show_deliveries(&mut flows));
        for flow in flows.iter_mut() {
            flow.ideal = alone::flow_time(self.shared, flow).into();
        }
        flows
    }
}
