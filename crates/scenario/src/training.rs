//! `[[job]]` with `model`: steps of training.

use crate::fields::{At, Fields};
use crate::text::Diagnostic;
use weir_coll::training::{Architecture, Axis, Model, Preset, Training, Zero};

/// The keys that say something about a model only.
const KEYS: [&str; 23] = [
    "layers",
    "hidden",
    "ffn",
    "heads",
    "kv-heads",
    "vocab",
    "seq",
    "experts",
    "top-k",
    "architecture",
    "tp",
    "pp",
    "dp",
    "ep",
    "order",
    "micro-batch",
    "global-batch",
    "zero",
    "sequence-parallel",
    "dtype",
    "gradient",
    "peak",
    "efficiency",
];

/// The keys that a model takes the place of.
const OTHERS: [&str; 6] = ["collective", "algorithm", "trace", "send-done", "size", "root"];

/// Reads the keys of a model, if there is one.
pub(crate) fn read(f: &mut Fields<'_>) -> Option<Training> {
    let name = f.choice("model");
    let (keys, why): (&[&str], _) = match name.value {
        "none" => (&KEYS, "without `model`"),
        _ => (&OTHERS, "beside `model`"),
    };
    for key in keys {
        if let Some(item) = f.item(key) {
            let error = Diagnostic::error(format!("`{key}` has no effect {why}"));
            f.out.push(error.at(item.span, "leave this out"));
        }
    }
    if name.value == "none" {
        return None;
    }
    let preset = Preset::named(name.value);
    let model = model(f, preset.map(|p| p.model));
    let whole = |f: &mut Fields<'_>, key| f.whole(key).value as u32;
    let (tp, pp, dp, ep) = (whole(f, "tp"), whole(f, "pp"), whole(f, "dp"), whole(f, "ep"));
    let micro_batch = f.whole("micro-batch").value;
    let once = micro_batch.saturating_mul(u64::from(dp));
    let (peak, efficiency) = (f.whole("peak").value, f.fraction("efficiency"));
    let speed = efficiency.value.of(peak * 1_000_000_000_000);
    if speed == 0 {
        let title = "with an `efficiency` of 0 a rank never computes anything";
        f.out.push(Diagnostic::error(title).maybe_at(efficiency.span, ""));
    }
    Some(Training {
        tp,
        pp,
        dp,
        ep,
        order: order(f).unwrap_or(Axis::ORDER),
        micro_batch,
        global_batch: f.optional_whole("global-batch").map_or(once, |n| n.value),
        dtype: f.whole("dtype").value,
        gradient: f.whole("gradient").value,
        zero: match f.whole("zero").value {
            0 => Zero::Off,
            3 => Zero::All,
            _ => Zero::Optimizer,
        },
        sequence_parallel: f.bool("sequence-parallel").value,
        speed,
        chunk: f.bytes("chunk").value,
        channels: whole(f, "channels"),
        pipeline: whole(f, "pipeline"),
        steps: whole(f, "iterations"),
        gpus: whole(f, "gpus-per-host"),
        ..Training::new(model)
    })
}

/// The dimensions: those of a preset, unless they are given.
fn model(f: &mut Fields<'_>, preset: Option<Model>) -> Model {
    let mut number = |key: &str, own: fn(&Model) -> u64, default: Option<u64>| {
        let given = f.optional_whole(key).map(|n| n.value);
        given.or(preset.as_ref().map(own)).or(default).unwrap_or_else(|| {
            if !f.given(key) {
                f.missing(key);
            }
            1
        })
    };
    let heads = number("heads", |m| m.heads, None);
    let mut model = Model {
        architecture: Architecture::Llama,
        layers: number("layers", |m| m.layers, None),
        hidden: number("hidden", |m| m.hidden, None),
        ffn: number("ffn", |m| m.ffn, None),
        heads,
        kv_heads: number("kv-heads", |m| m.kv_heads, Some(heads)),
        vocab: number("vocab", |m| m.vocab, None),
        seq: number("seq", |m| m.seq, None),
        experts: number("experts", |m| m.experts, Some(1)),
        top_k: number("top-k", |m| m.top_k, Some(1)),
    };
    let named = Architecture::ALL.map(|a| (a.name(), Some(a)));
    let named = f.one_of("architecture", named.into_iter().chain([("auto", None)])).value;
    let own = preset.map(|p| p.architecture);
    model.architecture = named.or(own).unwrap_or(Architecture::Llama);
    model
}

/// The order of the axes.
fn order(f: &mut Fields<'_>) -> Option<[Axis; 4]> {
    let names = f.names("order")?;
    let axis = |name: &At<String>| Axis::ORDER.into_iter().find(|a| a.name() == name.value);
    let axes: Vec<Axis> = names.iter().filter_map(axis).collect();
    let mut sorted = axes.clone();
    sorted.sort_unstable_by_key(|a| *a as u8);
    sorted.dedup();
    let found = <[Axis; 4]>::try_from(axes).ok();
    if found.is_none() || sorted.len() != 4 || names.len() != 4 {
        let title = "`order` names each of tp, ep, dp and pp once, the fastest first";
        let span = f.item("order").map(|i| i.span);
        f.out.push(Diagnostic::error(title).maybe_at(span, ""));
        return None;
    }
    found
}
