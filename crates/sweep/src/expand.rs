//! From a grid to its points: a value for every parameter.

use super::grid::{Draw, Grid, Parameter, Sample, Values};
use weir_core::rng::Stream;
use weir_scenario::text::{Item, Span, Value};
use weir_scenario::variant::Change;

/// How many points a grid has, without making them.
pub fn count(grid: &Grid) -> u128 {
    match grid.sample {
        Sample::Drawn { points, .. } => u128::from(points),
        Sample::Grid => {
            let listed = grid.parameters.iter().map(|p| match &p.values {
                Values::Listed(items) => items.len() as u128,
                Values::Between { steps, .. } => u128::from(steps.unwrap_or(1)),
                Values::ByPoint => 1,
            });
            listed.fold(grid.points.len().max(1) as u128, u128::saturating_mul)
        }
    }
}

/// All points, in the order in which they are written: the last parameter changes fastest.
pub fn points(grid: &Grid) -> Vec<Vec<Item>> {
    match grid.sample {
        Sample::Grid => product(grid),
        Sample::Drawn { from: Draw::Anywhere, points, seed } => {
            let mut streams = streams(grid, seed);
            (0..points).map(|_| draw(grid, &mut streams, |_, stream| stream.unit())).collect()
        }
        Sample::Drawn { from: Draw::LatinHypercube, points, seed } => {
            latin_hypercube(grid, points, seed)
        }
    }
}

fn product(grid: &Grid) -> Vec<Vec<Item>> {
    let given = if grid.points.is_empty() { vec![Vec::new()] } else { grid.points.clone() };
    let mut all = Vec::new();
    for point in given {
        let mut partial: Vec<Vec<Item>> = vec![Vec::new()];
        for (i, parameter) in grid.parameters.iter().enumerate() {
            let choices = match &parameter.values {
                Values::Listed(items) => items.clone(),
                Values::Between { range, steps, at } => {
                    let texts = range.steps(steps.unwrap_or(1));
                    texts.into_iter().map(|text| item(text, *at)).collect()
                }
                Values::ByPoint => {
                    let own = point.iter().filter(|(at, _)| *at == i);
                    own.map(|(_, item)| item.clone()).collect()
                }
            };
            let extended = partial.iter().flat_map(|before| {
                choices.iter().map(move |c| before.iter().chain([c]).cloned().collect())
            });
            partial = extended.collect();
        }
        all.extend(partial);
    }
    all
}

/// A value that was worked out from what is written at `at`.
fn item(text: String, at: Span) -> Item {
    let number = text.parse::<f64>().is_ok();
    Item { span: at, value: if number { Value::Number(text) } else { Value::Text(text) } }
}

fn streams(grid: &Grid, seed: u64) -> Vec<Stream> {
    let index = 0..grid.parameters.len() as u64;
    index.map(|i| Stream::new(seed, "sweep-sample", i)).collect()
}

fn draw(
    grid: &Grid,
    streams: &mut [Stream],
    mut share: impl FnMut(usize, &mut Stream) -> f64,
) -> Vec<Item> {
    let parameters = grid.parameters.iter().zip(streams).enumerate();
    parameters.map(|(i, (p, stream))| value_at(p, share(i, stream))).collect()
}

/// The value of a parameter at `share` of what it goes through, 0 to below 1.
fn value_at(parameter: &Parameter, share: f64) -> Item {
    match &parameter.values {
        Values::Listed(items) => {
            let at = (share * items.len() as f64) as usize;
            items[at.min(items.len() - 1)].clone()
        }
        Values::Between { range, at, .. } => item(range.at(share), *at),
        Values::ByPoint => unreachable!("a sample with `[[point]]`s was refused"),
    }
}

fn latin_hypercube(grid: &Grid, points: u64, seed: u64) -> Vec<Vec<Item>> {
    let mut streams = streams(grid, seed);
    let strata: Vec<Vec<u64>> = streams.iter_mut().map(|s| permutation(points, s)).collect();
    let in_stratum = |i: usize, point: u64, stream: &mut Stream| {
        (strata[i][point as usize] as f64 + stream.unit()) / points as f64
    };
    (0..points).map(|p| draw(grid, &mut streams, |i, stream| in_stratum(i, p, stream))).collect()
}

fn permutation(n: u64, stream: &mut Stream) -> Vec<u64> {
    let mut all: Vec<u64> = (0..n).collect();
    for i in (1..all.len()).rev() {
        all.swap(i, stream.below(i as u64 + 1) as usize);
    }
    all
}

