//! How fast the engine is: the k=16 fat-tree of the benchmark suite, or a smaller one.
//!
//! `cargo run --release -p weir-sim --example speed -- [K] [MICROSECONDS] [SCHEME] [ENGINE]`
//! where SCHEME may have parameters (`bfc,frames=periodic`) and ENGINE is `auto`, `sequential`, or
//! a number of threads for the window engine.

use std::time::Instant;
use weir_core::{Bytes, Priority, Rate, Ratio, Time};
use weir_fc::Values;
use weir_net::build::{self, k_ary};
use weir_sim::config::{Config, EngineConfig, NicConfig, Scheme, WindowConfig};
use weir_traffic::pattern::{Marking, Poisson};
use weir_traffic::{Fabric, Intensity, LoadRef, Sizes, Traffic};

/// A scheme and its parameters: `bfc,frames=periodic`.
fn read_scheme(text: &str) -> Result<Scheme, Box<dyn std::error::Error>> {
    let mut words = text.split(',');
    let info = words.next().and_then(weir_fc::scheme).ok_or("no such scheme")?;
    let mut scheme = Scheme { info, values: Values::new() };
    for word in words {
        let (name, value) = word.split_once('=').ok_or("a parameter is NAME=VALUE")?;
        let param = info.params.iter().find(|p| p.name == name);
        scheme.values.set(param.ok_or("no such parameter")?, value)?;
    }
    Ok(scheme)
}

/// As the `weir` command does.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let k = args.next().map_or(Ok(16), |s| s.parse())?;
    let us = args.next().map_or(Ok(200), |s| s.parse())?;
    let scheme = args.next().unwrap_or_else(|| "pfc".into());
    let engine = match args.next().as_deref() {
        None | Some("auto") => EngineConfig::default(),
        Some("sequential") => EngineConfig::Sequential,
        Some(n) => EngineConfig::Window { threads: n.parse()? },
    };
    let scheme = read_scheme(&scheme)?;
    let rate = Rate::from_gbps(100);
    let started = Instant::now();
    let topology = build::k_ary::build(&k_ary::Params {
        k,
        rate,
        delay: Time::from_us(1),
        ..Default::default()
    })?;
    let mut plan = Traffic::new(Fabric::uniform(topology.hosts(), rate)?);
    let class = plan.class("websearch/10")?;
    let table = weir_traffic::size::builtin_table("websearch")?;
    let sizes = Sizes::Table { table, scale: Ratio::new(1, 10).ok_or("ratio")? };
    let load = Intensity::Load { load: 0.6, reference: LoadRef::Host };
    let marking = Marking { class, priority: Priority::ALL[3], ..Default::default() };
    plan.add(Poisson { marking, ..Poisson::new(sizes, load) })?;
    plan.set_until(Time::from_us(us));
    let config = Config {
        nic: NicConfig {
            payload: Bytes::new(1000),
            header: Bytes::new(48),
            window: WindowConfig::Bytes(Bytes::new(157_000)),
            ..NicConfig::default()
        },
        engine,
        ..Config::new(scheme)
    };
    let built = started.elapsed();
    let started = Instant::now();
    let out = weir_sim::run(&topology, &plan, &config, &mut ())?;
    let wall = started.elapsed().as_secs_f64();
    println!(
        "{:?} {} flows, {} packet-hops, {} events ({:.2} per hop), {} control frames, digest \
         {:016x}",
        out.finish,
        out.totals.completed,
        out.totals.packet_hops,
        out.totals.events,
        out.totals.events as f64 / out.totals.packet_hops as f64,
        out.totals.control_frames,
        out.digest,
    );
    println!(
        "set-up {:.2} s, run {wall:.2} s wall, {:.2} M packet-hops/s",
        built.as_secs_f64(),
        out.totals.packet_hops as f64 / wall / 1e6
    );
    Ok(())
}
