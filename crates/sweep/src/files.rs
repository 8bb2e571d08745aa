//! The files that a sweep ends in: tables and a page.

use super::SweepError;
use super::merge::Merged;
use super::page::page;
use super::plan::Plan;
use std::io;
use weir_results::metrics::Family;
use weir_results::report::Formats;

/// The files of a sweep: names and contents.
pub fn files(
    merged: &Merged,
    plan: &Plan,
    formats: Formats,
) -> Result<Vec<(String, Vec<u8>)>, SweepError> {
    let failed = |e: io::Error| SweepError::Other(e.to_string());
    let mut files = Vec::new();
    for family in Family::ALL {
        let bytes = merged.table(family).csv().map_err(failed)?;
        files.push((format!("{}.csv", family.name()), bytes));
    }
    match formats {
        Formats::Csv => {}
        #[cfg(feature = "parquet")]
        Formats::CsvAndParquet => {
            for family in Family::ALL {
                let (name, table) = (family.name(), merged.table(family));
                let bytes =
                    weir_results::report::parquet_bytes(name, table.heads(), |to| table.write(to));
                files.push((format!("{name}.parquet"), bytes.map_err(failed)?));
            }
        }
    }
    files.push(("index.html".to_owned(), page(plan, merged).into_bytes()));
    Ok(files)
}
