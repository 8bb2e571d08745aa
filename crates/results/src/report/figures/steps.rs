//! How long the steps of jobs took, by job and scheme.

use super::completion::{MOST_PANELS, bar_panel, figure, seeds_note};
use super::look::{Look, looks};
use crate::comparison::steps::StepSummary;
use crate::comparison::{Comparison, Group};
use crate::stats::Estimate;
use weir_core::format;
use weir_plot::{Bar, Figure, Panel, Unit};

/// What a bar shows of a job: the mean, and the largest.
type StepFigure = fn(&StepSummary) -> (Option<Estimate>, Option<f64>);

/// A panel of bars per job, a bar per scheme.
fn bars(c: &Comparison<'_>, label: &str, reading: StepFigure) -> Vec<Panel> {
    let looks = looks(c);
    let mut panels = Vec::new();
    for (place, job) in c.experiment.traffic.jobs().iter().enumerate() {
        let bar = |(g, look): (&Group<'_>, &Look)| {
            let s = StepSummary::new(g, place)?;
            let (mean, whisker) = reading(&s);
            let note = match s.asked - s.ended.min(s.asked) {
                0 => String::new(),
                _ => format!("({} of {} steps)", format::count(s.ended), format::count(s.asked)),
            };
            let (value, error) = (mean.map(|e| e.mean), mean.map_or(0.0, |e| e.half_width));
            Some(Bar { value, error, whisker, style: Some(look.style), note })
        };
        let bars: Vec<Option<Bar>> = c.groups.iter().zip(&looks).map(bar).collect();
        panels.extend(bar_panel(&job.name, &looks, label, Unit::Time, bars));
    }
    panels.truncate(MOST_PANELS);
    panels
}

/// Step times by job and scheme.
pub(super) fn time(c: &Comparison<'_>) -> Option<Figure> {
    let panels = bars(c, "mean step time", |s| (s.mean, s.most));
    let caption =
        "From the first rank that begins an iteration of a job to the last that finishes \
                   it: the mean, and a thin line up to the longest."
            .to_owned();
    let caption = caption + &seeds_note(c, "the lines across the ends of bars");
    figure("step-time", "Step time by job and scheme", caption, panels)
}

/// Exposed communication by job and scheme, where anything is computed.
pub(super) fn exposed(c: &Comparison<'_>) -> Option<Figure> {
    let computed = |g: &Group<'_>| {
        let its = g.outcomes().flat_map(|o| &o.jobs).flat_map(|job| &job.iterations);
        its.into_iter().any(|it| it.computed > weir_core::Time::ZERO)
    };
    if !c.groups.iter().any(computed) {
        return None;
    }
    let panels = bars(c, "mean exposed communication", |s| (s.exposed, None));
    let caption = "The part of the step time in which the rank that came last did not compute: it \
                   sent, or waited for messages."
        .to_owned();
    let caption = caption + &seeds_note(c, "the lines across the ends of bars");
    figure("exposed", "Exposed communication by job and scheme", caption, panels)
}
