//! Numbers of the pcapng format (draft-ietf-opsawg-pcapng).

/// Block types.
pub(super) mod block {
    pub(in super::super) const SECTION: u32 = 0x0a0d_0d0a;
    pub(in super::super) const INTERFACE: u32 = 1;
    pub(in super::super) const SIMPLE_PACKET: u32 = 3;
    pub(in super::super) const PACKET: u32 = 6;
}

/// Option codes.
pub(super) mod option {
    pub(in super::super) const END: u16 = 0;
    pub(in super::super) const COMMENT: u16 = 1;
    pub(in super::super) const SECTION_APPLICATION: u16 = 4;
    pub(in super::super) const INTERFACE_NAME: u16 = 2;
    pub(in super::super) const INTERFACE_RESOLUTION: u16 = 9;
    pub(in super::super) const INTERFACE_FCS: u16 = 13;
    pub(in super::super) const INTERFACE_OFFSET: u16 = 14;
    pub(in super::super) const PACKET_FLAGS: u16 = 2;
}

/// Byte order mark of a section.
pub(super) const BYTE_ORDER: u32 = 0x1a2b_3c4d;
/// Link types.
pub(super) mod link {
    /// BSD's loopback: four bytes that name the protocol.
    pub(in super::super) const LOOPBACK: u16 = 0;
    pub(in super::super) const ETHERNET: u16 = 1;
    /// IP without anything before it, as some systems number it.
    pub(in super::super) const RAW_BSD: u16 = 12;
    /// IP without anything before it.
    pub(in super::super) const RAW: u16 = 101;
    /// All interfaces of Linux at a time.
    pub(in super::super) const LINUX_COOKED: u16 = 113;
    pub(in super::super) const IPV4: u16 = 228;
    pub(in super::super) const IPV6: u16 = 229;
    /// All interfaces of Linux, second version.
    pub(in super::super) const LINUX_COOKED_2: u16 = 276;
}
/// Nanoseconds: a power of ten as the resolution of an interface.
pub(super) const NANOSECONDS: u8 = 9;
