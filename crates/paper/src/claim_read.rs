//! Reading `claims.toml`.

use super::claim::{Claim, Expected, Operand, Pick, Possible, Rule};
use super::claim_rules::{self as rules};
use super::outcomes;
use super::select::{self, KEYS, Scope, Selector};
use weir_scenario::text::{Diagnostics, Item, SourceId, Sources, Span, Table, Value, parse};
use weir_sweep::reader::Reader;

const OWN: &[&str] = &[
    "id",
    "experiment",
    "where",
    "says",
    "kind",
    "margin",
    "reading",
    "calibrated",
    "discussion",
    "of",
    "against",
    "over",
    "pick",
    "paper",
    "inverse",
    "order",
    "strict",
    "direction",
    "bound",
    "why",
    "variant",
    "than",
    "than-metric",
    "primary",
];

/// Keys that a kind of claim takes besides those that all take.
fn keys_of(kind: &str) -> &'static [&'static str] {
    match kind {
        "value" => &["of", "over", "pick", "paper", "margin"],
        "reduction" => &["of", "against", "over", "pick", "paper", "margin"],
        "ratio" => &["of", "against", "over", "pick", "paper", "inverse", "margin"],
        "ordering" => &["order", "strict", "over", "margin"],
        "flat" => &["of", "against", "over", "paper", "margin"],
        "monotone" => &["of", "against", "over", "direction"],
        "equal" => &["of", "against", "over", "pick", "margin"],
        "limit" => &["of", "against", "over", "pick", "paper", "bound"],
        "linear" => &["of", "against", "over"],
        "contrast" => &["of", "against", "over", "than", "than-metric", "direction"],
        _ => &["why"],
    }
}

const KINDS: &[&str] = &[
    "value",
    "reduction",
    "ratio",
    "ordering",
    "flat",
    "monotone",
    "equal",
    "limit",
    "linear",
    "contrast",
    "not-measured",
];

/// Reads `claims.toml`: claims about the experiments whose scopes are given.
pub(crate) fn read(
    sources: &Sources,
    id: SourceId,
    scopes: &[&Scope],
    out: &mut Diagnostics,
) -> Vec<Claim> {
    let root = parse(sources, id, out);
    let mut r = Reader { id, sources, out };
    r.refuse_unknown(&root, "a file of claims", &["claim", "notes"]);
    let mut claims: Vec<Claim> = Vec::new();
    for (table, at) in r.repeated(&root, "claim") {
        let at = table.0.first().map_or(at, |(_, key, _)| *key);
        let Some(claim) = one(&mut r, table, at, scopes) else { continue };
        if claims.iter().any(|c| c.id == claim.id) {
            let at = table.get("id").map_or(at, |i| i.span);
            r.error(format!("two claims are called `{}`", claim.id), at, "");
        }
        claims.push(claim);
    }
    claims
}

fn one(r: &mut Reader<'_>, table: &Table, at: Span, scopes: &[&Scope]) -> Option<Claim> {
    let known: Vec<&str> = OWN.iter().chain(KEYS).copied().collect();
    r.refuse_unknown(table, "[[claim]]", &known);
    r.check_cells(table, &["id", "where", "says", "reading", "why"]);
    let id = r.required(table, "id", "a claim", at);
    let place = r.text(table, "where").map(|(t, _)| t).unwrap_or_default();
    let says = r.required(table, "says", "a claim", at);
    let name = r.required(table, "experiment", "a claim", at);
    let scope = scopes.iter().find(|s| s.id.eq_ignore_ascii_case(&name));
    if scope.is_none() && !name.is_empty() {
        let names: Vec<&str> = scopes.iter().map(|s| s.id.as_str()).collect();
        let at = table.get("experiment").map_or(at, |i| i.span);
        r.unknown("experiment", &name, at, &names);
    }
    if table.get("kind").is_none() {
        r.error("a claim needs `kind`", at, &format!("one of {}", KINDS.join(", ")));
    }
    let kind = r.word(table, "kind", KINDS)?;
    let scope = *scope?;
    refuse_idle(r, table, kind);
    let mut c = Context { r, table, at, scope, scopes, kind };
    let over = c.over();
    let base = select::selector(c.r, table, &Selector::default(), scope);
    let of = c.operands("of", &base);
    let against = c.operands("against", &base);
    let rule = c.rule(&base)?;
    let pick = c.pick(&rule, &over, &against);
    c.check(&rule, &of, &against, &over);
    let margin = c.margin();
    c.check_than(&rule, &of, &against, &over);
    let text = |r: &mut Reader<'_>, key| {
        r.text(table, key).map(|(t, _)| t.trim().to_owned()).unwrap_or_default()
    };
    let mut claim = Claim {
        id,
        experiment: scope.id.clone(),
        place,
        says,
        rule,
        margin,
        of,
        against,
        over,
        pick,
        reading: text(r, "reading"),
        calibrated: r.truth(table, "calibrated").unwrap_or(false),
        discussion: text(r, "discussion"),
        primary: r.truth(table, "primary").unwrap_or(false),
        possible: Possible::default(),
    };
    claim.possible = outcomes::check(r, &claim, scope, |key| {
        table.get(key).or(table.get("kind")).map_or(at, |i| i.span)
    });
    Some(claim)
}

