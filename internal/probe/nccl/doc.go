// Package nccl parses the output of NCCL and of nccl-tests.
//
// ParseTests reads the console table of nccl-tests (all_reduce_perf and the other
// programs) in its current and older forms. One log can hold several runs. A run
// without a footer ended early; Run.Complete reports it. A "#wrong" of N/A is nil:
// not validated, which differs from zero. Lines that cannot be parsed are listed in
// Run.Problems.
//
// ParseLog reads the lines of NCCL_DEBUG=INFO: the network devices of each host, the
// transport of every channel and whether it uses GPUDirect RDMA, NVLink SHARP support
// of each GPU, and the ranks that finished initialisation. It ignores bootstrap and
// out-of-band lines, which name the management network on every healthy cluster. The
// lines of one rank from several runs in one log are merged; the worse value wins.
//
// Input is bounded. No parser panics, and no parser judges what it reads.
package nccl
