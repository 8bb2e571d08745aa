//! What is written reads back, and no bytes make a decoder panic.

mod strategies;

use proptest::collection::vec;
use proptest::prelude::*;
use strategies::frame;
use weir_wire::{Frame, fuzz};

proptest! {
    #[test]
    fn every_frame_reads_back_as_it_was_written(frame in frame()) {
        let bytes = frame.emit().expect("a valid frame");
        prop_assert!(bytes.len() >= 60);
        prop_assert_eq!(Frame::parse(&bytes), Ok(frame.clone()));
        // padding does not matter, except to frames whose end only their scheme knows
        if !matches!(frame.body, weir_wire::Body::Own(_)) {
            let padded = [&bytes[..], &[0; 3]].concat();
            prop_assert_eq!(Frame::parse(&padded), Ok(frame));
        }
    }

    #[test]
    fn no_bytes_make_a_decoder_panic(bytes in vec(any::<u8>(), 0..200)) {
        fuzz::frame(&bytes);
        fuzz::capture(&bytes);
    }

    /// Arbitrary bytes behind each EtherType and code get further than arbitrary bytes.
    #[test]
    fn no_body_makes_a_decoder_panic(
        ethertype in prop::sample::select(&[0x8808u16, 0x88b5, 0x88b6, 0x89a2, 0x0800][..]),
        code in prop::sample::select(
            &[0x0001u16, 0x0101, 0x0111, 0x0112, 0x0113, 0x0114, 0x4500, 0x0100, 0x0700][..]
        ),
        bytes in vec(any::<u8>(), 0..120),
    ) {
        let head = [0; 12];
        let frame = [&head[..], &ethertype.to_be_bytes(), &code.to_be_bytes(), &bytes].concat();
        fuzz::frame(&frame);
    }

    #[test]
    fn no_damage_to_a_frame_makes_a_decoder_panic(
        frame in frame(),
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut bytes = frame.emit().expect("a valid frame");
        let at = at.index(bytes.len());
        bytes[at] = byte;
        fuzz::frame(&bytes);
        bytes.truncate(cut.index(bytes.len()));
        fuzz::frame(&bytes);
    }
}
