//! `[switch] egress` and `cell`.

use super::fields::{At, Fields, Or};
use crate::text::{Diagnostic, Span};
use weir_core::{Bytes, Ratio};
use weir_fc::{Cell, EgressShare, EgressThresholds};

/// Thresholds of egress queues, and where they were written. `buffer` is all memory.
pub(crate) fn read(f: &mut Fields<'_>, buffer: Bytes) -> (Option<EgressThresholds>, Option<Span>) {
    let at = f.item("egress").map(|item| item.span);
    let Some(Or::Is(mut t)) = f.table("egress") else { return (None, at) };
    let (limit, lossless) = (bytes(&mut t, "limit"), bytes(&mut t, "lossless"));
    let alpha = t.optional_fraction("alpha");
    let pool = t.bytes_or_word("pool").map(|pool| match pool {
        Or::Is(bytes) => bytes,
        Or::Word(_) => buffer,
    });
    if !["limit", "alpha", "lossless"].iter().any(|key| t.given(key)) {
        let error = Diagnostic::error("`egress` has no threshold").maybe_at(at, "");
        t.out.push(error.help("write `egress = { alpha = \"1\" }` or `{ limit = \"200KB\" }`"));
    }
    if let (None, Some(span)) = (&alpha, pool.span) {
        let error = Diagnostic::error("`pool` has no effect without `alpha`").at(span, "");
        t.out.push(error.help("`limit` is a number of bytes"));
    }
    let share = alpha.and_then(|alpha| {
        let Some(shift) = shift_of(alpha.value) else {
            let title = format!("`alpha` is {}, which is not a power of two", alpha.value);
            let error = Diagnostic::error(title).maybe_at(alpha.span, "from 1/256 to 128");
            t.out.push(error.help("write 8, 2, 1, 1/2, 1/8, ..."));
            return None;
        };
        if pool.value == Bytes::MAX {
            let error = Diagnostic::error("`alpha` is a share of a `pool`, or of the `buffer`");
            let error = error.maybe_at(alpha.span, "a share of unlimited memory");
            t.out.push(error.help("add `pool = \"8MB\"`, or `buffer` to `[switch]`"));
        }
        Some(EgressShare { shift, pool: pool.value })
    });
    (Some(EgressThresholds { limit: limit.value, lossless: lossless.value, share }), at)
}

/// `n` for 2^-n.
pub(crate) fn shift_of(alpha: Ratio) -> Option<i8> {
    let power = |n: i8| match n {
        0.. => Ratio::new(1, 1 << n),
        _ => Ratio::new(1 << n.unsigned_abs(), 1),
    };
    (-7..=8).find(|&n| power(n) == Some(alpha))
}

fn bytes(t: &mut Fields<'_>, name: &str) -> At<Bytes> {
    t.bytes_or_word(name).map(|b| match b {
        Or::Is(bytes) => bytes,
        Or::Word(_) => Bytes::MAX,
    })
}

/// The cells in which memory is counted.
pub(crate) fn cell(f: &mut Fields<'_>) -> Option<Cell> {
    let At { value: Or::Is(bytes), span } = f.bytes_or_word("cell") else { return None };
    let cell = Cell::new(bytes);
    if cell.is_none() {
        let title = format!("a cell of {bytes} stores nothing that a switch could");
        let error = Diagnostic::error(title).maybe_at(span, "");
        f.out.push(error.help("cells have 1 to 65535 B: `cell = \"208B\"`"));
    }
    cell
}

/// A pipelined switch has neither.
pub(crate) fn check_pipelined(f: &mut Fields<'_>) {
    for (name, help) in [
        ("egress", "`[switch.pipeline] egress` limits its egress queues"),
        ("cell", "its two stages count bytes"),
    ] {
        let given = f.item(name).filter(|item| item.value.text().as_deref() != Some("off"));
        if let Some(span) = given.map(|item| item.span) {
            let title = format!("`{name}` does not apply to a pipelined switch");
            f.out.push(Diagnostic::error(title).at(span, "").help(help));
        }
    }
}
