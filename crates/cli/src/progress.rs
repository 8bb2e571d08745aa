//! Shows how far the runs are: a bar on a terminal, a line every few seconds otherwise.

use crate::terminal::{Terminal, tell};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use weir_core::format;
use weir_results::run::{Meter, MeterReading};
use weir_sweep::survey::Survey;
use weir_sweep::worker::Meter as SweepMeter;

/// Longest time between two looks at the meter on a terminal.
const FRAME: Duration = Duration::from_millis(100);
/// Time between lines elsewhere.
const LINE: Duration = Duration::from_secs(5);

/// Does `work` while showing how far `meter` is.
pub(crate) fn watch<T>(
    title: &str,
    meter: &Meter,
    terminal: &Terminal,
    work: impl FnOnce() -> T,
) -> T {
    while_shown(terminal, work, |done| match terminal.interactive {
        true => bar(title, meter, done),
        false => lines(title, meter, done),
    })
}

/// Does `work` while showing how far a sweep is.
pub(crate) fn watch_sweep<T>(
    title: &str,
    meter: &SweepMeter,
    others: Option<Survey>,
    terminal: &Terminal,
    work: impl FnOnce() -> T,
) -> T {
    while_shown(terminal, work, |done| {
        sweep_lines(title, meter, others, terminal.interactive, done);
    })
}

/// Does `work` while `show` runs on a thread of its own until it finds `done` set.
fn while_shown<T>(
    terminal: &Terminal,
    work: impl FnOnce() -> T,
    show: impl FnOnce(&AtomicBool) + Send,
) -> T {
    if terminal.quiet {
        return work();
    }
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let watcher = scope.spawn(|| show(&done));
        let result = work();
        done.store(true, Ordering::Release);
        watcher.thread().unpark();
        let _ = watcher.join();
        result
    })
}

fn sweep_lines(
    title: &str,
    meter: &SweepMeter,
    mut others: Option<Survey>,
    interactive: bool,
    done: &AtomicBool,
) {
    let start = Instant::now();
    let bar = interactive.then(|| {
        let bar = ProgressBar::with_draw_target(Some(1000), ProgressDrawTarget::stderr());
        let style = ProgressStyle::with_template("  {prefix}  {bar:24} {percent:>3} %  {wide_msg}");
        bar.set_style(style.expect("the template is valid").progress_chars("━━─"));
        bar.set_prefix(title.to_owned());
        bar
    });
    let (mut next, mut survey, mut elsewhere) = (LINE, Duration::ZERO, None);
    while !done.load(Ordering::Acquire) {
        // the first look comes when the worker knows what had a result before
        let known = meter.whole.load(Ordering::Relaxed) > 0;
        if let Some(others) = others.as_mut().filter(|_| known && start.elapsed() >= survey) {
            elsewhere = Some(others.look());
            survey = start.elapsed() + LINE;
        }
        let (share, mut text) = sweep_state(meter, start.elapsed().as_secs_f64());
        if let Some(elsewhere) = elsewhere {
            text += &whole_state(meter, elsewhere, start.elapsed().as_secs_f64());
        }
        if let Some(bar) = &bar {
            bar.set_position((share * 1000.0) as u64);
            bar.set_message(text);
        } else if start.elapsed() >= next {
            eprintln!("{title}: {:.0} %, {text}", share * 100.0);
            next += LINE;
        }
        std::thread::park_timeout(FRAME);
    }
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
}

/// Part that is done, and a line about it.
fn sweep_state(meter: &SweepMeter, elapsed: f64) -> (f64, String) {
    let get = |n: &std::sync::atomic::AtomicUsize| n.load(Ordering::Relaxed);
    if meter.waiting.load(Ordering::Relaxed) {
        return (0.0, "another worker is running this share; waiting for it".to_owned());
    }
    let (total, now) = (get(&meter.total), get(&meter.done));
    let done = get(&meter.before) + now;
    let left = match meter.knows_its_pace() {
        false => String::new(),
        true => format!(", {} left", clock(elapsed / now as f64 * (total - done) as f64)),
    };
    let failed = match get(&meter.failed) {
        0 => String::new(),
        n => format!(", {n} failed"),
    };
    if meter.parts.get().is_some_and(|parts| parts.len() > 1) {
        let open = format::plural(meter.open() as u64, "experiment");
        let (share, left) = several_state(meter, elapsed);
        return (share, format!("{done}/{total} runs{failed}, {open} to go{left}"));
    }
    (done as f64 / total.max(1) as f64, format!("{done}/{total} runs{failed}{left}"))
}

