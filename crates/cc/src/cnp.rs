//! When a receiver sends a congestion notification packet.

use weir_core::Time;

/// The receiver's side of DCQCN (the notification point): one per flow.
///
/// The first marked packet is answered at once; after that, marks are answered only when
/// `interval` has passed since the last notification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotificationPoint {
    interval: Time,
    last: Option<Time>,
}

impl NotificationPoint {
    /// A receiver that sends at most one notification per `interval`.
    pub const fn new(interval: Time) -> Self {
        Self { interval, last: None }
    }

    /// A marked data packet arrived at `now`: whether to send a notification.
    #[inline]
    pub fn marked(&mut self, now: Time) -> bool {
        let due = self.last.is_none_or(|last| now.saturating_sub(last) >= self.interval);
        if due {
            self.last = Some(now);
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_most_one_notification_per_interval() {
        let mut np = NotificationPoint::new(Time::from_us(50));
        let sent: Vec<_> =
            [0, 10, 49, 50, 99, 100].map(|us| np.marked(Time::from_us(us))).into_iter().collect();
        assert_eq!(sent, [true, false, false, true, false, true]);
    }
}