/// The changes that a point makes to the scenario.
pub fn changes(grid: &Grid, point: &[Item]) -> Vec<Change> {
    let parameters = grid.parameters.iter().zip(point);
    let one = |(p, item): (&Parameter, &Item)| {
        let change = |path: &Vec<_>| Change { path: path.clone(), item: item.clone() };
        p.keys.iter().map(change).collect::<Vec<_>>()
    };
    parameters.flat_map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_scenario::text::{Diagnostics, Sources};

    fn grid(text: &str) -> Grid {
        let mut sources = Sources::default();
        let id = sources.add("g.toml", format!("scenario = \"x\"\n{text}"));
        let mut out = Diagnostics::default();
        let grid = Grid::read(&sources, id, &mut out);
        assert!(!out.has_errors(), "{}", out.plain(&sources));
        grid.expect("a grid")
    }

    fn shown(grid: &Grid) -> Vec<String> {
        let text = |point: &Vec<Item>| {
            let values = point.iter().map(|i| i.value.text().expect("single values"));
            values.collect::<Vec<_>>().join("/")
        };
        points(grid).iter().map(text).collect()
    }

    #[test]
    fn a_grid_is_the_product_and_the_last_parameter_changes_fastest() {
        let g = grid(
            "[parameters]\na = { key = \"x.a\", values = [1, 2] }\n\
             b = { key = \"x.b\", from = \"1KB\", to = \"3KB\", steps = 3 }\n",
        );
        let expected = ["1/1000B", "1/2000B", "1/3000B", "2/1000B", "2/2000B", "2/3000B"];
        assert_eq!(shown(&g), expected);
        assert_eq!(count(&g), 6);
    }

    #[test]
    fn points_are_crossed_with_values() {
        let g = grid(
            "[parameters]\na = { key = \"x.a\" }\nb = { key = \"x.b\" }\n\
             c = { key = \"x.c\", values = [7, 8] }\n\
             [[point]]\na = 1\nb = 2\n[[point]]\na = 3\nb = 4\n",
        );
        assert_eq!(shown(&g), ["1/2/7", "1/2/8", "3/4/7", "3/4/8"]);
        assert_eq!(count(&g), 4);
    }

    #[test]
    fn a_grid_without_parameters_has_one_point() {
        assert_eq!(points(&grid("")).len(), 1);
        assert_eq!(count(&grid("")), 1);
    }

    /// Each of the ten strata of each parameter is used exactly once.
    #[test]
    fn a_latin_hypercube_uses_every_stratum_once() {
        let g = grid(
            "[parameters]\na = { key = \"x.a\", from = 0.0, to = 1.0 }\n\
             b = { key = \"x.b\", from = \"10%\", to = \"20%\" }\n\
             c = { key = \"x.c\", values = [\"u\", \"v\"] }\n\
             [sample]\nkind = \"latin-hypercube\"\npoints = 10\nseed = 3\n",
        );
        let all = points(&g);
        let number = |item: &Item| {
            let text = item.value.text().expect("single");
            super::super::quantity::Quantity::read(&text).expect("a number").number
        };
        let strata = |i: usize, from: f64, width: f64| {
            let mut s: Vec<u64> =
                all.iter().map(|p| ((number(&p[i]) - from) / width * 10.0) as u64).collect();
            s.sort_unstable();
            s
        };
        assert_eq!(strata(0, 0.0, 1.0), (0..10).collect::<Vec<_>>());
        assert_eq!(strata(1, 0.1, 0.1), (0..10).collect::<Vec<_>>());
        let us = all.iter().filter(|p| p[2].value == Value::Text("u".into())).count();
        assert_eq!(us, 5);
    }

    #[test]
    fn a_random_sample_is_the_same_every_time_and_another_with_another_seed() {
        let text = |seed: u64| {
            format!(
                "[parameters]\na = {{ key = \"x.a\", from = 1, to = 1000 }}\n\
                 [sample]\nkind = \"random\"\npoints = 20\nseed = {seed}\n"
            )
        };
        let (one, two) = (shown(&grid(&text(1))), shown(&grid(&text(2))));
        assert_eq!(one, shown(&grid(&text(1))));
        assert_ne!(one, two);
        assert!(one.iter().all(|t| (1..=1000).contains(&t.parse::<u32>().expect("whole"))));
    }
}
