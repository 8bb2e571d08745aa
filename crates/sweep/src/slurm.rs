//! Scripts for SLURM: a job array that runs the shards, and a job that merges when it is over.

use std::path::Path;
use weir_core::format::shell_word;

/// What a submission asks for.
#[derive(Clone, Debug)]
pub struct Job<'a> {
    /// The name of the sweep.
    pub name: &'a str,
    /// The program, by its full path.
    pub program: &'a Path,
    /// The directory of the sweep, by its full path.
    pub directory: &'a Path,
    /// How many tasks.
    pub tasks: usize,
    /// At most so many at a time.
    pub at_a_time: Option<usize>,
    /// Processors of a task.
    pub cpus: usize,
    /// Time limit of a task, as `sbatch --time` takes it.
    pub time: &'a str,
    /// The partition, if not the default one.
    pub partition: Option<&'a str>,
    /// More options of `sbatch`, as they are.
    pub options: &'a [String],
}

impl Job<'_> {
    fn head(&self, what: &str, log: &str) -> String {
        let mut text = format!(
            "#!/bin/sh\n#SBATCH --job-name={}-{what}\n#SBATCH --output={}/log/{log}.log\n\
             #SBATCH --ntasks=1\n#SBATCH --time={}\n",
            job_name(self.name),
            self.directory.display(),
            self.time
        );
        if let Some(partition) = self.partition {
            text += &format!("#SBATCH --partition={partition}\n");
        }
        for option in self.options {
            text += &format!("#SBATCH {option}\n");
        }
        text
    }

    fn command(&self, verb: &str) -> String {
        let word = |path: &Path| shell_word(&path.display().to_string());
        format!("{} --quiet sweep {verb} {}", word(self.program), word(self.directory))
    }

    /// The job array. A task that loses its node, or is pre-empted, is queued again and goes on
    /// where it was; log files of all its attempts are kept.
    pub fn array(&self) -> String {
        let limit = self.at_a_time.map_or_else(String::new, |n| format!("%{n}"));
        format!(
            "{}#SBATCH --array=0-{}{limit}\n#SBATCH --cpus-per-task={}\n#SBATCH --requeue\n\
             #SBATCH --open-mode=append\n\n\
             exec {} --shard \"$SLURM_ARRAY_TASK_ID/{}\" --jobs {}\n",
            self.head("run", "task-%a"),
            self.tasks - 1,
            self.cpus,
            self.command("run"),
            self.tasks,
            self.cpus
        )
    }

    /// The job that merges.
    pub fn merge(&self) -> String {
        format!("{}\nexec {}\n", self.head("merge", "merge"), self.command("merge"))
    }
}

/// What SLURM shows as the name: no blanks.
fn job_name(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    name.chars().map(plain).collect()
}

/// How many tasks: so many that one lasts about five minutes on `cpus` processors, and no more
/// than clusters allow in one array by default.
pub fn tasks(runs: usize, seconds_per_run: f64, cpus: usize) -> usize {
    const TASK_SECONDS: f64 = 300.0;
    const MOST: usize = 1000;
    let seconds = runs as f64 * seconds_per_run / cpus.max(1) as f64;
    (libm::ceil(seconds / TASK_SECONDS) as usize).clamp(1, MOST.min(runs.max(1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_lasts_minutes() {
        // 18 000 runs of 3 ms are 54 s
        assert_eq!(tasks(18_000, 0.003, 1), 1);
        // 1000 runs of a minute, four at a time: 15 000 s in pieces of 300 s
        assert_eq!(tasks(1000, 60.0, 4), 50);
        // never more tasks than runs, nor more than an array holds
        assert_eq!(tasks(10, 3600.0, 1), 10);
        assert_eq!(tasks(100_000, 3600.0, 1), 1000);
        assert_eq!(tasks(0, 0.0, 0), 1);
    }

    #[test]
    fn paths_with_blanks_stay_one_word() {
        let job = Job {
            name: "my sweep",
            program: Path::new("/opt/my tools/weir"),
            directory: Path::new("/data/x"),
            tasks: 20,
            at_a_time: Some(8),
            cpus: 2,
            time: "30:00",
            partition: Some("short"),
            options: &["--mem=2G".into()],
        };
        let text = job.array();
        for part in [
            "--array=0-19%8\n",
            "--requeue\n",
            "--time=30:00\n",
            "--partition=short\n",
            "#SBATCH --mem=2G\n",
            "--job-name=my-sweep-run\n",
            "exec '/opt/my tools/weir' --quiet sweep run /data/x --shard \
             \"$SLURM_ARRAY_TASK_ID/20\" --jobs 2\n",
        ] {
            assert!(text.contains(part), "{part} is not in\n{text}");
        }
        assert!(job.merge().contains("sweep merge /data/x\n"));
        assert!(!job.merge().contains("--array"));
    }
}
