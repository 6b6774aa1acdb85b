// Package node is gate 3: every GPU node matches the profile and is healthy. It reads
// nvidia-smi (before and after the diagnostic), NVLinks, ibstat, dcgmi diag and the kernel log
// of every host of the inventory.
//
// Invariants: a host, GPU or required diagnostic without an observation never passes; Skip is
// not Pass; every limit is from the profile or the site. The gate changes nothing on a host.
package node
