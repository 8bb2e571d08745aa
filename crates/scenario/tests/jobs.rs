//! `[[job]]`: where ranks are, and what errors say.

use weir_scenario::{Experiment, Files};
use weir_traffic::Work;

/// Two leaves of four hosts, h0 to h7.
const FABRIC: &str = "[topology]\nkind = \"leaf-spine\"\nspines = 2\nleaves = 2\n\
                      hosts-per-leaf = 4\n";

fn read(job: &str) -> Result<Experiment, String> {
    let text = format!("{FABRIC}\n[[job]]\n{job}\n");
    Experiment::read("my.toml", &text, Files::default(), &[]).map_err(|p| p.to_string())
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

/// 8 ranks of a model on two hosts of four GPUs.
const MODEL: &str = "model = \"llama3-70b\"\ntp = 4\npp = 2\nglobal-batch = 3\ngpus-per-host = 4\n";

#[test]
fn a_model_has_as_many_ranks_as_its_axes_say() {
    let e = read(&format!("{MODEL}layers = 8\niterations = 2")).unwrap_or_else(|e| panic!("{e}"));
    let job = &e.traffic.jobs()[0];
    assert_eq!((job.ranks(), job.iterations(), job.hosts.len()), (8, 2, 8));
    let Work::Training(training) = &job.work else { panic!("{:?}", job.work) };
    assert_eq!((training.model.layers, training.model.hidden), (8, 8192));
    assert_eq!((training.micro_batches(), training.speed), (3, 395_600_000_000_000));
    let own = "model = \"own\"\nlayers = 2\nhidden = 64\nffn = 256\nheads = 4\nvocab = 100\n\
               seq = 32\narchitecture = \"gpt\"\nzero = 3\n\
               order = [\"pp\", \"tp\", \"ep\", \"dp\"]";
    let e = read(own).unwrap_or_else(|e| panic!("{e}"));
    let Work::Training(training) = &e.traffic.jobs()[0].work else { panic!("a model") };
    // 2 (12 h^2 + 13 h) + (100 + 32) h + 2 h, with h = 64
    assert_eq!(training.model.parameters(), 108_544);
}

#[test]
fn errors_of_models_name_what_is_wrong() {
    for (job, message) in [
        ("model = \"llama4\"", "`llama4` is not a value of `model`"),
        ("model = \"gpt3\"\nsize = \"1MB\"", "`size` has no effect beside `model`"),
        ("size = \"1MB\"\ntp = 2", "`tp` has no effect without `model`"),
        ("model = \"own\"\nlayers = 2", "`[[job]]` needs `hidden`"),
        ("model = \"gpt3\"\norder = [\"tp\", \"pp\"]", "`order` names each of tp, ep, dp and pp"),
        ("model = \"gpt3\"\npp = 97\nranks = 97", "97 ranks do not fit"),
        ("model = \"gpt3\"\ntp = 5", "`heads` is 96, which is no multiple of 5"),
        ("model = \"gpt3\"\ntp = 2\nranks = 3", "the job has 2 ranks, not 3"),
        ("model = \"gpt3\"\nefficiency = 0", "a rank never computes anything"),
        ("model = \"gpt3\"\ntrace = \"a.goal\"", "`trace` has no effect beside `model`"),
    ] {
        let said = read(job).err().unwrap_or_else(|| panic!("{job} is accepted"));
        assert!(said.contains(message), "{job}:\n{said}");
    }
}
