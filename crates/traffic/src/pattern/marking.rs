//! What all flows of a pattern have in common: class, priority, sub-class.

use super::Pair;
use crate::error::TrafficError;
use crate::flow::FlowSpec;
use crate::params::{Fallback, Kind, Param, Reader, params};
use crate::text::FromText;
use weir_core::{Bytes, ClassId, Priority, Time};

/// Which flows go into the high sub-class of their priority (G-PFC).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SubClass {
    /// None.
    #[default]
    Low,
    /// All.
    High,
    /// Those smaller than this.
    Below(Bytes),
}

/// What all flows of a pattern have in common.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Marking {
    /// Label for reports.
    pub class: ClassId,
    /// 802.1Q priority.
    pub priority: Priority,
    /// Which flows go into the high sub-class.
    pub high: SubClass,
}

/// The parameters that every pattern takes.
pub const MARKING: &[Param] = params! {
    "class" Kind::Text, Fallback::Absent("the name of the pattern"),
        "label of the flows in reports";
    "priority" Kind::PRIORITY, Fallback::Is("0"), "802.1Q priority of the packets";
    "high" Kind::Text, Fallback::Is("10KB"),
        "flows in the high sub-class of G-PFC: `never`, `always`, or those smaller than a size";
};

impl Marking {
    /// Reads the parameters that every pattern takes.
    pub fn read(r: &mut Reader<'_>, pattern: &str) -> Result<Self, TrafficError> {
        let class: Option<String> = r.optional("class")?;
        let class = r.class(class.as_deref().unwrap_or(pattern))?;
        Self::read_with_class(r, class)
    }

    /// [`Marking::read`] but for the class.
    pub(crate) fn read_with_class(
        r: &mut Reader<'_>,
        class: ClassId,
    ) -> Result<Self, TrafficError> {
        Ok(Self { class, priority: r.get("priority")?, high: r.get("high")? })
    }

    /// A flow marked so.
    pub fn flow(&self, pair: Pair, size: Bytes, start: Time) -> FlowSpec {
        let high = match self.high {
            SubClass::Low => false,
            SubClass::High => true,
            SubClass::Below(limit) => size < limit,
        };
        FlowSpec {
            start,
            class: self.class,
            priority: self.priority,
            path: pair.path,
            high,
            ..FlowSpec::new(pair.src, pair.dst, size)
        }
    }
}

impl FromText for SubClass {
    fn from_text(text: &str) -> Result<Self, String> {
        match text.trim() {
            "never" => Ok(Self::Low),
            "always" => Ok(Self::High),
            size => match Bytes::from_text(size) {
                Ok(limit) => Ok(Self::Below(limit)),
                Err(_) => Err(format!(
                    "`{text}` is neither `never` nor `always` nor a size such as `10KB`"
                )),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_core::NodeId;

    #[test]
    fn short_flows_go_into_the_high_sub_class() {
        let pair = Pair::new(NodeId(0), NodeId(1));
        let high = |high, size| {
            let marking = Marking { high, ..Marking::default() };
            marking.flow(pair, Bytes::new(size), Time::ZERO).high
        };
        let below = SubClass::from_text("10KB").unwrap();
        assert!(high(below, 9_999) && !high(below, 10_000));
        assert!(high(SubClass::High, 1 << 40) && !high(SubClass::Low, 1));
        assert!(SubClass::from_text("sometimes").unwrap_err().contains("never"));
    }
}
