//! Random frames of every kind.

use proptest::collection::vec;
use proptest::prelude::*;
use std::net::Ipv4Addr;
use weir_core::{Priority, PrioritySet};
use weir_wire::bfc::{BfcBitmap, BfcQueue};
use weir_wire::cim::Cim;
use weir_wire::ffc::{BackPressure, FlowPressure};
use weir_wire::flowsail::FlowSail;
use weir_wire::ipv4::{Ecn, Ipv4};
use weir_wire::mac_control::{Pause, PerPriority, Stages};
use weir_wire::ofc::{FlowNames, Ofc};
use weir_wire::roce::{self, Aeth, Bth, Opcode, Reth, Roce, Syndrome};
use weir_wire::tcp::Tcp;
use weir_wire::udp::Udp;
use weir_wire::{AddressPair, Body, Ethernet, FiveTuple, Frame, MacAddress, VlanTag};

fn priority() -> impl Strategy<Value = Priority> {
    (0usize..8).prop_map(|p| Priority::ALL[p])
}

fn mac() -> impl Strategy<Value = MacAddress> {
    any::<[u8; 6]>().prop_map(MacAddress)
}

fn ethernet() -> impl Strategy<Value = Ethernet> {
    let tag = (0u8..8, any::<bool>(), 0u16..4096);
    let vlan = prop::option::of(tag.prop_map(|(pcp, dei, vid)| VlanTag { pcp, dei, vid }));
    (mac(), mac(), vlan).prop_map(|(dst, src, vlan)| Ethernet { dst, src, vlan })
}

fn pair() -> impl Strategy<Value = AddressPair> {
    any::<(Ipv4Addr, Ipv4Addr)>().prop_map(|(src, dst)| AddressPair { src, dst })
}

fn tuple() -> impl Strategy<Value = FiveTuple> {
    (pair(), any::<(u16, u16, u8)>()).prop_map(|(AddressPair { src, dst }, ends)| {
        let (src_port, dst_port, protocol) = ends;
        FiveTuple { src, dst, src_port, dst_port, protocol }
    })
}

fn pressure<I>(flow: impl Strategy<Value = I>) -> impl Strategy<Value = FlowPressure<I>>
where
    I: std::fmt::Debug,
{
    (flow, priority(), any::<bool>()).prop_map(|(flow, priority, xoff)| FlowPressure {
        flow,
        priority,
        xoff,
    })
}

fn per_priority() -> impl Strategy<Value = PerPriority> {
    any::<(u8, [u16; 8])>()
        .prop_map(|(enable, values)| PerPriority { enable: PrioritySet::from_bits(enable), values })
}

fn stages() -> impl Strategy<Value = Stages> {
    any::<(u8, [u8; 8])>()
        .prop_map(|(enable, stages)| Stages { enable: PrioritySet::from_bits(enable), stages })
}

fn ofc() -> impl Strategy<Value = Ofc> {
    let flows = prop_oneof![
        vec(pair(), 0..30).prop_map(FlowNames::Pairs),
        vec(tuple(), 0..30).prop_map(FlowNames::Tuples),
    ];
    (any::<(bool, bool, bool)>(), priority(), flows)
        .prop_map(|((pause, all, last), priority, flows)| Ofc { pause, priority, all, last, flows })
}

fn bitmap() -> impl Strategy<Value = BfcBitmap> {
    vec(any::<bool>(), 0..1500)
        .prop_map(|bits| BfcBitmap::new(bits.len() as u16, |queue| bits[usize::from(queue)]))
}

fn cim() -> impl Strategy<Value = Cim> {
    (0u8..16, any::<bool>(), mac(), mac(), 0u16..4096, vec(any::<u8>(), 0..100))
        .prop_map(|(version, add, dst, src, vid, msdu)| Cim { version, add, dst, src, vid, msdu })
}

fn ip() -> impl Strategy<Value = Ipv4> {
    (0u8..64, any::<u8>(), any::<(u16, bool, u8)>(), pair()).prop_map(
        |(dscp, ecn, (identification, dont_fragment, ttl), AddressPair { src, dst })| {
            let ecn = Ecn::from_tos(ecn);
            Ipv4 { dscp, ecn, identification, dont_fragment, ttl, src, dst }
        },
    )
}

