//! Reading `explain.toml`.

use super::super::claim::{Claim, Rule, Sort};
use super::super::experiment::{Experiment, Mode, Quick, Work, quick};
use super::super::keys;
use super::{Applies, Explanation, FILE, Factor, Level, Written, of_scenario};
use weir_scenario::Fields;
use weir_scenario::ports::matches;
use weir_scenario::text::{Diagnostic, Diagnostics, SourceId, Sources, Span, Value, parse};
use weir_scenario::variant::Change;
use weir_sweep::grid::Grid;
use weir_sweep::seeds;

/// Two seeds have an interval that is 12.7 standard errors wide on either side.
const LEAST_SEEDS: usize = 3;
/// A level is a digit of a name.
const MOST_LEVELS: usize = 36;

/// Reads `explain.toml`.
pub(crate) fn read(
    sources: &Sources,
    id: SourceId,
    experiments: &[Experiment],
    claims: &[Claim],
    out: &mut Diagnostics,
) -> Vec<Explanation> {
    let root = parse(sources, id, out);
    let mut f = Fields::file(FILE, keys::EXPLAIN_FILE, &root, id.span(0..0), out);
    let mut all: Vec<Explanation> = Vec::new();
    for item in f.tables(&keys::EXPLAIN) {
        let mut f = Fields::new(&keys::EXPLAIN, Some(item), f.out).from_first_key();
        let one = Context { f: &mut f, experiments, claims }.explanation();
        if all.iter().any(|other| other.id.eq_ignore_ascii_case(&one.id)) {
            let at = f.place("id");
            f.error(format!("two explanations are called `{}`", one.id), at, "");
        }
        all.push(one);
    }
    all
}

struct Context<'r, 'a> {
    f: &'r mut Fields<'a>,
    experiments: &'r [Experiment],
    claims: &'r [Claim],
}

