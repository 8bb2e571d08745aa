//! `weir blame`: where completion times went, and because of whom.

use super::simulate::{load, simulate};
use crate::Status;
use crate::args::Blame;
use crate::terminal::{Terminal, print};
use anyhow::bail;
use std::path::Path;
use weir_results::blame::{Account, FlowRow};
use weir_results::lineup::{BlameWish, Otherwise, Request};
use weir_scenario::Window;

/// `weir blame`.
pub(crate) fn blame(args: &Blame, terminal: &Terminal) -> anyhow::Result<Status> {
    let path = Path::new(&args.what);
    let accounts = if path.is_dir() {
        if args.chosen.is_one() || args.chosen.cc.is_some() {
            bail!("{} is a directory of results: its runs are over", path.display());
        }
        Account::read(path).map_err(anyhow::Error::msg)?
    } else {
        match run(args, terminal)? {
            Ok(accounts) => accounts,
            Err(status) => return Ok(status),
        }
    };
    show(args, &accounts, terminal)
}

/// Runs the scenario.
fn run(args: &Blame, terminal: &Terminal) -> anyhow::Result<Result<Vec<Account>, Status>> {
    let request =
        Request { window: Window::ALL, blame: BlameWish::Yes, ..args.chosen.request(&args.sets) };
    let Some(lineup) = load(&args.what, &request, Otherwise::Own, terminal) else {
        return Ok(Err(Status::BadInput));
    };
    let e = &*lineup.settings[0].experiment;
    let seed = args.seed.or_else(|| e.scenario.run.seeds.first().copied()).unwrap_or(1);
    let Some(c) = simulate(&lineup, &[seed], 1, None, terminal)? else {
        return Ok(Err(Status::Interrupted));
    };
    if c.partial() {
        terminal.complain("interrupted: this is the blame of the flows that were complete");
    }
    Ok(Ok(c.runs_with().filter_map(|(e, run)| Account::of_run(e, run)).collect()))
}

/// One flow in full; where there are several runs, below the name of its run.
fn one_flow(account: &Account, row: &FlowRow, named: bool, terminal: &Terminal) -> String {
    let text = account.flow_text(row, terminal.out);
    if named { format!("  {}\n\n{text}", account.title) } else { text }
}

/// The same as JSON.
fn one_flow_json(account: &Account, row: &FlowRow, named: bool) -> serde_json::Value {
    let mut value = account.flow_json(row);
    if named {
        value["run"] = account.title.clone().into();
    }
    value
}

fn show(args: &Blame, accounts: &[Account], terminal: &Terminal) -> anyhow::Result<Status> {
    let mut found = Vec::new();
    if let Some(flow) = &args.flow {
        let mut missing = None;
        for account in accounts {
            match account.find(flow) {
                Ok(row) => found.push((account, row)),
                Err(why) => missing = missing.or(Some(why)),
            }
        }
        if let Some(why) = missing.filter(|_| found.is_empty()) {
            bail!(why);
        }
    }
    if args.json {
        let runs: Vec<serde_json::Value> = match args.flow.is_some() {
            true => found.iter().map(|(a, row)| one_flow_json(a, row, found.len() > 1)).collect(),
            false => accounts.iter().map(Account::json).collect(),
        };
        let value = match <[_; 1]>::try_from(runs) {
            Ok([only]) => only,
            Err(runs) => serde_json::json!({ "runs": runs }),
        };
        print(&serde_json::to_string_pretty(&value)?)?;
        return Ok(Status::Done);
    }
    let texts: Vec<String> = match args.flow.is_some() {
        true => found.iter().map(|(a, row)| one_flow(a, row, found.len() > 1, terminal)).collect(),
        false if args.views => accounts.iter().map(|a| a.views_text(terminal.out)).collect(),
        false => accounts.iter().map(|a| a.text(terminal.out)).collect(),
    };
    print(&texts.join("\n\n"))?;
    Ok(Status::Done)
}
