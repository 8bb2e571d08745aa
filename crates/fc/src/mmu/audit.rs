//! The books of the memory against each other.

use super::{Mmu, Thresholds};
use weir_core::{Bytes, Priority};

impl Mmu {
    /// Checks that the parts add up to the whole.
    pub fn audit(&self) -> Result<(), String> {
        let sum: Bytes = self.ingress.iter().map(|i| i.bytes).sum();
        let forwarded = self.staged.as_ref().map_or(Bytes::ZERO, |s| s.forwarded());
        if sum + forwarded != self.used {
            return Err(format!(
                "ingress counters add up to {} B, the buffer to {} B",
                sum.get(),
                self.used.get()
            ));
        }
        if let Some(staged) = &self.staged {
            staged.audit(self.used)?;
        }
        self.audit_egress(self.ingress.len() / Priority::COUNT)?;
        if self.headroom_used.iter().copied().sum::<Bytes>() != self.shared_headroom.used {
            return Err(format!("{:?} is not the sum of headrooms", self.shared_headroom));
        }
        if let Thresholds::Dynamic { reserve, .. } = self.config.thresholds {
            let shared: Bytes = (0..self.ingress.len())
                .filter(|s| self.config.lossless.contains(Priority::ALL[s % Priority::COUNT]))
                .map(|s| self.beyond_reserve(s, reserve))
                .sum();
            if shared != self.shared_used {
                return Err(format!(
                    "ingresses use {} B of shared memory, the pool counts {} B",
                    shared.get(),
                    self.shared_used.get()
                ));
            }
        }
        Ok(())
    }
}