impl<'r> Context<'r, '_> {
    fn explanation(mut self) -> Explanation {
        self.f.check_cells(&["id", "title"]);
        let id = self.f.required("id");
        self.f.check_id(&id, "-_");
        let title = self.f.required("title");
        let named = self.named("experiments");
        if named.is_empty() {
            self.needs("experiments", "those whose claims are scored");
        }
        let variants = self.variants(&named);
        let factors = self.factors(&named, &variants);
        let (seeds, fresh) = self.seeds(&named);
        let ids: Vec<String> = named.iter().map(|e| e.id.clone()).collect();
        let claims = self.scored(&ids, &variants, &factors);
        let quantities = self.quantities(&claims);
        let most = self.f.whole("most").value as usize;
        let enough = self.enough(claims.len().max(1));
        Explanation {
            id,
            title,
            experiments: ids,
            variants,
            claims,
            quantities,
            seeds,
            fresh,
            most,
            enough,
            factors,
            scenario: self.f.text_at("scenario"),
            quick: self.quick(&named),
        }
    }

    /// `[explain.quick]`, read for the grid of each experiment with runs.
    fn quick(&mut self, named: &[&Experiment]) -> Vec<(String, Quick)> {
        let mut all: Vec<(String, Quick)> = Vec::new();
        let Some(item) = self.f.item("quick") else { return Vec::new() };
        for e in named {
            let runs_of = runs_of(self.experiments, e);
            let Some(grid) = grid_of(self.experiments, e) else { continue };
            if all.iter().all(|(id, _)| *id != runs_of.id) {
                all.push((runs_of.id.clone(), quick(Some(item), grid, self.f.out)));
            }
        }
        all
    }

    fn needs(&mut self, key: &str, what: &str) {
        if !self.f.given(key) {
            self.f.error(format!("an explanation needs `{key}`: {what}"), self.f.span, "");
        }
    }

    /// So many of the claims that are scored.
    fn enough(&mut self, most: usize) -> Option<usize> {
        let enough = self.f.optional_whole("enough")?;
        if enough.value > most as u64 {
            let title = format!("`enough` is a whole number from 1 to {most}");
            self.f.error(title, enough.span, "so many claims are scored");
        }
        Some(enough.value as usize)
    }

    /// The experiments that a key names.
    fn named(&mut self, key: &str) -> Vec<&'r Experiment> {
        let experiments = self.experiments;
        let mut all = Vec::new();
        for (name, at) in self.f.names_at(key) {
            let found = experiments.iter().find(|e| e.id.eq_ignore_ascii_case(&name));
            let Some(e) = found else {
                let ids: Vec<&str> = experiments.iter().map(|e| e.id.as_str()).collect();
                self.f.unknown("experiment", &name, at, &ids);
                continue;
            };
            let Some(grid) = grid_of(experiments, e) else {
                self.f.error(format!("`{name}` has no runs"), at, "settings cannot change it");
                continue;
            };
            if grid.variants.is_empty() {
                let label = "levels change variants of the grid";
                self.f.error(format!("`{name}` has no variants of its own"), at, label);
            }
            all.push(e);
        }
        all
    }

    fn variants(&mut self, named: &[&Experiment]) -> Vec<String> {
        self.needs("variants", "those of the primary reading, which factors change");
        let known: Vec<&String> = named.iter().flat_map(|e| &e.scope.variants).collect();
        let chosen = self.f.names_at("variants");
        for (name, at) in &chosen {
            if !named.is_empty() && !known.contains(&name) {
                let ids: Vec<&str> = named.iter().map(|e| e.id.as_str()).collect();
                self.f.unknown(&format!("variant of {}", ids.join(", ")), name, *at, &known);
            }
        }
        chosen.into_iter().map(|(name, _)| name).collect()
    }

    fn seeds(&mut self, named: &[&Experiment]) -> (Vec<u64>, Vec<u64>) {
        self.needs("seeds", "those of the search, such as \"1..5\"");
        self.needs("fresh-seeds", "those of the confirmation, such as \"101..110\"");
        let seeds = seeds::read(self.f, "seeds").unwrap_or_default();
        let fresh = seeds::read(self.f, "fresh-seeds").unwrap_or_default();
        let random = named.iter().any(|e| !e.scope.deterministic);
        for (key, seeds) in [("seeds", &seeds), ("fresh-seeds", &fresh)] {
            if random && !seeds.is_empty() && seeds.len() < LEAST_SEEDS {
                let title = format!("`{key}` has {}: intervals need {LEAST_SEEDS}", seeds.len());
                self.f.error(title, self.f.place(key), "");
            }
        }
        if let Some(seed) = fresh.iter().find(|s| seeds.contains(s)) {
            let title = format!("seed {seed} is one of the search");
            let label = "seeds on which something was chosen cannot confirm it";
            self.f.error(title, self.f.place("fresh-seeds"), label);
        }
        (seeds, fresh)
    }

    /// The claims that are scored: those that are named, or those of the primary reading and of the
    /// table about anything that a factor changes.
    fn scored(&mut self, ids: &[String], variants: &[String], factors: &[Factor]) -> Vec<usize> {
        let measured = |c: &Claim| !matches!(c.rule, Rule::NotMeasured { .. });
        let own = |c: &Claim| ids.contains(&c.experiment) && measured(c) && !c.calibrated;
        let changed = |c: &Claim| {
            let all =
                factors.iter().any(|f| f.applies == Applies::ToAll && f.touches(&c.experiment));
            all || c.operands().any(|o| variants.contains(&o.variant))
        };
        let patterns = self.f.names_at("claims");
        let claims = self.claims;
        // a number that is to be seen is judged whatever its reading
        let seen = self.f.names_at("quantities");
        let named = |c: &Claim| match patterns.is_empty() {
            true => c.primary || seen.iter().any(|(id, _)| *id == c.id),
            false => patterns.iter().any(|(p, _)| matches(p, &c.id)),
        };
        for (pattern, at) in &patterns {
            let fits = |c: &&Claim| own(c) && changed(c) && matches(pattern, &c.id);
            if !claims.iter().any(|c| fits(&c)) {
                let ids: Vec<&str> =
                    claims.iter().filter(|c| own(c)).map(|c| c.id.as_str()).collect();
                let title = format!("no claim `{pattern}` is about what is changed here");
                let error = Diagnostic::error(title).at(*at, "");
                let nearest = weir_net::nearest(pattern, ids.iter().copied());
                self.f.out.push(error.nearest(nearest).help("`weir paper claims` lists them"));
            }
        }
        let all = claims.iter().enumerate().filter(|(_, c)| own(c) && changed(c) && named(c));
        let all: Vec<usize> = all.map(|(i, _)| i).collect();
        if all.is_empty() && !ids.is_empty() && !variants.is_empty() && patterns.is_empty() {
            let label = "it looks at none of these variants";
            self.f.error("no claim would be scored", self.f.place("variants"), label);
        }
        all
    }

    /// The claims whose numbers stand in the table.
    fn quantities(&mut self, scored: &[usize]) -> Vec<usize> {
        let mut all = Vec::new();
        for (name, at) in self.f.names_at("quantities") {
            let found = scored.iter().find(|i| self.claims[**i].id == name);
            let numeric = |c: &Claim| c.sort() == Sort::Number || c.rule == Rule::Equal;
            match found.map(|i| (*i, numeric(&self.claims[*i]))) {
                Some((i, true)) => all.push(i),
                Some(_) => self.f.error(
                    format!("claim `{name}` states no number"),
                    at,
                    "the table shows values, reductions, ratios, limits and what is equal",
                ),
                None => {
                    let ids: Vec<&str> =
                        scored.iter().map(|i| self.claims[*i].id.as_str()).collect();
                    let title = format!("claim `{name}` is not scored here");
                    let error = Diagnostic::error(title).at(at, "");
                    self.f.out.push(error.nearest(weir_net::nearest(&name, ids.iter().copied())));
                }
            }
        }
        all
    }

    fn factors(&mut self, named: &[&Experiment], variants: &[String]) -> Vec<Factor> {
        let mut all: Vec<Factor> = Vec::new();
        let tables = self.f.tables(&keys::FACTOR);
        if tables.is_empty() {
            let title = "an explanation needs `[[explain.factor]]`: what is varied";
            self.f.error(title, self.f.span, "");
        }
        for item in tables {
            let header = "[[explain.factor]]".to_owned();
            let mut f = Fields::closed(header, keys::FACTOR.keys, Some(item), self.f.out);
            f = f.from_first_key();
            let Some(factor) = factor(&mut f, named) else { continue };
            if all.iter().any(|other| other.name == factor.name) {
                let at = f.place("name");
                f.error(format!("two factors are called `{}`", factor.name), at, "");
            }
            self.check_keys(&factor, named, variants, &all);
            all.push(factor);
        }
        all
    }

    /// A key that the grid goes through would undo a level; one that two factors change would
    /// undo one of them, unless it is a set.
    fn check_keys(
        &mut self,
        factor: &Factor,
        named: &[&Experiment],
        variants: &[String],
        before: &[Factor],
    ) {
        for e in named.iter().filter(|e| factor.touches(&e.id)) {
            let Some(grid) = grid_of(self.experiments, e) else { continue };
            let own = |label: &String| factor.applies == Applies::ToAll || variants.contains(label);
            for spec in grid.variants.iter().filter(|v| own(&v.label)) {
                let bare = factor.levels.iter().flat_map(|l| &l.changes);
                let bare =
                    bare.clone().find(|(key, ..)| spec.scheme.is_none() && !of_scenario(key));
                if let Some((key, at, _)) = bare {
                    let title = format!("variant `{}` names no scheme", spec.label);
                    self.f.error(title, *at, &format!("whose parameter would `{key}` be?"));
                    return;
                }
                let changes = |f: &Factor| {
                    let both = [Mode::Quick, Mode::Full];
                    let of = |l: &Level| both.map(|mode| l.changes_of(spec, mode)).concat();
                    f.levels.iter().flat_map(of).collect::<Vec<Change>>()
                };
                let mine = changes(factor);
                if let Some((change, name)) = mine.iter().find_map(|c| Some((c, undone(c, grid)?)))
                {
                    let title = format!("parameter `{name}` of {} sets this key", e.id);
                    self.f.error(title, place(change), "it is set after the variant");
                    return;
                }
                let theirs = before.iter().filter(|f| f.touches(&e.id));
                let theirs: Vec<Change> = theirs.flat_map(changes).collect();
                if let Some(change) = mine.iter().find(|c| theirs.iter().any(|o| clash(c, o))) {
                    let label = "only lists of both are joined";
                    self.f.error("another factor changes this key", place(change), label);
                    return;
                }
            }
        }
    }
}

