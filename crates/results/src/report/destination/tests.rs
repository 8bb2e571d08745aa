use super::*;

/// A directory of its own for one test, empty.
fn scratch(name: &str) -> PathBuf {
    let name = format!("weir-destination-{name}-{}", std::process::id());
    let path = std::env::temp_dir().join(name);
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).expect("the scratch directory can be made");
    path
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).expect("a directory");
    let name = |e: io::Result<fs::DirEntry>| e.expect("an entry").file_name();
    let mut names: Vec<String> = entries.map(|e| name(e).to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

fn why(directory: &Path, inputs: &[PathBuf]) -> String {
    Destination::check(directory, inputs).expect_err("it is refused").to_string()
}

#[test]
fn directories_in_one_place_can_be_checked_at_the_same_time() {
    let place = scratch("at-once");
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let place = &place;
            scope.spawn(move || {
                for n in 0..200 {
                    let directory = place.join(format!("{thread}-{n}"));
                    Destination::check(&directory, &[]).expect("it can be made");
                }
            });
        }
    });
    assert_eq!(names(&place), [""; 0], "nothing is left behind");
}

const FILE: &str = "flows.csv";

fn files(text: &'static str) -> Vec<(String, Content<'static>)> {
    vec![(FILE.to_owned(), Box::new(|to| to.write_all(text.as_bytes())))]
}

/// A disk that is full.
#[test]
fn files_that_cannot_be_written_leave_what_was_there() {
    let base = scratch("full");
    let out = base.join("out");
    let new = Destination::check(&out, &[]).expect("a new directory");
    new.replace_with(files("1"), State::Complete).expect("it can be written");
    let mut more = files("2");
    more.push(("ports.csv".into(), Box::new(|_| Err(ErrorKind::StorageFull.into()))));
    let error = new.replace_with(more, State::Complete).expect_err("it cannot");
    assert!(error.path.ends_with("ports.csv"), "{error}");
    assert_eq!(fs::read_to_string(out.join(FILE)).expect("a file"), "1");
    assert_eq!(names(&base), ["out"], "nothing is left beside it");
    fs::remove_dir_all(base).expect("it is ours");
}

#[test]
fn only_a_directory_with_the_mark_is_replaced() {
    let base = scratch("mark");
    let out = base.join("a/b/out");
    let new = Destination::check(&out, &[]).expect("a new directory");
    assert!(!base.join("a").exists(), "a check leaves no trace");
    new.replace_with(files("1"), State::Complete).expect("it can be written");
    assert_eq!(names(&out), [MARK, FILE]);
    let again = Destination::check(&out, &[]).expect("results are replaced");
    assert!(again.holds_complete_results());
    again.replace_with(files("2"), State::Partial).expect("it can be written");
    assert_eq!(fs::read_to_string(out.join(FILE)).expect("a file"), "2");
    let partial = Destination::check(&out, &[]).expect("results are replaced");
    assert!(!partial.holds_complete_results());
    assert_eq!(names(&base.join("a/b")), ["out"], "nothing is left beside it");
    fs::write(out.join("notes.txt"), "mine").expect("a file");
    assert!(why(&out, &[]).contains("`notes.txt`, which is not a result"), "{}", why(&out, &[]));
    fs::remove_file(out.join("notes.txt")).expect("it is there");
    fs::remove_file(out.join(MARK)).expect("it is there");
    assert!(why(&out, &[]).contains("contains `flows.csv` and is not a directory of results"));
    fs::remove_dir_all(base).expect("it is ours");
}

#[test]
fn inputs_are_never_in_a_directory_that_is_replaced() {
    let base = scratch("inputs");
    let new = Destination::check(&base, &[]).expect("an empty directory");
    new.replace_with(files("1"), State::Complete).expect("it can be written");
    let input = base.join(FILE);
    let text = why(&base, std::slice::from_ref(&input));
    assert!(text.contains("which this run reads"), "{text}");
    assert_eq!(fs::read_to_string(input).expect("a file"), "1");
    fs::remove_dir_all(base).expect("it is ours");
}

#[test]
fn what_came_in_between_is_kept_and_so_are_the_results() {
    let base = scratch("between");
    let out = base.join("out");
    let new = Destination::check(&out, &[]).expect("a new directory");
    fs::create_dir(&out).expect("it is new");
    fs::write(out.join("thesis.tex"), "years of work").expect("a file");
    let error = new.replace_with(files("1"), State::Complete).expect_err("it is refused");
    let text = error.to_string();
    assert!(text.contains("thesis.tex") && text.contains("the results are in"), "{text}");
    assert_eq!(names(&out), ["thesis.tex"]);
    assert_eq!(names(&base).len(), 2, "the results are beside it");
    fs::remove_dir_all(base).expect("it is ours");
}

