//! Draws a ready-made topology: `cargo run -p weir-net --example draw leaf-spine spines=3 > x.svg`.
//! An argument `mark=P_d` points at a named port, `mark=tor0:agg1` at the port of tor0 towards
//! agg1.

use std::process::ExitCode;
use weir_net::{Topology, build, draw};

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match picture(&args) {
        Ok(svg) => {
            print!("{svg}");
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::from(2)
        }
    }
}

fn picture(args: &[String]) -> Result<String, String> {
    let names = || build::TOPOLOGIES.iter().map(|info| info.name).collect::<Vec<_>>().join(", ");
    let (name, rest) =
        args.split_first().ok_or_else(|| format!("which topology? There are {}", names()))?;
    let info = build::find(name).map_err(|e| e.to_string())?;
    let pairs = rest.iter().map(|arg| {
        arg.split_once('=').ok_or_else(|| format!("`{arg}` is not of the form name=value"))
    });
    let pairs = pairs.collect::<Result<Vec<_>, _>>()?;
    let (marks, params): (Vec<_>, Vec<_>) = pairs.into_iter().partition(|(key, _)| *key == "mark");
    let topo = (info.build)(&params).map_err(|e| e.to_string())?;
    let marks = marks.into_iter().map(|(_, port)| mark(&topo, port));
    let marks = marks.collect::<Result<Vec<_>, _>>()?;
    Ok(draw::svg(
        &topo,
        &draw::Options { title: info.name.to_owned(), marks, ..Default::default() },
    ))
}

fn mark(topo: &Topology, text: &str) -> Result<draw::Mark, String> {
    let (node, port) = match text.split_once(':') {
        None => topo.port_alias(text).ok_or_else(|| format!("no port is called `{text}`"))?,
        Some((a, b)) => {
            let (a, b) = (topo.find(a), topo.find(b));
            let (a, b) = (a.map_err(|e| e.to_string())?, b.map_err(|e| e.to_string())?);
            let port = topo.port_towards(a, b).ok_or_else(|| format!("`{text}` is no link"))?;
            (a, port)
        }
    };
    Ok(draw::Mark { node, port, label: text.split(':').next().unwrap_or(text).to_owned() })
}
