//! Keys of jobs.

use super::{Kind, Section, key};

/// The algorithms of all collectives.
const ALGORITHMS: &[&str] = &[
    "auto",
    "ring",
    "halving-doubling",
    "tree",
    "double-tree",
    "hierarchical",
    "pairwise",
    "direct",
    "binomial",
    "chain",
    "dissemination",
];

const fn number(max: u64) -> Kind {
    Kind::Whole { min: 1, max }
}

/// `[[job]]`.
pub const JOB: Section = Section {
    name: "job",
    repeated: true,
    doc: "Ranks that wait for each other: a collective operation, what a file says with `trace`, \
          or steps of training with `model`. A rank sends when it has received, so its messages \
          are decided by the run. Results are in `collectives.csv` and `steps.csv`.",
    keys: &[
        key("name", Kind::Text, "", "For reports; default: `job0`, `job1` and so on."),
        key("class", Kind::Text, "", "Class of its queue pairs; default: its name."),
        key(
            "collective",
            Kind::Choice(&[
                "all-reduce",
                "reduce-scatter",
                "all-gather",
                "all-to-all",
                "broadcast",
                "barrier",
            ]),
            "all-reduce",
            "The operation.",
        ),
        key(
            "algorithm",
            Kind::Choice(ALGORITHMS),
            "auto",
            "How it is carried out. `auto`: `ring`, for all-to-all `pairwise`, for a broadcast \
             `binomial`, for a barrier `dissemination`.",
        ),
        key(
            "trace",
            Kind::File,
            "",
            "What ranks do, relative to the scenario, instead of a collective: a GOAL schedule \
             (text or binary), a SimAI workload, an htsim matrix, or what the names of Chakra's \
             files begin with (`job` for `job.0.et` and so on).",
        ),
        key(
            "dependencies",
            Kind::Choice(&["both", "data", "control"]),
            "both",
            "Which dependencies of a Chakra trace are obeyed.",
        ),
        key(
            "communication",
            Kind::Choice(&["serial", "parallel"]),
            "serial",
            "Whether a rank of a Chakra trace has one communication at a time, receives apart.",
        ),
        key(
            "comm-groups",
            Kind::File,
            "",
            "Groups of a Chakra trace: JSON such as {\"1\": [0, 8]}.",
        ),
        key(
            "simai-send-latency",
            Kind::Time(&[]),
            "6us",
            "Time before each flow of a SimAI workload (AS_SEND_LAT; without it SimAI takes 6 ms).",
        ),
        key(
            "simai-groups",
            Kind::Choice(&["topology", "header"]),
            "topology",
            "Whether groups of a SimAI workload come from the number of ranks alone, or pipeline \
             stages from its header.",
        ),
        key(
            "simai-remainder",
            Kind::Choice(&["drop", "spread"]),
            "drop",
            "What becomes of bytes of a SimAI collective that cannot be divided equally.",
        ),
        key(
            "simai-pxn",
            Kind::Bool,
            "false",
            "Flows of a SimAI ring change the rail inside their server (AS_PXN_ENABLE).",
        ),
        key(
            "simai-gpus-per-server",
            Kind::Whole { min: 1, max: 4096 },
            "8",
            "Ranks of a SimAI workload with consecutive numbers that are in one server.",
        ),
        key(
            "model",
            Kind::Choice(&["none", "llama3-70b", "llama3-405b", "gpt3", "mixtral-8x7b", "own"]),
            "none",
            "Steps of training, instead of a collective: this model, whose numbers may be changed \
             by the following keys, or one of your own, of which `layers`, `hidden`, `ffn`, \
             `heads`, `vocab` and `seq` are needed.",
        ),
        key("layers", number(1 << 24), "", "Layers of the model."),
        key("hidden", number(1 << 24), "", "Width of a token's activations."),
        key("ffn", number(1 << 24), "", "Width inside a feed-forward network."),
        key("heads", number(1 << 24), "", "Attention heads."),
        key("kv-heads", number(1 << 24), "", "Heads with keys and values; own model: `heads`."),
        key("vocab", number(1 << 24), "", "Size of the vocabulary."),
        key("seq", number(1 << 24), "", "Tokens of a sequence."),
        key("experts", number(1 << 24), "", "Feed-forward networks per layer; own model: 1."),
        key("top-k", number(1 << 24), "", "How many of them a token uses; own model: 1."),
        key(
            "architecture",
            Kind::Choice(&["auto", "llama", "gpt"]),
            "auto",
            "What parameters there are: `llama` has gated feed-forward networks and no biases, \
             `gpt` has biases and plain ones. `auto`: that of the model; own model: `llama`.",
        ),
        key("tp", number(1 << 19), "1", "Tensor parallelism: ranks that share each matrix."),
        key("pp", number(1 << 19), "1", "Pipeline parallelism: stages."),
        key("dp", number(1 << 19), "1", "Data parallelism: ranks that share the samples."),
        key("ep", number(1 << 19), "1", "Ranks, of those of `dp`, that share the experts."),
        key(
            "order",
            Kind::Names,
            "",
            "Which ranks are next to each other: the axes, the fastest first; default: tp, ep, dp, \
             pp.",
        ),
        key("micro-batch", number(1 << 32), "1", "Sequences of a micro-batch."),
        key("global-batch", number(1 << 40), "", "Sequences of a step; default: one micro-batch."),
        key(
            "zero",
            Kind::Whole { min: 0, max: 3 },
            "0",
            "What ranks of `dp` divide. 0: nothing, \
             gradients are added by an all-reduce. 1 and 2: the optimizer, so a reduce-scatter and \
             an all-gather. 3: parameters, too, which are gathered layer by layer, once forward \
             and once backward.",
        ),
        key(
            "sequence-parallel",
            Kind::Bool,
            "false",
            "Reduce-scatter and all-gather in place of the all-reduce of `tp`.",
        ),
        key("dtype", Kind::Whole { min: 1, max: 8 }, "2", "Bytes of an activation or parameter."),
        key("gradient", Kind::Whole { min: 1, max: 8 }, "2", "Bytes of a gradient."),
        key("peak", number(1 << 30), "989", "What a rank could compute, in TFLOP/s."),
        key("efficiency", Kind::Share, "40%", "The part of `peak` that it reaches (mfu)."),
        key(
            "size",
            Kind::Size(&[]),
            "",
            "The buffer of a rank; of a reduce-scatter and an all-gather, the whole array.",
        ),
        key(
            "ranks",
            Kind::Whole { min: 1, max: 1 << 19 },
            "",
            "Number of ranks; default: as many as the hosts have room for, or as the trace or the \
             model has.",
        ),
        key(
            "hosts",
            Kind::Names,
            "",
            "Where ranks may be, in this order, named as in `[[traffic]]`; default: all hosts.",
        ),
        key(
            "gpus-per-host",
            Kind::Whole { min: 1, max: 1024 },
            "1",
            "Ranks on each host; they reach each other over NVLink.",
        ),
        key(
            "placement",
            Kind::Choice(&["packed", "rail", "random", "list"]),
            "packed",
            "`packed`: ranks fill the hosts in order. `rail`: the hosts of all leaf switches in \
             turn, so that neighbouring ranks are below different leaves. `random`: hosts in an \
             order drawn from the first seed. `list`: rank i is on the i-th entry of `hosts`, \
             which may name a host several times.",
        ),
        key("chunk", Kind::Size(&[]), "1MiB", "Largest message: larger ones are cut into pieces."),
        key(
            "channels",
            Kind::Whole { min: 1, max: 1024 },
            "1",
            "Equal parts of the buffer that are worked on independently, each with connections of \
             its own.",
        ),
        key(
            "pipeline",
            Kind::Whole { min: 1, max: 1 << 16 },
            "1",
            "Pieces of a channel that are under way at the same time.",
        ),
        key(
            "queue-pairs",
            Kind::Whole { min: 1, max: 128 },
            "1",
            "Queue pairs per peer and channel. Messages use them in turn; each has its own path \
             and congestion control.",
        ),
        key(
            "completion-delay",
            Kind::Time(&[]),
            "1us",
            "Time from the last packet of a message to when its rank knows of it.",
        ),
        key(
            "send-done",
            Kind::Choice(&["acked", "sent"]),
            "acked",
            "When a send of a trace is complete: when all of it is acknowledged, or when its last \
             packet has left.",
        ),
        key("iterations", Kind::Whole { min: 1, max: 1 << 20 }, "1", "How often it is done."),
        key("root", Kind::Whole { min: 0, max: 1 << 19 }, "0", "The root of a broadcast."),
        key("start", Kind::Time(&[]), "0s", "When ranks begin."),
        key("start-jitter", Kind::Time(&[]), "0s", "A rank begins up to so much later, drawn."),
        key(
            "compute",
            Kind::Time(&[]),
            "0s",
            "Every rank computes for so long before each iteration of a collective, or each step.",
        ),
        key("stragglers", Kind::Wholes { min: 0, max: 1 << 19 }, "", "Ranks that are slower."),
        key(
            "straggler-delay",
            Kind::Time(&[]),
            "0s",
            "Stragglers compute for so much longer; those of a trace begin so much later.",
        ),
        key("nvlink-rate", Kind::PositiveRate, "3.6Tbps", "Rate of a rank to others of its host."),
        key("nvlink-latency", Kind::Time(&[]), "1us", "Latency between ranks of one host."),
        key(
            "priority",
            Kind::Whole { min: 0, max: 7 },
            "",
            "Priority of its packets; default: the lowest lossless one.",
        ),
    ],
};