#[test]
fn files_and_the_current_directory_are_refused_in_one_sentence() {
    let base = scratch("kinds");
    let file = base.join("file");
    fs::write(&file, "").expect("a file");
    assert!(why(&file, &[]).ends_with("is not a directory: name another one"));
    assert!(why(&file.join("out"), &[]).contains("ot a directory"));
    assert!(why(Path::new("."), &[]).contains("current directory"));
    assert!(why(Path::new(""), &[]).contains("name is empty"));
    assert!(why(&base.join("no/.."), &[]).contains("no such directory"));
    fs::remove_dir_all(base).expect("it is ours");
}

#[test]
#[cfg(unix)]
fn a_symbolic_link_to_a_directory_stays_one() {
    let base = scratch("links");
    let (target, link) = (base.join("target"), base.join("link"));
    fs::create_dir(&target).expect("it is new");
    std::os::unix::fs::symlink("target", &link).expect("a link");
    let found = Destination::check(&link, &[]).expect("an empty directory");
    found.replace_with(files("1"), State::Complete).expect("it can be written");
    assert!(fs::symlink_metadata(&link).expect("a link").is_symlink());
    assert_eq!(names(&target), [MARK, FILE]);
    fs::remove_dir_all(&target).expect("it is ours");
    assert!(why(&link, &[]).contains("does not exist"));
    fs::remove_dir_all(base).expect("it is ours");
}

#[test]
fn a_file_collides_with_results_by_any_spelling() {
    let base = scratch("collide");
    let found = Destination::check(&base.join("out"), &[]).expect("a new directory");
    for name in [
        "out/index.html",
        "out/./flows.csv",
        "out/../out/summary.json",
        "no/../out/INDEX.html",
        "out/flows.partial.csv",
        "out/.weir-results",
        "out.interrupted/index.html",
        "out",
        "",
    ] {
        assert!(found.collides(&base.join(name)), "{name}");
    }
    for name in ["out/x.pcapng", "out/x/index.html", "index.html", "out2/index.html", "x/out"] {
        assert!(!found.collides(&base.join(name)), "{name}");
    }
    #[cfg(unix)]
    {
        fs::create_dir(base.join("out")).expect("it is new");
        std::os::unix::fs::symlink("out", base.join("link")).expect("a link");
        assert!(found.collides(&base.join("link/index.html")));
    }
    fs::remove_dir_all(base).expect("it is ours");
}

#[test]
fn partial_results_go_beside_complete_ones() {
    let base = scratch("beside");
    let out = base.join("out");
    let new = Destination::check(&out, &[]).expect("a new directory");
    new.replace_with(files("1"), State::Complete).expect("it can be written");
    let other = Destination::check(&out, &[]).and_then(|d| d.beside("interrupted"));
    assert_eq!(other.expect("a new directory").shown(), base.join("out.interrupted"));
    fs::remove_dir_all(base).expect("it is ours");
}

#[test]
fn files_that_were_adopted_are_replaced_and_others_are_not() {
    let base = scratch("adopted");
    let out = base.join("out");
    let new = Destination::check(&out, &[]).expect("a new directory");
    new.replace_with(files("1"), State::Complete).expect("it can be written");
    fs::create_dir(out.join("caps")).expect("it is new");
    let added = [out.join("x.pcapng"), out.join("caps/y.pcapng"), base.join("z.pcapng")];
    added.iter().for_each(|file| fs::write(file, "").expect("a file"));
    assert!(why(&out, &[]).contains("`caps`, which is not a result"));
    new.adopt(added.iter().map(PathBuf::as_path)).expect("the mark is there");
    let next = Destination::check(&out, &[]).expect("all of it is replaced");
    assert!(next.holds_complete_results());
    fs::write(out.join("caps/notes.txt"), "mine").expect("a file");
    assert!(why(&out, &[]).contains("`caps`, which is not a result"));
    fs::remove_file(out.join("caps/notes.txt")).expect("it is there");
    next.replace_with(files("2"), State::Complete).expect("it can be written");
    assert_eq!(names(&out), [MARK, FILE]);
    assert_eq!(names(&base), ["out", "z.pcapng"]);
    fs::remove_dir_all(base).expect("it is ours");
}
