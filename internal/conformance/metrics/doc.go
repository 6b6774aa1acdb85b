// Package metrics is the requirement accelerator_metrics: every GPU of every GPU
// node of the site has its metrics in Prometheus, and they are that GPU's own.
//
// Each required metric of figures.yaml has exactly one fresh and plausible sample of
// each GPU of the inventory. Then the free GPUs are loaded, one half after the
// other: what a GPU of the load measures rises, what the others measure does not,
// and all falls when the load is gone. A GPU is known by the pod that its exporter
// says uses it.
//
// Invariants: the load takes free GPUs only and is gone when the check ends. Nothing
// is held against a GPU that somebody else uses, and the verdict says how many.
package metrics
