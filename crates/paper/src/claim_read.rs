//! Reading `claims.toml`.

use super::claim::{Claim, Expected, Operand, Pick, Possible, Rule};
use super::claim_kind::ClaimKind;
use super::claim_rules::{self as rules};
use super::keys;
use super::outcomes;
use super::select::{self, Scope, Selector};
use weir_scenario::Fields;
use weir_scenario::text::{Diagnostics, Item, SourceId, Sources, Span, Value, parse};

/// Reads `claims.toml`: claims about the experiments whose scopes are given.
pub(crate) fn read(
    sources: &Sources,
    id: SourceId,
    scopes: &[&Scope],
    out: &mut Diagnostics,
) -> Vec<Claim> {
    let root = parse(sources, id, out);
    let mut f = Fields::file("a file of claims", keys::CLAIMS, &root, id.span(0..0), out);
    f.text("notes");
    let mut claims: Vec<Claim> = Vec::new();
    for item in f.tables(&keys::CLAIM) {
        let mut f = Fields::new(&keys::CLAIM, Some(item), f.out).from_first_key();
        let Some(claim) = one(&mut f, scopes) else { continue };
        if claims.iter().any(|c| c.id == claim.id) {
            let at = f.place("id");
            f.error(format!("two claims are called `{}`", claim.id), at, "");
        }
        claims.push(claim);
    }
    claims
}

fn one(f: &mut Fields<'_>, scopes: &[&Scope]) -> Option<Claim> {
    f.check_cells(&["id", "where", "says", "reading", "why"]);
    let id = f.required("id");
    let place = f.text("where").map_or_else(String::new, |t| t.value);
    let says = f.required("says");
    let name = f.required("experiment");
    let scope = scopes.iter().find(|s| s.id.eq_ignore_ascii_case(&name));
    if scope.is_none() && !name.is_empty() {
        let names: Vec<&str> = scopes.iter().map(|s| s.id.as_str()).collect();
        f.unknown("experiment", &name, f.place("experiment"), &names);
    }
    f.require("kind");
    let kind = ClaimKind::named(f.optional_choice("kind")?)?;
    let scope = *scope?;
    refuse_idle(f, kind);
    let mut c = Context { f, scope, scopes, kind };
    let over = c.over();
    let base = select::selector(c.f, &Selector::default(), scope);
    let of = c.operands("of", &base);
    let against = c.operands("against", &base);
    let rule = c.rule(&base)?;
    let pick = c.pick(&rule, &over, &against);
    c.check(&rule, &of, &against, &over);
    let margin = c.margin();
    c.check_than(&rule, &of, &against, &over);
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
        reading: f.trimmed("reading"),
        calibrated: f.bool("calibrated").value,
        discussion: f.trimmed("discussion"),
        primary: f.bool("primary").value,
        steady: f.bool("steady").value,
        possible: Possible::default(),
    };
    let about = scopes.iter().any(|s| s.steady && claim.looks_at(&s.id));
    if f.given("steady") && !about {
        let title = format!("{} is not about a steady state", scope.id);
        f.error(title, f.place("steady"), "its claims are about all flows anyway");
    }
    claim.steady &= about;
    let places = ["paper", "margin", "kind"].map(|key| (key, f.item(key).map(|item| item.span)));
    let place = |key: &str| {
        let own = places.iter().find(|(name, _)| *name == key).and_then(|(_, at)| *at);
        own.or(places[2].1)
    };
    claim.possible = outcomes::check(f, &claim, scope, place);
    Some(claim)
}

/// Reports keys that this kind of claim would not look at.
fn refuse_idle(f: &mut Fields<'_>, kind: ClaimKind) {
    let common = [
        "id",
        "experiment",
        "where",
        "says",
        "kind",
        "reading",
        "calibrated",
        "primary",
        "steady",
        "discussion",
    ];
    let takes = kind.keys();
    let measured = kind != ClaimKind::NotMeasured;
    for (name, at, _) in f.entries() {
        let name = name.as_str();
        let selects = measured && (keys::selects(name) || name == "variant");
        let own = keys::OF_CLAIM.iter().any(|key| key.name == name);
        if own && !common.contains(&name) && !takes.contains(&name) && !selects {
            let title = format!("a claim of kind {} does not use `{name}`", kind.name());
            f.error(title, *at, &format!("it takes {}", takes.join(", ")));
        }
    }
}