/// Reports keys that this kind of claim would not look at.
fn refuse_idle(r: &mut Reader<'_>, table: &Table, kind: &str) {
    let common = [
        "id",
        "experiment",
        "where",
        "says",
        "kind",
        "reading",
        "calibrated",
        "primary",
        "discussion",
    ];
    let takes = keys_of(kind);
    let measured = kind != "not-measured";
    for (name, at, _) in &table.0 {
        let name = name.as_str();
        let selects = measured && (KEYS.contains(&name) || name == "variant");
        if OWN.contains(&name) && !common.contains(&name) && !takes.contains(&name) && !selects {
            let title = format!("a claim of kind {kind} does not use `{name}`");
            r.error(title, *at, &format!("it takes {}", takes.join(", ")));
        }
    }
}

struct Context<'r, 'a> {
    r: &'r mut Reader<'a>,
    table: &'r Table,
    at: Span,
    scope: &'r Scope,
    scopes: &'r [&'r Scope],
    kind: &'static str,
}

impl<'r> Context<'r, '_> {
    fn takes(&self, key: &str) -> bool {
        keys_of(self.kind).contains(&key)
    }

    fn over(&mut self) -> Vec<String> {
        let names = self.r.texts(self.table, "over");
        for (name, at) in &names {
            if self.scope.parameter(name).is_none() {
                let what = format!("parameter of {}", self.scope.id);
                self.r.unknown(&what, name, *at, &self.scope.parameters);
            }
        }
        names.into_iter().map(|(name, _)| name).collect()
    }

    /// `of` or `against`: a label, a selector, or a list of them.
    fn operands(&mut self, key: &str, base: &Selector) -> Vec<Operand> {
        if !self.takes(key) {
            return Vec::new();
        }
        let items = match self.table.get(key) {
            Some(Item { value: Value::List(items), .. }) => items.as_slice(),
            Some(one) => std::slice::from_ref(one),
            None if key == "of" => {
                // one variant, or the one at the top, needs no name
                let scope = self.scope;
                let variant = self.only_variant(self.table, scope);
                let operand = |variant| Operand::new(&scope.id, variant, base.clone());
                return variant.map(operand).into_iter().collect();
            }
            // these look at `of`, or at `of` divided by `against`
            None if matches!(self.kind, "flat" | "monotone" | "linear" | "limit") => {
                return Vec::new();
            }
            None => {
                self.r.error(format!("a claim of kind {} needs `{key}`", self.kind), self.at, "");
                return Vec::new();
            }
        };
        if items.is_empty() {
            let at = self.table.get(key).map_or(self.at, |i| i.span);
            self.r.error(format!("`{key}` is empty"), at, "");
        }
        items.iter().filter_map(|item| self.operand(item, base)).collect()
    }

    fn only_variant(&mut self, table: &Table, scope: &Scope) -> Option<String> {
        for table in [table, self.table] {
            if let Some((name, at)) = self.r.text(table, "variant") {
                select::check_variant(self.r, &name, at, scope);
                return Some(name);
            }
        }
        if let [only] = scope.variants.as_slice() {
            return Some(only.clone());
        }
        let labels = scope.variants.join(", ");
        self.r.error("of which variant?", self.at, &format!("there are {labels}"));
        None
    }

    fn operand(&mut self, item: &Item, base: &Selector) -> Option<Operand> {
        match &item.value {
            Value::Text(name) => {
                select::check_variant(self.r, name, item.span, self.scope);
                Some(Operand::new(&self.scope.id, name.clone(), base.clone()))
            }
            Value::Table(table) => {
                let own = ["variant", "experiment"];
                let known: Vec<&str> = own.iter().chain(KEYS).copied().collect();
                self.r.refuse_unknown(table, "a quantity", &known);
                let scope = match self.r.text(table, "experiment") {
                    Some((name, at)) => self.scope_of(&name, at)?,
                    None => self.scope,
                };
                let mut select = select::selector(self.r, table, base, scope);
                // values of parameters that this experiment does not have
                select.at.retain(|(name, _)| scope.parameter(name).is_some());
                let variant = self.only_variant(table, scope)?;
                Some(Operand::new(&scope.id, variant, select))
            }
            other => {
                let title = format!("a variant or a quantity, not {}", other.what());
                self.r.error(
                    title,
                    item.span,
                    "such as \"PFC\" or { variant = \"PFC\", class = \"victim\" }",
                );
                None
            }
        }
    }

    fn rule(&mut self, base: &Selector) -> Option<Rule> {
        Some(match self.kind {
            "value" => Rule::Value(self.paper(base)?),
            "reduction" => Rule::Reduction(self.paper(base)?),
            "ratio" => {
                let inverse = self.r.truth(self.table, "inverse").unwrap_or(false);
                Rule::Ratio { paper: self.paper(base)?, inverse }
            }
            "ordering" => self.ordering(base)?,
            "flat" => Rule::Flat(self.single(base)?),
            "monotone" => {
                self.needs("direction", "rising or falling");
                let direction = self.r.word(self.table, "direction", &["rising", "falling"])?;
                Rule::Monotone { rising: direction == "rising" }
            }
            "equal" => Rule::Equal,
            "limit" => {
                self.needs("bound", "most or least");
                let bound = self.r.word(self.table, "bound", &["most", "least"])?;
                Rule::Limit { paper: self.single(base)?, most: bound == "most" }
            }
            "linear" => Rule::Linear,
            "contrast" => {
                self.needs("than", "the other experiment");
                self.needs("direction", "larger or smaller");
                let (than, at) = self.r.text(self.table, "than")?;
                let than = self.scope_of(&than, at)?.id.clone();
                let direction = self.r.word(self.table, "direction", &["larger", "smaller"])?;
                let metric = self.r.text(self.table, "than-metric").map(|(name, _)| name);
                Rule::Contrast { than, metric, larger: direction == "larger" }
            }
            _ => {
                let why =
                    self.r.required(self.table, "why", "a claim that is not measured", self.at);
                Rule::NotMeasured { why }
            }
        })
    }

    fn needs(&mut self, key: &str, what: &str) {
        if self.table.get(key).is_none() {
            let title = format!("a claim of kind {} needs `{key}`: {what}", self.kind);
            self.r.error(title, self.at, "");
        }
    }

    fn ordering(&mut self, base: &Selector) -> Option<Rule> {
        self.needs("order", "variants or quantities from the lowest to the highest");
        let item = self.table.get("order")?;
        let Value::List(items) = &item.value else {
            self.r.error("`order` is a list, the lowest first", item.span, "");
            return None;
        };
        if items.len() < 2 {
            self.r.error("`order` has at least two entries", item.span, "");
        }
        let order = items.iter().filter_map(|item| self.operand(item, base)).collect();
        Some(Rule::Ordering { order, strict: self.r.truth(self.table, "strict").unwrap_or(true) })
    }

    /// The paper's number or range of numbers.
    fn paper(&mut self, base: &Selector) -> Option<Expected> {
        self.needs("paper", "the number it states");
        let item = self.table.get("paper")?;
        let Value::List(items) = &item.value else {
            return rules::stated(self.r, item, &self.unit_of(base)).map(Expected::One);
        };
        let [low, high] = items.as_slice() else {
            self.r.error("`paper` is a number, or the lowest and the highest", item.span, "");
            return None;
        };
        let unit = self.unit_of(base);
        let (low_n, high_n) =
            (rules::stated(self.r, low, &unit)?, rules::stated(self.r, high, &unit)?);
        if low_n > high_n {
            self.r.error("the lower number comes first", item.span, "");
        }
        Some(Expected::Range(low_n, high_n))
    }

    fn single(&mut self, base: &Selector) -> Option<f64> {
        match self.paper(base)? {
            Expected::One(x) => Some(x),
            Expected::Range(..) => {
                let at = self.table.get("paper").map_or(self.at, |i| i.span);
                self.r.error(format!("a claim of kind {} states one number", self.kind), at, "");
                None
            }
        }
    }

    /// The metric whose unit the paper's number has; nothing for shares and factors.
    fn unit_of(&self, base: &Selector) -> String {
        match self.kind {
            "limit" if self.table.get("against").is_some() => String::new(),
            "value" | "limit" => {
                let inner = match self.table.get("of").map(|i| &i.value) {
                    Some(Value::Table(of)) => of.get("metric").and_then(|i| i.value.text()),
                    _ => None,
                };
                inner.unwrap_or_else(|| base.metric.clone())
            }
            _ => String::new(),
        }
    }

    fn margin(&mut self) -> f64 {
        let default = rules::default_margin(self.kind);
        let Some(item) = self.table.get("margin") else { return default };
        match rules::stated(self.r, item, "") {
            Some(x) if x >= 0.0 => x,
            Some(_) => {
                self.r.error("a margin is not negative", item.span, "");
                default
            }
            None => default,
        }
    }

    fn pick(&mut self, rule: &Rule, over: &[String], against: &[Operand]) -> Pick {
        let ranged = matches!(
            rule,
            Rule::Value(Expected::Range(..))
                | Rule::Reduction(Expected::Range(..))
                | Rule::Ratio { paper: Expected::Range(..), .. }
        );
        let words = ["each", "max", "min", "mean", "range"];
        let found = self.r.word(self.table, "pick", &words);
        let at = self.table.get("pick").map_or(self.at, |i| i.span);
        let several = !over.is_empty() || against.len() > 1;
        match found {
            None if ranged => Pick::Range,
            None => Pick::Each,
            Some("range") if ranged => Pick::Range,
            Some("range") => {
                self.r.error("`pick = \"range\"` needs paper = [lowest, highest]", at, "");
                Pick::Range
            }
            Some(_) if ranged => {
                self.r.error("a paper's range is compared with pick = \"range\"", at, "");
                Pick::Range
            }
            Some(word) => {
                if !several {
                    let label = "give `over` or several in `against`";
                    self.r.error("there is only one number to pick from", at, label);
                }
                match word {
                    "max" => Pick::Max,
                    "min" => Pick::Min,
                    "mean" => Pick::Mean,
                    _ => Pick::Each,
                }
            }
        }
    }

    /// Everything that a verdict needs is there.
    fn check(&mut self, rule: &Rule, of: &[Operand], against: &[Operand], over: &[String]) {
        let (table, at) = (self.table, self.at);
        let place = |key: &str| table.get(key).or(table.get("metric")).map_or(at, |i| i.span);
        let order: &[Operand] = match rule {
            Rule::Ordering { order, .. } => order,
            _ => &[],
        };
        for (key, operands) in [("of", of), ("against", against), ("order", order)] {
            for operand in operands {
                let scope = self.known_scope(&operand.experiment);
                let metric = metric_place(table, key, &operand.select.metric);
                select::check_metric(self.r, &operand.select, scope, metric.unwrap_or(place(key)));
                select::check_point(self.r, &operand.select, scope, over, place(key));
                let fixed = over.iter().find(|name| operand.select.fixed(name).is_some());
                if let Some(name) = fixed {
                    let title = format!("`{name}` is fixed to one value and also iterated over");
                    self.r.error(title, place(key), "");
                }
            }
        }
        self.refuse_same(of, against, order);
        let scope = self.scope;
        let along = matches!(rule, Rule::Flat(_) | Rule::Monotone { .. } | Rule::Linear);
        if against.len() > 1 && (along || matches!(rule, Rule::Limit { .. })) {
            let title = format!("a claim of kind {} divides by one other", self.kind);
            self.r.error(title, place("against"), "write a claim for each");
        }
        if along && over.len() != 1 {
            self.needs("over", "one parameter");
            if over.len() > 1 {
                self.r.error("this needs exactly one parameter", place("over"), "");
            }
        }
        let values = match (along, over) {
            (true, [name]) => scope.parameter(name).map_or(2, |i| scope.values(i).len()),
            _ => return,
        };
        let least = if matches!(rule, Rule::Linear) { 3 } else { 2 };
        if values < least {
            let title = format!("`{}` has too few values for this", over[0]);
            self.r.error(title, place("over"), &format!("at least {least}"));
        }
    }

    /// The scope of an experiment that is known to exist.
    fn known_scope(&self, id: &str) -> &'r Scope {
        self.scopes.iter().find(|s| s.id == id).copied().unwrap_or(self.scope)
    }

    /// The scope of an experiment by name.
    fn scope_of(&mut self, name: &str, at: Span) -> Option<&'r Scope> {
        let found = self.scopes.iter().find(|s| s.id.eq_ignore_ascii_case(name)).copied();
        if found.is_none() {
            let names: Vec<&str> = self.scopes.iter().map(|s| s.id.as_str()).collect();
            self.r.unknown("experiment", name, at, &names);
        }
        found
    }

    /// The other experiment of a contrast has the same variants, metrics and points.
    fn check_than(&mut self, rule: &Rule, of: &[Operand], against: &[Operand], over: &[String]) {
        let Rule::Contrast { than, metric, .. } = rule else { return };
        let scope = self.known_scope(than);
        let key = if metric.is_some() { "than-metric" } else { "than" };
        let at = self.table.get(key).map_or(self.at, |i| i.span);
        if scope.id == self.scope.id {
            self.r.error("`than` is the claim's own experiment", at, "name another one");
        }
        for operand in of.iter().chain(against) {
            select::check_variant(self.r, &operand.variant, at, scope);
            let mut there = operand.at(scope);
            there.select.metric = metric.clone().unwrap_or(there.select.metric);
            select::check_metric(self.r, &there.select, scope, at);
            select::check_point(self.r, &there.select, scope, over, at);
        }
    }

    /// A claim that compares a thing with itself is true or false whatever the runs say.
    fn refuse_same(&mut self, of: &[Operand], against: &[Operand], order: &[Operand]) {
        let pairs = of.iter().flat_map(|a| against.iter().map(move |b| (a, b)));
        let mut found = pairs.filter(|(a, b)| a.same(b)).map(|(a, _)| ("against", a)).next();
        for (i, a) in order.iter().enumerate() {
            if order[..i].iter().any(|b| a.same(b)) {
                found = Some(("order", a));
            }
        }
        let Some((key, operand)) = found else { return };
        let title = format!("this compares `{}` with itself", operand.variant);
        let at = self.table.get(key).map_or(self.at, |i| i.span);
        self.r.error(title, at, "name another variant, metric, class, size or point");
    }
}

/// Where the metric of an operand is written: in one of the tables of `key`, or in the claim.
fn metric_place(claim: &Table, key: &str, metric: &str) -> Option<Span> {
    let own = claim.get(key).map_or(&[][..], |item| match &item.value {
        Value::List(items) => items.as_slice(),
        _ => std::slice::from_ref(item),
    });
    let tables = own.iter().filter_map(|item| match &item.value {
        Value::Table(table) => Some(table),
        _ => None,
    });
    let written = tables.chain([claim]).filter_map(|table| table.get("metric"));
    written.into_iter().find(|i| i.value.text().as_deref() == Some(metric)).map(|i| i.span)
}
