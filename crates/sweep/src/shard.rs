//! Which share of a sweep a worker does: what it is told, or what its surroundings say.

use std::str::FromStr;

/// Share `index` of `count`, counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Which.
    pub index: usize,
    /// Of how many.
    pub count: usize,
}

/// More tasks than any cluster starts.
const MOST: usize = 1_000_000;

impl Shard {
    /// Everything.
    pub const ALL: Self = Self { index: 0, count: 1 };

    fn new(index: usize, count: usize) -> Result<Self, String> {
        if index < count && count <= MOST {
            return Ok(Self { index, count });
        }
        Err(format!("there is no shard {index} of {count}: shards are counted from 0"))
    }

    /// Whether the `at`-th run belongs to this share. Neighbours in the plan cost about the same,
    /// so they go to different shares.
    pub const fn has(self, at: usize) -> bool {
        at % self.count == self.index
    }

    /// The stem of names of its files.
    pub fn name(self) -> String {
        format!("shard-{:04}-of-{:04}", self.index, self.count)
    }

    /// What the environment says, in this order: a SLURM job array, `WEIR_SHARD_INDEX` and
    /// `WEIR_SHARD_COUNT`, a Kubernetes Indexed Job with `WEIR_SHARD_COUNT`.
    pub fn from_environment(get: impl Fn(&str) -> Option<String>) -> Result<Option<Self>, String> {
        let number = |name: &str| match get(name) {
            None => Ok(None),
            Some(text) => match text.trim().parse::<usize>() {
                Ok(n) => Ok(Some(n)),
                Err(_) => Err(format!("{name} is `{text}`: not a whole number")),
            },
        };
        if let Some(id) = number("SLURM_ARRAY_TASK_ID")? {
            let first = number("SLURM_ARRAY_TASK_MIN")?.unwrap_or(0);
            let last = number("SLURM_ARRAY_TASK_MAX")?;
            let count = number("SLURM_ARRAY_TASK_COUNT")?;
            let (Some(last), Some(count)) = (last, count) else {
                return Err("SLURM_ARRAY_TASK_ID without _MAX and _COUNT: give --shard I/N".into());
            };
            if id < first || last < first || last - first + 1 != count {
                return Err(format!(
                    "the job array {first}-{last} has {count} tasks, so it has gaps: give --shard \
                     I/N"
                ));
            }
            return Self::new(id - first, count).map(Some);
        }
        let count = number("WEIR_SHARD_COUNT")?;
        for name in ["WEIR_SHARD_INDEX", "JOB_COMPLETION_INDEX"] {
            if let Some(index) = number(name)? {
                let missing = || {
                    format!(
                        "{name} is set but WEIR_SHARD_COUNT is not: set it to the number of shards"
                    )
                };
                return Self::new(index, count.ok_or_else(missing)?).map(Some);
            }
        }
        match count {
            Some(2..) => Err("WEIR_SHARD_COUNT is set but WEIR_SHARD_INDEX is not: set it to the \
                              number of this shard, from 0"
                .into()),
            _ => Ok(None),
        }
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once('/').map(|(i, n)| (i.trim().parse(), n.trim().parse()));
        match parts {
            Some((Ok(index), Ok(count))) => Self::new(index, count),
            _ => Err(format!("`{text}` is not a shard: write 0/20 for the first of twenty")),
        }
    }
}

impl std::fmt::Display for Shard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.index, self.count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(variables: &[(&str, &str)]) -> Result<Option<Shard>, String> {
        let get = |name: &str| {
            variables.iter().find(|(n, _)| *n == name).map(|(_, value)| (*value).to_owned())
        };
        Shard::from_environment(get)
    }

    #[test]
    fn the_environment_of_each_engine_is_understood() {
        let slurm = |id, min, max, count| {
            of(&[
                ("SLURM_ARRAY_TASK_ID", id),
                ("SLURM_ARRAY_TASK_MIN", min),
                ("SLURM_ARRAY_TASK_MAX", max),
                ("SLURM_ARRAY_TASK_COUNT", count),
            ])
        };
        assert_eq!(slurm("7", "0", "19", "20"), Ok(Some(Shard { index: 7, count: 20 })));
        assert_eq!(slurm("1", "1", "20", "20"), Ok(Some(Shard { index: 0, count: 20 })));
        assert!(slurm("3", "3", "7", "2").is_err(), "an array with gaps");
        let pair = [("WEIR_SHARD_INDEX", "2"), ("WEIR_SHARD_COUNT", "5")];
        assert_eq!(of(&pair), Ok(Some(Shard { index: 2, count: 5 })));
        let job = [("JOB_COMPLETION_INDEX", "4"), ("WEIR_SHARD_COUNT", "5")];
        assert_eq!(of(&job), Ok(Some(Shard { index: 4, count: 5 })));
        assert_eq!(of(&[]), Ok(None));
        assert!(of(&job[..1]).is_err() && of(&job[1..]).is_err());
        assert!(of(&[("WEIR_SHARD_INDEX", "5"), ("WEIR_SHARD_COUNT", "5")]).is_err());
    }

    #[test]
    fn shards_are_written_as_a_fraction_and_divide_everything() {
        assert_eq!("3/20".parse(), Ok(Shard { index: 3, count: 20 }));
        for wrong in ["", "3", "20/20", "-1/2", "1/0", "a/b"] {
            assert!(wrong.parse::<Shard>().is_err(), "{wrong}");
        }
        let shards: Vec<Shard> = (0..7).map(|index| Shard { index, count: 7 }).collect();
        for run in 0..100 {
            assert_eq!(shards.iter().filter(|s| s.has(run)).count(), 1);
        }
    }
}
