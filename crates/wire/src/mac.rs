//! MAC addresses.

use std::fmt;

/// A 48-bit MAC address.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MacAddress(pub [u8; 6]);

impl MacAddress {
    /// Where MAC control frames go: the neighbour on the link. Bridges never forward it.
    pub const MAC_CONTROL: Self = Self([0x01, 0x80, 0xc2, 0, 0, 0x01]);
}

impl fmt::Display for MacAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
    }
}

impl fmt::Debug for MacAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_prints_as_wireshark_shows_it() {
        assert_eq!(MacAddress::MAC_CONTROL.to_string(), "01:80:c2:00:00:01");
    }
}