struct Context<'r, 'a> {
    f: &'r mut Fields<'a>,
    scope: &'r Scope,
    scopes: &'r [&'r Scope],
    kind: ClaimKind,
}

impl<'r> Context<'r, '_> {
    fn takes(&self, key: &str) -> bool {
        self.kind.keys().contains(&key)
    }

    fn over(&mut self) -> Vec<String> {
        let names = self.f.names_at("over");
        for (name, at) in &names {
            if self.scope.parameter(name).is_none() {
                let what = format!("parameter of {}", self.scope.id);
                self.f.unknown(&what, name, *at, &self.scope.parameters);
            }
        }
        names.into_iter().map(|(name, _)| name).collect()
    }

    /// `of` or `against`: a label, a selector, or a list of them.
    fn operands(&mut self, key: &str, base: &Selector) -> Vec<Operand> {
        if !self.takes(key) {
            return Vec::new();
        }
        match self.f.given(key) {
            true => {}
            false if key == "of" => {
                // one variant, or the one at the top, needs no name
                let scope = self.scope;
                let variant = self.only_variant(None, scope);
                let operand = |variant| Operand::new(&scope.id, variant, base.clone());
                return variant.map(operand).into_iter().collect();
            }
            // these look at `of`, or at `of` divided by `against`
            false if self.kind.may_divide() => {
                return Vec::new();
            }
            false => {
                let title = format!("a claim of kind {} needs `{key}`", self.kind.name());
                self.f.error(title, self.f.span, "");
                return Vec::new();
            }
        }
        let items = self.f.items(key);
        if items.is_empty() {
            self.f.error(format!("`{key}` is empty"), self.f.place(key), "");
        }
        items.iter().filter_map(|item| self.operand(item, base)).collect()
    }

    /// The variant that a quantity names, or the claim, or the only one.
    fn only_variant(&mut self, own: Option<(String, Span)>, scope: &Scope) -> Option<String> {
        if let Some((name, at)) = own.or_else(|| self.f.text_at("variant")) {
            select::check_variant(self.f, &name, Some(at), scope);
            return Some(name);
        }
        if let [only] = scope.variants.as_slice() {
            return Some(only.clone());
        }
        let labels = scope.variants.join(", ");
        self.f.error("of which variant?", self.f.span, &format!("there are {labels}"));
        None
    }

    fn operand(&mut self, item: &Item, base: &Selector) -> Option<Operand> {
        match &item.value {
            Value::Text(name) => {
                select::check_variant(self.f, name, Some(item.span), self.scope);
                Some(Operand::new(&self.scope.id, name.clone(), base.clone()))
            }
            Value::Table(_) => {
                let owner = "a quantity".to_owned();
                let mut f = Fields::closed(owner, keys::QUANTITY, Some(item), self.f.out);
                let scope = match f.text_at("experiment") {
                    Some((name, at)) => scope_of(self.scopes, &name, at, &mut f)?,
                    None => self.scope,
                };
                let mut select = select::selector(&mut f, base, scope);
                let own = f.text_at("variant");
                // values of parameters that this experiment does not have
                select.at.retain(|(name, _)| scope.parameter(name).is_some());
                let variant = self.only_variant(own, scope)?;
                Some(Operand::new(&scope.id, variant, select))
            }
            other => {
                let title = format!("a variant or a quantity, not {}", other.what());
                self.f.error(
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
            ClaimKind::Value => Rule::Value(self.paper(base)?),
            ClaimKind::Reduction => Rule::Reduction(self.paper(base)?),
            ClaimKind::Ratio => {
                let inverse = self.f.bool("inverse").value;
                Rule::Ratio { paper: self.paper(base)?, inverse }
            }
            ClaimKind::Ordering => self.ordering(base)?,
            ClaimKind::Flat => Rule::Flat(self.single(base)?),
            ClaimKind::Monotone => {
                let direction = self.direction(["rising", "falling"])?;
                Rule::Monotone { rising: direction == "rising" }
            }
            ClaimKind::Equal => Rule::Equal,
            ClaimKind::Limit => {
                self.needs("bound", "most or least");
                let bound = self.f.optional_choice("bound")?;
                Rule::Limit { paper: self.single(base)?, most: bound == "most" }
            }
            ClaimKind::Linear => Rule::Linear,
            ClaimKind::Contrast => {
                self.needs("than", "the other experiment");
                let direction = self.direction(["larger", "smaller"]);
                let (than, at) = self.f.text_at("than")?;
                let than = scope_of(self.scopes, &than, at, self.f)?.id.clone();
                let direction = direction?;
                let metric = self.f.text_at("than-metric").map(|(name, _)| name);
                Rule::Contrast { than, metric, larger: direction == "larger" }
            }
            ClaimKind::NotMeasured => Rule::NotMeasured { why: self.f.required("why") },
        })
    }

    /// The direction of a trend is one of two words, that of a difference one of two others.
    fn direction(&mut self, words: [&str; 2]) -> Option<&'static str> {
        let either = words.join(" or ");
        self.needs("direction", &either);
        let found = self.f.optional_choice("direction")?;
        if words.contains(&found) {
            return Some(found);
        }
        let title = format!("a claim of kind {} is not {found}", self.kind.name());
        self.f.error(title, self.f.place("direction"), &format!("it is {either}"));
        None
    }

    fn needs(&mut self, key: &str, what: &str) {
        if !self.f.given(key) {
            let title = format!("a claim of kind {} needs `{key}`: {what}", self.kind.name());
            self.f.error(title, self.f.span, "");
        }
    }

    fn ordering(&mut self, base: &Selector) -> Option<Rule> {
        self.needs("order", "variants or quantities from the lowest to the highest");
        let item = self.f.item("order")?;
        let Value::List(items) = &item.value else {
            self.f.error("`order` is a list, the lowest first", item.span, "");
            return None;
        };
        if items.len() < 2 {
            self.f.error("`order` has at least two entries", item.span, "");
        }
        let order: Vec<_> = items.iter().filter_map(|item| self.operand(item, base)).collect();
        let strict = self.f.bool("strict").value;
        // what is missing of it was reported
        (order.len() >= 2).then_some(Rule::Ordering { order, strict })
    }

    /// The paper's number or range of numbers.
    fn paper(&mut self, base: &Selector) -> Option<Expected> {
        self.needs("paper", "the number it states");
        let item = self.f.item("paper")?;
        let Value::List(items) = &item.value else {
            return rules::stated(self.f, item, &self.unit_of(base)).map(Expected::One);
        };
        let [low, high] = items.as_slice() else {
            self.f.error("`paper` is a number, or the lowest and the highest", item.span, "");
            return None;
        };
        let unit = self.unit_of(base);
        let (low_n, high_n) =
            (rules::stated(self.f, low, &unit)?, rules::stated(self.f, high, &unit)?);
        if low_n > high_n {
            self.f.error("the lower number comes first", item.span, "");
        }
        Some(Expected::Range(low_n, high_n))
    }

    fn single(&mut self, base: &Selector) -> Option<f64> {
        match self.paper(base)? {
            Expected::One(x) => Some(x),
            Expected::Range(..) => {
                let at = self.f.place("paper");
                let title = format!("a claim of kind {} states one number", self.kind.name());
                self.f.error(title, at, "");
                None
            }
        }
    }

    /// The metric whose unit the paper's number has; nothing for shares and factors.
    fn unit_of(&self, base: &Selector) -> String {
        match self.kind {
            ClaimKind::Limit if self.f.item("against").is_some() => String::new(),
            ClaimKind::Value | ClaimKind::Limit => {
                let inner = match self.f.item("of").map(|i| &i.value) {
                    Some(Value::Table(of)) => of.get("metric").and_then(|i| i.value.text()),
                    _ => None,
                };
                inner.unwrap_or_else(|| base.metric.clone())
            }
            _ => String::new(),
        }
    }

    fn margin(&mut self) -> f64 {
        let default = self.kind.default_margin();
        let Some(item) = self.f.item("margin") else { return default };
        match rules::stated(self.f, item, "") {
            Some(x) if x >= 0.0 => x,
            Some(_) => {
                self.f.error("a margin is not negative", item.span, "");
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
        let found = self.f.optional_choice("pick").and_then(Pick::named);
        let at = self.f.place("pick");
        let several = !over.is_empty() || against.len() > 1;
        match found {
            None if ranged => Pick::Range,
            None => Pick::Each,
            Some(Pick::Range) if ranged => Pick::Range,
            Some(Pick::Range) => {
                self.f.error("`pick = \"range\"` needs paper = [lowest, highest]", at, "");
                Pick::Range
            }
            Some(_) if ranged => {
                self.f.error("a paper's range is compared with pick = \"range\"", at, "");
                Pick::Range
            }
            Some(pick) => {
                if !several {
                    let label = "give `over` or several in `against`";
                    self.f.error("there is only one number to pick from", at, label);
                }
                pick
            }
        }
    }

    /// Everything that a verdict needs is there.
    fn check(&mut self, rule: &Rule, of: &[Operand], against: &[Operand], over: &[String]) {
        let order: &[Operand] = match rule {
            Rule::Ordering { order, .. } => order,
            _ => &[],
        };
        for (key, operands) in [("of", of), ("against", against), ("order", order)] {
            for operand in operands {
                let scope = self.known_scope(&operand.experiment);
                let (place, metric) = (self.place(key), &operand.select.metric);
                let metric = metric_place(self.f, key, metric).or(place);
                select::check_metric(self.f, &operand.select, scope, metric);
                select::check_point(self.f, &operand.select, scope, over, place);
                let fixed = over.iter().find(|name| operand.select.fixed(name).is_some());
                if let Some(name) = fixed {
                    let title = format!("`{name}` is fixed to one value and also iterated over");
                    self.f.error(title, place, "");
                }
            }
        }
        self.refuse_same(of, against, order);
        let scope = self.scope;
        let along = matches!(rule, Rule::Flat(_) | Rule::Monotone { .. } | Rule::Linear);
        if against.len() > 1 && (along || matches!(rule, Rule::Limit { .. })) {
            let title = format!("a claim of kind {} divides by one other", self.kind.name());
            self.f.error(title, self.place("against"), "write a claim for each");
        }
        if along && over.len() != 1 {
            self.needs("over", "one parameter");
            if over.len() > 1 {
                self.f.error("this needs exactly one parameter", self.place("over"), "");
            }
        }
        let values = match (along, over) {
            (true, [name]) => scope.parameter(name).map_or(2, |i| scope.values(i).len()),
            _ => return,
        };
        let least = if matches!(rule, Rule::Linear) { 3 } else { 2 };
        if values < least {
            let title = format!("`{}` has too few values for this", over[0]);
            self.f.error(title, self.place("over"), &format!("at least {least}"));
        }
    }

    /// The scope of an experiment that is known to exist.
    fn known_scope(&self, id: &str) -> &'r Scope {
        self.scopes.iter().find(|s| s.id == id).copied().unwrap_or(self.scope)
    }

    /// Where a key is written, or else the metric.
    fn place(&self, key: &str) -> Option<Span> {
        let own = self.f.item(key).or(self.f.item("metric"));
        own.map(|item| item.span).or(self.f.span)
    }

    /// The other experiment of a contrast has the same variants, metrics and points.
    fn check_than(&mut self, rule: &Rule, of: &[Operand], against: &[Operand], over: &[String]) {
        let Rule::Contrast { than, metric, .. } = rule else { return };
        let scope = self.known_scope(than);
        let key = if metric.is_some() { "than-metric" } else { "than" };
        let at = self.f.place(key);
        if scope.id == self.scope.id {
            self.f.error("`than` is the claim's own experiment", at, "name another one");
        }
        for operand in of.iter().chain(against) {
            select::check_variant(self.f, &operand.variant, at, scope);
            let mut there = operand.at(scope);
            there.select.metric = metric.clone().unwrap_or(there.select.metric);
            select::check_metric(self.f, &there.select, scope, at);
            select::check_point(self.f, &there.select, scope, over, at);
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
        let at = self.f.place(key);
        self.f.error(title, at, "name another variant, metric, class, size or point");
    }
}

/// The scope of an experiment by name.
fn scope_of<'r>(
    scopes: &[&'r Scope],
    name: &str,
    at: Span,
    f: &mut Fields<'_>,
) -> Option<&'r Scope> {
    let found = scopes.iter().find(|s| s.id.eq_ignore_ascii_case(name)).copied();
    if found.is_none() {
        let names: Vec<&str> = scopes.iter().map(|s| s.id.as_str()).collect();
        f.unknown("experiment", name, at, &names);
    }
    found
}

/// Where the metric of an operand is written: in one of the tables of `key`, or in the claim.
fn metric_place(claim: &Fields<'_>, key: &str, metric: &str) -> Option<Span> {
    let own = claim.items(key).iter().filter_map(|item| match &item.value {
        Value::Table(table) => table.get("metric"),
        _ => None,
    });
    let mut written = own.chain(claim.item("metric"));
    written.find(|i| i.value.text().as_deref() == Some(metric)).map(|i| i.span)
}
