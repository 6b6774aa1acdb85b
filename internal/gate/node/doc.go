// Package node is gate 3: every GPU node has what the profile says, healthy.
// It looks at nvidia-smi (before and after the diagnostic), NVLinks, ibstat,
// dcgmi diag and the kernel log of every host of the inventory.
//
// Invariants: a host, a GPU or a required diagnostic that was not seen is never
// passed; Skip is no Pass; every limit is the profile's or the site's. The gate
// changes nothing on a host.
package node
