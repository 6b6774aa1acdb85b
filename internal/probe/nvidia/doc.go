// Package nvidia parses the output of NVIDIA's host tools and driver:
//
//   - nvidia-smi: the XML of -q -x (DTD v11 to v13), nvlink -s and -e, topo -m,
//     --query-gpu, and its messages about unreachable GPUs and drivers;
//   - dcgmi diag -j: the JSON of DCGM 3 and DCGM 4, and the exit codes of dcgmi;
//   - the kernel log: "NVRM: Xid" lines of GPUs and "SXid" lines of NVSwitches; a GPU off
//     the bus without an Xid counts as Xid 79; errors of the host's memory, processors, PCIe
//     links, adapters and drives.
//
// A figure that a card does not report (N/A, [Not Supported], deprecated) is nil,
// never zero. A figure that the GPU fails to report is listed in GPU.Errors. Units
// are part of the field names.
//
// Truncated input, input in another encoding and output of another program are
// errors that state the expected format. Kernel log lines that mention an Xid and
// cannot be parsed are errors. Equal Xid events are counted, so results are
// bounded. No parser panics, and no parser judges what it reads.
package nvidia