fn factor(f: &mut Fields<'_>, named: &[&Experiment]) -> Option<Factor> {
    f.check_cells(&["name", "where"]);
    let name = f.required("name");
    let place = f.required("where");
    let applies = f.one_of("applies", [("variant", Applies::ToPrimary), ("all", Applies::ToAll)]);
    if applies.span.is_none() && f.given("applies") {
        return None;
    }
    let applies = applies.value;
    let experiments = f.names_at("experiments");
    let ids: Vec<&str> = named.iter().map(|e| e.id.as_str()).collect();
    let mut own = Vec::new();
    for (name, at) in experiments {
        match ids.iter().find(|id| id.eq_ignore_ascii_case(&name)) {
            Some(id) => own.push((*id).to_owned()),
            None => f.unknown("experiment of this explanation", &name, at, &ids),
        }
    }
    let mut primary = None;
    let mut levels: Vec<Level> = Vec::new();
    for item in f.tables(&keys::LEVEL) {
        let header = "[[explain.factor.level]]".to_owned();
        let mut f = Fields::open(header, keys::LEVEL.keys, Some(item), f.out).from_first_key();
        let (level, at) = (level(&mut f, applies), f.span);
        if levels.iter().any(|other| other.label == level.label) {
            f.error(format!("two levels are called `{}`", level.label), at, "");
        } else if levels.iter().any(|other| same_changes(other, &level)) {
            let title = format!("`{}` changes the same as another level", level.label);
            f.error(title, at, "their runs would be the same");
        }
        if f.bool("primary").value {
            if primary.is_some() {
                f.error("two levels are primary", at, "one of a factor is");
            } else if !level.contradicts.is_empty() {
                let label = "what contradicts the paper is no primary reading";
                f.error("the primary level contradicts something", at, label);
            }
            primary = Some(levels.len());
        }
        levels.push(level);
    }
    if !(2..=MOST_LEVELS).contains(&levels.len()) {
        let title = format!("a factor has 2 to {MOST_LEVELS} levels, not {}", levels.len());
        f.error(title, f.place("level"), "");
        return None;
    }
    if primary.is_none() {
        let at = f.place("level");
        let title = format!("no level of `{name}` is primary");
        f.error(title, at, "write primary = true with the one of the primary reading");
    }
    Some(Factor { name, place, applies, experiments: own, levels, primary: primary? })
}