fn bth() -> impl Strategy<Value = Bth> {
    let opcodes: Vec<Opcode> = (0..=u8::MAX).filter_map(|byte| Opcode::new(byte).ok()).collect();
    let opcode = prop::sample::select(opcodes);
    let flags = any::<[bool; 5]>();
    (opcode, flags, any::<u16>(), 0u32..1 << 24, 0u32..1 << 24).prop_map(
        |(opcode, [solicited, migrated, fecn, becn, ack_request], pkey, dest_qp, psn)| Bth {
            solicited,
            migrated,
            pkey,
            fecn,
            becn,
            ack_request,
            ..Bth::new(opcode, dest_qp, psn)
        },
    )
}

fn syndrome() -> impl Strategy<Value = Syndrome> {
    (0u8..32, 0..3).prop_map(|(value, kind)| match kind {
        0 => Syndrome::Ack(value),
        1 => Syndrome::NotReady(value),
        _ => Syndrome::Nak(value),
    })
}

fn packet() -> impl Strategy<Value = Roce> {
    let reth = any::<(u64, u32, u32)>().prop_map(|(virtual_address, rkey, dma_len)| Reth {
        virtual_address,
        rkey,
        dma_len,
    });
    let aeth = (syndrome(), 0u32..1 << 24).prop_map(|(syndrome, msn)| Aeth { syndrome, msn });
    (bth(), reth, aeth, any::<u32>(), vec(any::<u8>(), 0..300)).prop_map(
        |(bth, reth, aeth, immediate, payload)| Roce {
            bth,
            reth: bth.opcode.has_reth().then_some(reth),
            aeth: bth.opcode.has_aeth().then_some(aeth),
            immediate: bth.opcode.has_immediate().then_some(immediate),
            payload: if bth.opcode.has_payload() { payload } else { Vec::new() },
        },
    )
}

fn roce() -> impl Strategy<Value = Body> {
    (ip(), any::<(u16, bool)>(), packet()).prop_map(|(ip, (src_port, checksummed), roce)| {
        Body::Roce(ip, Udp { src_port, dst_port: roce::PORT, checksummed }, roce)
    })
}

fn datagram() -> impl Strategy<Value = Body> {
    (ip(), any::<(u16, u16, bool)>(), vec(any::<u8>(), 0..300)).prop_map(
        |(ip, (src_port, dst_port, checksummed), payload)| {
            // port 4791 would make it RoCEv2
            let dst_port = if dst_port == roce::PORT { 1 } else { dst_port };
            Body::Udp(ip, Udp { src_port, dst_port, checksummed }, payload)
        },
    )
}

fn segment() -> impl Strategy<Value = Body> {
    let numbers = any::<(u16, u16, u32, u32, u8, u16, u16)>();
    let options = vec(any::<[u8; 4]>(), 0..=10).prop_map(|words| words.concat());
    (ip(), numbers, options, vec(any::<u8>(), 0..300)).prop_map(|(ip, n, options, payload)| {
        let (src_port, dst_port, seq, ack, flags, window, urgent) = n;
        let tcp = Tcp { src_port, dst_port, seq, ack, flags, window, urgent, options };
        Body::Tcp(ip, tcp, payload)
    })
}

fn body() -> impl Strategy<Value = Body> {
    let flow = (any::<bool>(), priority(), tuple());
    let queue = (any::<bool>(), priority(), any::<u32>());
    prop_oneof![
        any::<u16>().prop_map(|quanta| Body::Pause(Pause { quanta })),
        per_priority().prop_map(Body::Pfc),
        per_priority().prop_map(Body::Occupancy),
        stages().prop_map(Body::Stages),
        vec(pressure(pair()), 0..30).prop_map(|f| Body::BackPressure(BackPressure::Pairs(f))),
        vec(pressure(tuple()), 0..30).prop_map(|f| Body::BackPressure(BackPressure::Tuples(f))),
        ofc().prop_map(Body::Ofc),
        flow.prop_map(|(pause, priority, flow)| Body::FlowSail(FlowSail { pause, priority, flow })),
        queue.prop_map(|(pause, priority, queue)| Body::BfcQueue(BfcQueue {
            pause,
            priority,
            queue
        })),
        bitmap().prop_map(Body::BfcBitmap),
        cim().prop_map(Body::Cim),
        // shorter ones are padded, and only the scheme can tell padding from its bytes
        vec(any::<u8>(), 46..200).prop_map(Body::Own),
        roce(),
        datagram(),
        segment(),
    ]
}

/// A frame of any kind.
pub(crate) fn frame() -> impl Strategy<Value = Frame> {
    (ethernet(), body()).prop_map(|(ethernet, body)| Frame { ethernet, body })
}
