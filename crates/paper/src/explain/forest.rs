//! The drawing of effects: a row per departure, a column per claim, intervals as lines.

use super::POST_HOC;
use super::effects::{Effect, Term, terms};
use super::record::{Found, level_words};
use super::search::Study;
use weir_plot::font::{Weight, width};
use weir_plot::scene::{Anchor, Item, Scene};
use weir_plot::style::Marker;
use weir_plot::{Axis, Paint, Unit};

const TEXT: f64 = 11.0;
const ROW: f64 = 17.0;
const GAP: f64 = 22.0;
/// Columns and interactions that are legible in one drawing.
const MOST_COLUMNS: usize = 4;
const MOST_PAIRS: usize = 6;
const LEFT: f64 = 250.0;
const WIDTH: f64 = 900.0;

/// A line of the drawing: words, and the term whose effects stand beside them.
struct ForestLine {
    words: String,
    indent: f64,
    heading: bool,
    term: Option<Term>,
}

/// Draws the effects on the quantities of the table, or on the claims that are moved most.
pub(super) fn scene(study: &Study<'_>, found: &Found) -> Scene {
    let columns = columns(study, found);
    let lines = lines(study, found, &columns);
    let titles: Vec<Vec<String>> =
        columns.iter().map(|c| wrap(&found.claims[*c].name, column_width(columns.len()))).collect();
    let above = titles.iter().map(Vec::len).max().unwrap_or(0) as f64 * TEXT * 1.25 + TEXT;
    let bottom = above + lines.len() as f64 * ROW;
    let mut scene = Scene { width: WIDTH, height: bottom + TEXT * 6.2, ..Scene::default() };
    for (i, line) in lines.iter().enumerate() {
        let y = above + (i as f64 + 0.5) * ROW + TEXT * 0.3;
        let item = Item::text((4.0 + line.indent, y), &line.words, TEXT, Anchor::Start);
        scene.push(if line.heading { item.bold() } else { item });
    }
    for (i, claim) in columns.iter().enumerate() {
        let w = column_width(columns.len());
        let x = LEFT + GAP + i as f64 * (w + GAP);
        for (k, title) in titles[i].iter().enumerate() {
            let y = TEXT * 1.25 * (k as f64 + 1.0);
            scene.push(Item::text((x, y), title, TEXT, Anchor::Start).bold());
        }
        let place = Place { x, w, above, bottom };
        column(&mut scene, found, *claim, &lines, &place);
    }
    let note = "Change of what a claim compares (first over second), from the primary level to \
        this one; 95 % intervals over seeds. Filled: told from none after";
    let more =
        format!("correction for all effects; an open end goes on beyond the axis. {POST_HOC}.");
    for (k, text) in [note, &more].into_iter().enumerate() {
        let at = (4.0, bottom + TEXT * (3.8 + 1.4 * k as f64));
        scene.push(Item::text(at, text, TEXT * 0.9, Anchor::Start).painted(Paint::Soft));
    }
    scene
}

fn column_width(columns: usize) -> f64 {
    let n = columns.max(1) as f64;
    (WIDTH - LEFT - GAP * (n + 0.5)) / n
}

/// The claims that are drawn.
fn columns(study: &Study<'_>, found: &Found) -> Vec<usize> {
    let has = |claim: &usize| found.effects.iter().any(|e| e.claim == *claim);
    let declared = |i: &usize| study.explanation.quantities.contains(&found.claims[*i].index);
    let mut all: Vec<usize> = (0..found.claims.len()).filter(|i| declared(i) && has(i)).collect();
    if all.is_empty() {
        all = (0..found.claims.len()).filter(has).collect();
        let moved = |claim: &usize| {
            let own = found.effects.iter().filter(|e| e.claim == *claim && e.log);
            own.map(|e| libm::fabs(e.estimate.value)).fold(0.0, f64::max)
        };
        all.sort_by(|a, b| moved(b).total_cmp(&moved(a)));
    }
    all.truncate(MOST_COLUMNS);
    all
}

