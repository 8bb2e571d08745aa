//! What every decoder promises, as functions for a fuzzer and for property tests.
//!
//! No input makes a decoder panic, every error can be shown, and what is accepted can be written
//! and reads back. Each function panics when its decoder breaks the promise. `fuzz/` has a target
//! per entry of [`DECODERS`].

use crate::capture::{CaptureReader, FlowsFound};
use crate::{Body, Frame, control, packet};

/// A decoder, by the name of its fuzz target.
pub type Decoder = (&'static str, fn(&[u8]));

/// All of them.
pub const DECODERS: &[Decoder] = &[("wire_frame", frame), ("wire_capture", capture)];

/// Frames of every kind.
pub fn frame(bytes: &[u8]) {
    let frame = match Frame::parse(bytes) {
        Ok(frame) => frame,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    let again = frame.emit().expect("what was read can be written");
    // only a scheme of one's own can tell its bytes from padding
    if !matches!(frame.body, Body::Own(_)) {
        assert_eq!(Frame::parse(&again).as_ref(), Ok(&frame));
    }
    let _ = control::message(&frame);
    let _ = packet::seen(&frame);
}

/// Captures, pcapng and pcap, and the flows in them.
pub fn capture(bytes: &[u8]) {
    match CaptureReader::new(bytes) {
        Ok(mut reader) => loop {
            match reader.next_packet() {
                Ok(Some(packet)) => {
                    assert!(packet.interface < reader.interfaces().len());
                    frame(&packet.bytes);
                }
                Ok(None) => break,
                Err(error) => return assert!(error.to_string().starts_with("byte ")),
            }
        },
        Err(error) => return assert!(!error.to_string().is_empty()),
    }
    let found = FlowsFound::read(bytes, Some(1_000)).expect("it was read before");
    assert!(found.flows.iter().all(|flow| flow.packets > 0 && flow.start_ns <= flow.end_ns));
}