/// Part of the time that is over when sweeps differ in how long their runs take, and what is left.
fn several_state(meter: &SweepMeter, elapsed: f64) -> (f64, String) {
    let made = meter.cpu_us.load(Ordering::Relaxed) as f64 / 1e6;
    match meter.seconds_left() {
        Some(left) if made > 0.0 && elapsed > 0.0 => {
            // processor seconds per second, as measured
            let left = left * elapsed / made;
            let text = format!(", {} left", clock(left));
            let text = if meter.knows_its_pace() { text } else { String::new() };
            (elapsed / (elapsed + left), text)
        }
        _ => (0.0, String::new()),
    }
}

/// What is known of the sweep of which this worker has a share: `elsewhere` runs were done by
/// others meanwhile.
fn whole_state(meter: &SweepMeter, elsewhere: usize, elapsed: f64) -> String {
    let get = |n: &std::sync::atomic::AtomicUsize| n.load(Ordering::Relaxed);
    let (whole, now) = (get(&meter.whole), get(&meter.done) + elsewhere);
    let done = (get(&meter.whole_before) + now).min(whole);
    // alone, this worker says nothing about the time that others will take
    let left = match meter.knows_its_pace() && elsewhere > 0 {
        false => String::new(),
        true => format!(", {} left", clock(elapsed / now as f64 * (whole - done) as f64)),
    };
    format!("; whole sweep {done}/{whole}{left}")
}

/// Speed and time to go.
struct Pace {
    start: Instant,
}

impl Pace {
    fn describe(&self, meter: &Meter, r: &MeterReading) -> String {
        let elapsed = self.start.elapsed().as_secs_f64().max(1e-3);
        let speed = format::count_f64(r.packet_hops as f64 / elapsed);
        let runs = match meter.total() {
            0 | 1 => String::new(),
            n => format!("{}/{n} runs, ", r.finished),
        };
        let left = match r.done {
            d if d > 0.01 && d < 1.0 => format!(", {} left", clock(elapsed / d - elapsed)),
            _ => String::new(),
        };
        let now = format::time_ps(r.now_ps as f64);
        let steps = match r.steps {
            (_, 0) => String::new(),
            (ended, all) => format!(", {ended} of {all} steps of jobs{}", last_step(r)),
        };
        let files = meter.journal().and_then(|journal| journal.place());
        let files =
            files.map_or_else(String::new, |place| format!(", so far: {}", place.display()));
        format!("{runs}{now} simulated{steps}, {speed} packet-hops/s{left}{files}")
    }
}

/// The step of a job that ended last.
fn last_step(r: &MeterReading) -> String {
    r.last_step.as_ref().map_or_else(String::new, |step| {
        let time = format::time(step.time);
        format!(" (the last: {} of {}, {time})", step.iteration, step.job)
    })
}

/// How much is done. How long a run takes is an estimate, so all is done only when all runs are.
fn percent(meter: &Meter, r: &MeterReading) -> u64 {
    let most = if r.finished >= meter.total() { 100 } else { 99 };
    ((r.done * 100.0) as u64).min(most)
}

fn clock(seconds: f64) -> String {
    let s = seconds.clamp(0.0, 1e9) as u64;
    match s {
        0..60 => format!("{s} s"),
        60..3600 => format!("{}:{:02} min", s / 60, s % 60),
        _ => format!("{}:{:02} h", s / 3600, s % 3600 / 60),
    }
}

fn bar(title: &str, meter: &Meter, done: &AtomicBool) {
    let pace = Pace { start: Instant::now() };
    let bar = ProgressBar::with_draw_target(Some(100), ProgressDrawTarget::stderr());
    let style = ProgressStyle::with_template("  {prefix}  {bar:24} {percent:>3} %  {wide_msg}");
    bar.set_style(style.expect("the template is valid").progress_chars("━━─"));
    bar.set_prefix(title.to_owned());
    while !done.load(Ordering::Acquire) {
        let reading = meter.read();
        bar.set_position(percent(meter, &reading));
        bar.set_message(pace.describe(meter, &reading));
        std::thread::park_timeout(FRAME);
    }
    bar.finish_and_clear();
}

