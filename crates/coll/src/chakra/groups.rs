//! Groups of ranks by name.

use crate::tasks::Set;
use std::collections::BTreeMap;

/// Groups by name, each with its ranks in order. Without a name or as `0` all ranks are meant,
/// unless a group is called so.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Groups {
    by_name: BTreeMap<String, Vec<u32>>,
}

impl Groups {
    /// Reads `{"1": [0, 8], "2": [1, 9]}`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let by_name: BTreeMap<String, Vec<u32>> = serde_json::from_str(text)
            .map_err(|e| format!("{e}: groups are written as {{\"1\": [0, 8], \"2\": [1, 9]}}"))?;
        Ok(Self { by_name })
    }

    /// Adds one; `Err` if there is another one of this name.
    pub fn add(&mut self, name: &str, members: Vec<u32>) -> Result<(), String> {
        match self.by_name.get(name) {
            Some(known) if *known != members => {
                Err(format!("group `{name}` has other members than in another place"))
            }
            _ => {
                self.by_name.insert(name.to_owned(), members);
                Ok(())
            }
        }
    }

    /// Takes over the groups that the values of a metadata node list, as texts such as
    /// `[{"pg_name": "1", "ranks": [0, 8]}]`. Other texts are not groups.
    pub(super) fn add_listed(&mut self, values: &[String], ranks: u32) -> Result<(), String> {
        for value in values.iter().filter(|v| v.contains("pg_name")) {
            let list = serde_json::from_str(value)
                .or_else(|_| serde_json::from_str(&value.replace('\'', "\"")));
            let Ok(serde_json::Value::Array(list)) = list else { continue };
            for group in &list {
                let Some(name) = group.get("pg_name") else { continue };
                let name = name.as_str().map_or_else(|| name.to_string(), str::to_owned);
                let Some(members) = group.get("ranks").and_then(|m| m.as_array()) else { continue };
                let number = |m: &serde_json::Value| m.as_u64().and_then(|m| u32::try_from(m).ok());
                let members: Option<Vec<u32>> = members.iter().map(number).collect();
                let members = members.ok_or_else(|| format!("group `{name}` lists no ranks"))?;
                let all = || (0..ranks).collect();
                self.add(&name, if members.is_empty() { all() } else { members })?;
            }
        }
        Ok(())
    }

    /// The group that a name means among so many ranks.
    pub(super) fn set(&self, name: &str, ranks: u32) -> Result<Set, String> {
        let Some(members) = self.by_name.get(name) else {
            if name.is_empty() || name == "0" {
                return Ok(Set::one((0..ranks).collect()));
            }
            return Err(format!(
                "there is no group `{name}`: name a file with `comm-groups`, such as \
                 {{\"{name}\": [0, 1]}}"
            ));
        };
        if let Some(rank) = members.iter().find(|rank| **rank >= ranks) {
            return Err(format!("group `{name}` has rank {rank}, and there are {ranks} ranks"));
        }
        let mut sorted = members.clone();
        sorted.sort_unstable();
        if let Some(twice) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(format!("group `{name}` has rank {} twice", twice[0]));
        }
        if members.is_empty() {
            return Err(format!("group `{name}` has no ranks"));
        }
        Ok(Set::one(members.clone()))
    }
}
