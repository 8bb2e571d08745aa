#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| weir_paper::fuzz::ns3_flows(bytes));