/// Departures by factor, then the interactions that are strongest in what is drawn.
fn lines(study: &Study<'_>, found: &Found, columns: &[usize]) -> Vec<ForestLine> {
    let explanation = study.explanation;
    let mut all = Vec::new();
    for (i, factor) in explanation.factors.iter().enumerate() {
        let primary = &factor.levels[factor.primary].label;
        for words in wrap(&format!("{} (primary: {primary})", factor.name), LEFT - 8.0) {
            all.push(ForestLine { words, indent: 0.0, heading: true, term: None });
        }
        for (l, level) in factor.levels.iter().enumerate().filter(|(l, _)| *l != factor.primary) {
            push(&mut all, &level.label, vec![(i, l)]);
        }
    }
    let size = |term: &Term| {
        let own = found.effects.iter().filter(|e| e.term == *term && columns.contains(&e.claim));
        let own = own.filter(|e| e.clear());
        own.map(|e| libm::fabs(e.estimate.value)).fold(0.0, f64::max)
    };
    let pairs = terms(explanation).into_iter().filter(|t| t.len() == 2);
    let mut pairs: Vec<(f64, Term)> = pairs.map(|t| (size(&t), t)).filter(|p| p.0 > 0.0).collect();
    pairs.sort_by(|a, b| b.0.total_cmp(&a.0));
    if !pairs.is_empty() {
        let words = "both together, beyond their product".to_owned();
        all.push(ForestLine { words, indent: 0.0, heading: true, term: None });
    }
    for (_, term) in pairs.into_iter().take(MOST_PAIRS) {
        let words: Vec<String> =
            term.iter().map(|(f, l)| level_words(explanation, *f, *l)).collect();
        push(&mut all, &words.join(" × "), term);
    }
    all
}

/// Adds the words of a term; its effects stand beside the last line.
fn push(all: &mut Vec<ForestLine>, words: &str, term: Term) {
    let pieces = wrap(words, LEFT - 24.0);
    let last = pieces.len() - 1;
    for (k, words) in pieces.into_iter().enumerate() {
        let term = (k == last).then(|| term.clone());
        all.push(ForestLine { words, indent: 14.0, heading: false, term });
    }
}

/// A text in lines that fit.
fn wrap(text: &str, most: f64) -> Vec<String> {
    let mut lines: Vec<String> = vec![String::new()];
    // identifiers may be cut at their hyphens
    let spaced = text.replace('-', "-\u{200b}");
    let pieces = spaced.split_inclusive([' ', '\u{200b}']);
    for piece in pieces.map(|p| p.replace('\u{200b}', "")) {
        let last = lines.len() - 1;
        let longer = format!("{}{piece}", lines[last]);
        match lines[last].is_empty() || width(longer.trim_end(), TEXT, Weight::Bold) <= most {
            true => lines[last] = longer,
            false => lines.push(piece),
        }
    }
    lines.into_iter().map(|l| l.trim_end().to_owned()).collect()
}

struct Place {
    x: f64,
    w: f64,
    above: f64,
    bottom: f64,
}

/// The axis of a column: it holds all values, and intervals unless they are far longer.
fn axis(effects: &[&Effect]) -> (Axis, f64) {
    let shown: Vec<_> = effects.iter().map(|e| e.shown()).collect();
    let values = || shown.iter().map(|s| s.value);
    let (low, high) = (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max));
    let ends = |pick: fn(f64, f64) -> f64, start: f64| {
        shown.iter().flat_map(|s| [s.interval.low, s.interval.high]).fold(start, pick)
    };
    if effects.iter().all(|e| e.log) {
        let least = ends(f64::min, 1.0).max(low.min(1.0) / 3.0);
        let most = ends(f64::max, 1.0).min(high.max(1.0) * 3.0);
        return (Axis::log("", Unit::Number, least, most.max(2.0)), 1.0);
    }
    let span = (high.max(0.0) - low.min(0.0)).max(1e-9);
    let least = ends(f64::min, 0.0).max(low.min(0.0) - span);
    let most = ends(f64::max, 0.0).min(high.max(0.0) + span);
    (Axis::between("", Unit::Number, least, most), 0.0)
}

/// The labels of an axis and where they stand: that of no change, and of the others those that
/// touch none.
fn labels(axis: &Axis, none: f64, times: &str, place: &Place) -> Vec<(f64, String)> {
    let mut ticks = axis.ticks(4);
    ticks.retain(|tick| !tick.text.is_empty());
    ticks.sort_by_key(|tick| tick.value != none);
    let mut shown: Vec<(f64, f64, String)> = Vec::new();
    for tick in ticks {
        let text = format!("{times}{}", tick.text);
        let at = place.x + place.w * axis.at(tick.value).clamp(0.0, 1.0);
        let half = width(&text, TEXT * 0.9, Weight::Regular) / 2.0 + 2.0;
        let inside = at - half > place.x - GAP / 2.0 && at + half < place.x + place.w + GAP / 2.0;
        let free = |(other, its, _): &(f64, f64, String)| libm::fabs(at - other) >= half + its;
        if inside && shown.iter().all(free) {
            shown.push((at, half, text));
        }
    }
    shown.into_iter().map(|(at, _, text)| (at, text)).collect()
}

