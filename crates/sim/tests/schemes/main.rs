//! What the flow control schemes do in whole networks.

#[path = "../common/mod.rs"]
mod common;

/// The hooks that a scheme must have, for one that has no use for them.
macro_rules! idle_hooks {
    () => {
        fn depart(
            &mut self,
            _: &weir_fc::NodeView<'_>,
            _: &mut weir_core::Packet,
            _: weir_fc::PortQueue,
            _: &mut weir_fc::Actions,
        ) {
        }

        fn control(
            &mut self,
            _: &weir_fc::NodeView<'_>,
            _: weir_core::PortId,
            _: &weir_core::ControlMessage,
            _: &mut weir_fc::Actions,
        ) {
        }

        fn link(
            &mut self,
            _: &weir_fc::NodeView<'_>,
            _: weir_core::PortId,
            _: weir_fc::LinkState,
            _: &mut weir_fc::Actions,
        ) {
        }

        fn audit(
            &self,
            _: &weir_fc::NodeView<'_>,
            _: weir_fc::Network,
        ) -> Result<(), weir_fc::Violation> {
            Ok(())
        }

        fn state_size(&self) -> weir_fc::StateSize {
            weir_fc::StateSize::default()
        }
    };
}

mod bitmaps;
mod captures;
mod circles;
mod credit_runs;
mod deadlock;
mod egress_max;
mod fig1;
mod flushed;
mod heads;
mod hints;
mod invariants;
mod limits;
mod own_cc;
mod own_message;
mod own_probe;
mod own_scheme;
mod priorities;
mod quiet;
mod shortcuts;
mod slow_receiver;
mod turns;
mod waits;

/// The example of the guide "Write your own scheme", as it is.
#[path = "../../../fc/examples/own_scheme.rs"]
mod door;

/// The second example of that guide, as it is.
#[path = "../../../fc/examples/credits.rs"]
mod credits;

/// The example of the guide "Write your own congestion control", as it is.
#[path = "../../examples/own_cc.rs"]
mod brake;

/// The example of the guide "Write your own probe", as it is.
#[path = "../../examples/own_probe.rs"]
mod waiting;
