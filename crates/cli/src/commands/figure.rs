//! `weir compare --figure`: one figure as a file.

use super::outputs::{keep_inputs, writable};
use crate::args::FigureArgs;
use crate::terminal::{Terminal, print};
use anyhow::{Context, bail};
use std::io::Write;
use std::path::{Path, PathBuf};
use weir_results::comparison::Comparison;
use weir_results::lineup::Lineup;
use weir_results::listing::{Layout, wrap};
use weir_results::report::figures::{self, FIGURES, Format, Size};

/// A figure that was asked for, checked before anything is run.
#[derive(Debug)]
pub(super) struct Wanted {
    name: String,
    format: Format,
    size: Size,
    /// `None` for standard output.
    file: Option<PathBuf>,
}

/// Prints the names of figures and what they show.
pub(super) fn list(layout: Layout) -> anyhow::Result<()> {
    let wide = FIGURES.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let mut lines = Vec::new();
    for (name, what) in FIGURES {
        let room = layout.width.saturating_sub(wide + 4).max(20);
        for (i, text) in wrap(what, room).into_iter().enumerate() {
            let name = if i == 0 { name } else { "" };
            lines.push(format!("  {name:wide$}  {text}"));
        }
    }
    print(&lines.join("\n"))
}

impl Wanted {
    /// What the arguments ask for, if it can be had: `None` when they ask for no figure.
    pub(super) fn new(args: &FigureArgs, lineup: &Lineup) -> anyhow::Result<Option<Self>> {
        let Some(name) = args.figure.clone() else { return Ok(None) };
        let e = &*lineup.base;
        figures::check(&name, lineup).map_err(anyhow::Error::msg)?;
        let format = format(args.format, args.output.as_deref())?;
        let size = args.size;
        let file = match &args.output {
            Some(path) if path.as_os_str() == "-" => None,
            Some(path) => Some(path.clone()),
            None => {
                // a scenario's name may hold anything; a file name is plain
                let plain =
                    |c: char| if c.is_alphanumeric() || "._-".contains(c) { c } else { '_' };
                let scenario: String = e.scenario.name.chars().map(plain).collect();
                Some(format!("{scenario}-{name}.{}", format.name()).into())
            }
        };
        if let Some(file) = &file {
            keep_inputs(file, &e.inputs())?;
            writable(file)?;
        }
        Ok(Some(Self { name, format, size, file }))
    }

    /// Draws it and writes it.
    pub(super) fn write(&self, c: &Comparison<'_>, terminal: &Terminal) -> anyhow::Result<()> {
        let figure = figures::one(c, &self.name).map_err(anyhow::Error::msg)?;
        let bytes = self.format.bytes(&figure, self.size);
        match &self.file {
            None => {
                let mut out = std::io::stdout().lock();
                out.write_all(&bytes)?;
                out.flush()?;
            }
            Some(file) => {
                let name = file.display();
                std::fs::write(file, bytes).with_context(|| format!("cannot write {name}"))?;
                terminal.note(&format!("{}: {name}", figure.title));
            }
        }
        Ok(())
    }
}

/// The format that was named, or that of the file name; they must not contradict each other.
fn format(told: Option<Format>, output: Option<&Path>) -> anyhow::Result<Format> {
    let ending = output.and_then(Path::extension).map(|e| e.to_string_lossy().to_lowercase());
    let known = |e: &String| Format::named(e);
    match (told, ending.as_ref().and_then(known), ending) {
        (Some(told), Some(named), _) if told != named => bail!(
            "--format {} and a file name that ends in .{} contradict each other",
            told.name(),
            named.name()
        ),
        (Some(format), ..) | (None, Some(format), _) => Ok(format),
        (None, None, None) => Ok(Format::Svg),
        (None, None, Some(ending)) => {
            let all = Format::ALL.map(Format::name);
            bail!("`.{ending}` is not a format of figures: choose one of {}", all.join(", "))
        }
    }
}
