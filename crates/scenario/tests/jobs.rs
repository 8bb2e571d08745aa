//! `[[job]]`: where ranks are, and what errors say.

use weir_scenario::{Experiment, Files};

/// Two leaves of four hosts, h0 to h7.
const FABRIC: &str = "[topology]\nkind = \"leaf-spine\"\nspines = 2\nleaves = 2\n\
                      hosts-per-leaf = 4\n";

fn read(job: &str) -> Result<Experiment, String> {
    let text = format!("{FABRIC}\n[[job]]\n{job}\n");
    Experiment::read("my.toml", &text, Files::default(), &[]).map_err(|p| p.render(false))
}

/// The names of the hosts of the ranks.
fn hosts(job: &str) -> Vec<String> {
    let e = read(job).unwrap_or_else(|why| panic!("{why}"));
    let hosts = e.traffic.jobs()[0].hosts.iter();
    hosts.map(|h| e.topology.name(*h).to_owned()).collect()
}

#[test]
fn ranks_are_placed_in_order_by_rail_at_random_or_as_listed() {
    let packed = hosts("size = \"1MB\"");
    assert_eq!(packed, ["h0", "h1", "h2", "h3", "h4", "h5", "h6", "h7"]);
    let two = hosts("size = \"1MB\"\nranks = 4\ngpus-per-host = 2\nhosts = \"h2..h3\"");
    assert_eq!(two, ["h2", "h2", "h3", "h3"]);
    let rail = hosts("size = \"1MB\"\nplacement = \"rail\"");
    assert_eq!(rail, ["h0", "h4", "h1", "h5", "h2", "h6", "h3", "h7"]);
    let random = hosts("size = \"1MB\"\nplacement = \"random\"");
    assert_ne!(random, packed);
    let mut sorted = random.clone();
    sorted.sort();
    assert_eq!(sorted, packed);
    let list = hosts("size = \"1MB\"\nplacement = \"list\"\nhosts = [\"h7\", \"h0\", \"h7\"]");
    assert_eq!(list, ["h7", "h0", "h7"]);
}

#[test]
fn errors_name_the_value_and_what_is_valid() {
    for (job, message) in [
        ("collective = \"all-reduce\"", "`[[job]]` needs `size`"),
        ("collective = \"reduce\"\nsize = 1", "`reduce` is not a value of `collective`"),
        (
            "size = \"1MB\"\nalgorithm = \"pairwise\"",
            "all-reduce can use ring, halving-doubling, tree, double-tree, hierarchical",
        ),
        ("size = \"1MB\"\nranks = 9", "9 ranks do not fit: there is room for 8"),
        ("size = \"1MB\"\nhosts = [\"h0\", \"h99\"]", "there is no host or switch `h99`"),
        ("size = \"1MB\"\nhosts = [\"h0\", \"h0\"]", "`hosts` lists `h0` twice"),
        (
            "size = \"1MB\"\nranks = 6\ngpus-per-host = 4\nalgorithm = \"hierarchical\"",
            "6 ranks do not fill servers of 4 GPUs each",
        ),
        ("size = \"2TB\"", "a message of 2 TB is more than"),
        ("size = \"1MB\"\nroot = 8", "the root is rank 8, and the job has 8, counted from 0"),
        ("size = \"1MB\"\nstragglers = [1]", "`stragglers` and `straggler-delay` go together"),
        (
            "size = \"1MB\"\nstragglers = [8]\nstraggler-delay = \"1us\"",
            "rank 8 is a straggler, and there are 8 ranks",
        ),
        ("size = \"1MB\"\nstart = \"100s\"", "a `start` of 100 s is out of range"),
        ("trace = \"nothing.goal\"", "cannot read `nothing.goal`"),
        ("trace = \"a.goal\"\nsize = \"1MB\"", "`size` has no effect beside `trace`"),
        ("size = \"1MB\"\nchunck = 1", "unknown key `chunck`"),
        ("size = \"1MB\"\nqueue-pairs = 0", "queue-pairs"),
    ] {
        let said = read(job).err().unwrap_or_else(|| panic!("{job} is accepted"));
        assert!(said.contains(message), "{job}:\n{said}");
    }
}

/// What a job is decides about the name of a run; a scenario without jobs has the name that it had.
#[test]
fn a_scenario_may_have_jobs_only() {
    let e = read("size = \"1MB\"\ncollective = \"all-to-all\"").unwrap_or_else(|e| panic!("{e}"));
    assert_eq!((e.traffic.jobs().len(), e.classes().join(" ").as_str()), (1, "job0"));
    let text = format!("{:?}", e.traffic);
    assert!(text.contains("AllToAll"), "{text}");
    let fabric = e.traffic.fabric().clone();
    assert!(!format!("{:?}", weir_traffic::Traffic::new(fabric)).contains("jobs"));
}