fn level(f: &mut Fields<'_>, applies: Applies) -> Level {
    f.check_cells(&["label", "contradicts"]);
    let label = f.required("label");
    let contradicts = match f.given("contradicts") {
        false => String::new(),
        true => f.required("contradicts"),
    };
    let changes = changes_of(f, applies);
    let full = f.item("full").map(|item| {
        let mut full = Fields::open("full".to_owned(), keys::LEVEL.keys, Some(item), f.out);
        changes_of(&mut full, applies)
    });
    Level { label, contradicts, changes, full }
}

/// The keys of a level that change something.
fn changes_of(f: &mut Fields<'_>, applies: Applies) -> Vec<Written> {
    let mut changes = Vec::new();
    for (key, at, item) in f.rest() {
        if matches!(key.as_str(), "scheme" | "cc" | "variant") {
            let title = format!("a level does not change `{key}`");
            f.error(title, *at, "name another variant in `variants`");
        } else if applies == Applies::ToAll && !of_scenario(key) {
            let title = format!("`{key}` is not a section of a scenario");
            let label = "for all variants, parameters of schemes are written as \
                flow-control.SCHEME.NAME";
            f.error(title, *at, label);
        } else {
            changes.push((key.clone(), *at, item.clone()));
        }
    }
    changes
}

/// Where a change is written.
fn place(change: &Change) -> Span {
    change.path.last().map_or(change.item.span, |(_, at)| *at)
}

/// The experiment whose runs an experiment uses.
fn runs_of<'e>(all: &'e [Experiment], e: &'e Experiment) -> &'e Experiment {
    let Work::ReRun(id) = &e.work else { return e };
    all.iter().find(|other| other.id.eq_ignore_ascii_case(id)).unwrap_or(e)
}

/// The grid of an experiment, or of the one whose runs it uses.
fn grid_of<'e>(all: &'e [Experiment], e: &'e Experiment) -> Option<&'e Grid> {
    match &runs_of(all, e).work {
        Work::Sweep(grid) => Some(grid),
        _ => None,
    }
}

fn same_changes(a: &Level, b: &Level) -> bool {
    let texts = |level: &Level| {
        let text = |(key, _, item): &Written| format!("{key}={}", item.value.toml());
        let mut all: Vec<String> = level.changes.iter().map(text).collect();
        all.sort();
        all
    };
    texts(a) == texts(b)
}

fn names(path: &[(String, Span)]) -> Vec<&str> {
    path.iter().map(|(name, _)| name.as_str()).collect()
}

/// Whether one path begins with the other.
fn overlap(a: &[(String, Span)], b: &[(String, Span)]) -> bool {
    let (a, b) = (names(a), names(b));
    a.starts_with(&b) || b.starts_with(&a)
}

/// The parameter of the grid that would set the same key again.
fn undone<'g>(change: &Change, grid: &'g Grid) -> Option<&'g str> {
    let sets = |p: &&weir_sweep::grid::Parameter| p.keys.iter().any(|k| overlap(k, &change.path));
    grid.parameters.iter().find(sets).map(|p| p.name.as_str())
}

/// Whether two factors change the same key and both cannot be.
fn clash(a: &Change, b: &Change) -> bool {
    let lists = matches!((&a.item.value, &b.item.value), (Value::List(_), Value::List(_)));
    overlap(&a.path, &b.path) && !(lists && names(&a.path) == names(&b.path))
}