fn lines(title: &str, meter: &Meter, done: &AtomicBool) {
    let pace = Pace { start: Instant::now() };
    let mut next = LINE;
    while !done.load(Ordering::Acquire) {
        if pace.start.elapsed() >= next {
            let reading = meter.read();
            let percent = percent(meter, &reading);
            tell(&format!("{title}: {percent} %, {}", pace.describe(meter, &reading)));
            next += LINE;
        }
        std::thread::park_timeout(Duration::from_millis(200));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_sweep::worker::SweepPart;

    #[test]
    fn one_of_two_runs_is_never_all() {
        let meter = Meter::new(2);
        meter.report(0, 5, 5, 1.0);
        assert_eq!(percent(&meter, &meter.read()), 50);
        // estimated to be nearly over
        meter.report(1, 5, 5, 0.999);
        assert_eq!(percent(&meter, &meter.read()), 99);
        meter.report(1, 5, 5, 1.0);
        assert_eq!(percent(&meter, &meter.read()), 100);
    }

    /// 10 of 100 runs had a result; this worker has made 20 in 60 s and others 25: 45 are left at
    /// 45 a minute.
    #[test]
    fn a_worker_with_a_share_says_how_far_the_whole_sweep_is() {
        let meter = SweepMeter::default();
        for (counter, n) in [(&meter.whole, 100), (&meter.whole_before, 10), (&meter.done, 20)] {
            counter.store(n, Ordering::Relaxed);
        }
        assert_eq!(whole_state(&meter, 25, 60.0), "; whole sweep 55/100, 1:00 min left");
        assert_eq!(whole_state(&meter, 0, 60.0), "; whole sweep 30/100");
        // eight at a time: 20 runs are too few to tell
        meter.jobs.store(8, Ordering::Relaxed);
        assert_eq!(whole_state(&meter, 25, 60.0), "; whole sweep 55/100");
        meter.jobs.store(2, Ordering::Relaxed);
        // records of runs that somebody else made, too
        assert_eq!(whole_state(&meter, 99, 60.0), "; whole sweep 100/100, 0 s left");
    }

    /// Four at a time, 1000 runs of 1 s each. After 1 s the first of them is done and three are
    /// about to be: to say 999 s would be wrong by a factor of four. After 3 s the twelfth is.
    #[test]
    fn the_time_left_is_not_said_before_the_pace_is_known() {
        let meter = SweepMeter::default();
        meter.total.store(1000, Ordering::Relaxed);
        meter.jobs.store(4, Ordering::Relaxed);
        meter.done.store(1, Ordering::Relaxed);
        assert_eq!(sweep_state(&meter, 1.0).1, "1/1000 runs");
        meter.done.store(12, Ordering::Relaxed);
        assert_eq!(sweep_state(&meter, 3.0).1, "12/1000 runs, 4:07 min left");
    }

    /// Two experiments; runs of the first take 100 s. As long as nothing is known of the second,
    /// its 1000 runs are not said to take as long.
    #[test]
    fn the_time_left_of_papers_is_not_said_before_a_run_of_each_experiment() {
        let meter = SweepMeter::default();
        let part = |left: usize, timed: usize, cpu_us: u64| SweepPart {
            name: String::new(),
            left: left.into(),
            timed: timed.into(),
            cpu_us: cpu_us.into(),
        };
        let parts = vec![part(0, 4, 400_000_000), part(1000, 0, 0)];
        assert!(meter.parts.set(parts).is_ok());
        meter.total.store(1004, Ordering::Relaxed);
        meter.jobs.store(1, Ordering::Relaxed);
        meter.done.store(4, Ordering::Relaxed);
        meter.cpu_us.store(400_000_000, Ordering::Relaxed);
        assert_eq!(sweep_state(&meter, 400.0), (0.0, "4/1004 runs, 1 experiment to go".into()));
        // a run of the second took 0.1 s, so 999 of them take 99.9 s
        let second = &meter.parts.get().expect("set")[1];
        second.left.store(999, Ordering::Relaxed);
        second.timed.store(1, Ordering::Relaxed);
        second.cpu_us.store(100_000, Ordering::Relaxed);
        meter.done.store(5, Ordering::Relaxed);
        meter.cpu_us.store(400_100_000, Ordering::Relaxed);
        let text = sweep_state(&meter, 400.1).1;
        assert_eq!(text, "5/1004 runs, 1 experiment to go, 1:39 min left");
    }
}