fn column(scene: &mut Scene, found: &Found, claim: usize, lines: &[ForestLine], place: &Place) {
    let Place { x, w, above, bottom } = *place;
    let drawn =
        |e: &&Effect| e.claim == claim && lines.iter().any(|l| l.term.as_ref() == Some(&e.term));
    let own: Vec<&Effect> = found.effects.iter().filter(drawn).collect();
    let (axis, none) = axis(&own);
    let across = |value: f64| x + w * axis.at(value).clamp(0.0, 1.0);
    for tick in axis.ticks(4) {
        let at = across(tick.value);
        scene.push(Item::line((at, above), (at, bottom), Paint::Grid, 0.6));
    }
    let times = if none == 1.0 { "×" } else { "" };
    for (at, text) in labels(&axis, none, times, place) {
        let at = (at, bottom + TEXT * 1.2);
        scene.push(Item::text(at, &text, TEXT * 0.9, Anchor::Middle).painted(Paint::Soft));
    }
    scene.push(Item::line((across(none), above), (across(none), bottom), Paint::Ink, 0.9));
    for (i, line) in lines.iter().enumerate() {
        let Some(e) = own.iter().find(|e| line.term.as_ref() == Some(&e.term)) else { continue };
        let y = above + (i as f64 + 0.5) * ROW;
        let shown = e.shown();
        let paint = if e.clear() { Paint::Series(0) } else { Paint::Soft };
        let (from, to) = (shown.interval.low, shown.interval.high);
        scene.push(Item::line((across(from), y), (across(to), y), paint, 1.4));
        for end in [from, to].into_iter().filter(|end| axis.holds(*end)) {
            scene.push(Item::line((across(end), y - 3.0), (across(end), y + 3.0), paint, 1.4));
        }
        scene.push(Item::marker(Marker::Circle, (across(shown.value), y), 3.4, paint));
        if !e.present() {
            scene.push(Item::marker(Marker::Circle, (across(shown.value), y), 1.9, Paint::Paper));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Paper;
    use crate::explain::answer::Answer;
    use crate::explain::effects::effects;
    use crate::explain::score::{Scored, Unscored, scorables};
    use crate::judge::Response;
    use std::path::{Path, PathBuf};

    #[test]
    fn labels_of_an_axis_do_not_touch() {
        let axis = Axis::log("", Unit::Number, 0.05, 3.5);
        let place = Place { x: 100.0, w: 120.0, above: 0.0, bottom: 10.0 };
        let shown = labels(&axis, 1.0, "×", &place);
        assert_eq!(shown[0].1, "×1", "no change is always named");
        assert!(shown.len() > 2, "{shown:?}");
        for (i, (a, text)) in shown.iter().enumerate() {
            for (b, other) in &shown[..i] {
                let wide = |t: &str| width(t, TEXT * 0.9, Weight::Regular);
                assert!(libm::fabs(a - b) > (wide(text) + wide(other)) / 2.0, "{text} and {other}");
            }
        }
    }

    /// All factors act on all claims, and together beyond that.
    #[test]
    fn no_words_of_the_drawing_overlap_or_leave_it() {
        let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/my-paper");
        let paper = Paper::load(&directory).expect("the example");
        let mut explanation = paper.explanations[0].clone();
        explanation.factors[0].name = "a name that is far longer than the column for it".repeat(2);
        let (out, any_build, seeds) = (PathBuf::new(), false, None);
        let study = Study { paper: &paper, explanation: &explanation, out, any_build, seeds };
        let claims = scorables(&study);
        let one = |combination: crate::explanation::Combination| {
            let y = combination.0.iter().sum::<usize>() as f64;
            let numbers = [y * y, y * y + 0.1, y * y - 0.2].to_vec();
            let response = Some(Response { numbers, log: true, exact: false });
            Scored {
                combination,
                verdicts: vec![Default::default(); claims.len()],
                same_runs: vec![false; claims.len()],
                responses: vec![response; claims.len()],
            }
        };
        let scored: Vec<Scored> = explanation.first().into_iter().map(one).collect();
        let effects = effects(&explanation, &scored, claims.len());
        assert!(effects.iter().any(|e| e.term.len() == 2 && e.clear()));
        let answer = Answer::new(&explanation, &scored, claims.len());
        for quantities in [explanation.quantities.clone(), Vec::new()] {
            let explanation = crate::Explanation { quantities, ..explanation.clone() };
            let study = Study { explanation: &explanation, ..study.clone() };
            let (unscored, runs) = (Unscored::default(), (1, 1));
            let (claims, scored, answer) = (claims.clone(), scored.clone(), answer.clone());
            let effects = effects.clone();
            let found = Found { claims, unscored, scored, runs, answer, effects };
            assert_eq!(scene(&study, &found).clashes(), []);
        }
    }
}
