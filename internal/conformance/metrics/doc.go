// Package metrics is the requirement accelerator_metrics: every GPU of every GPU node of the
// site has its metrics in Prometheus, and they are that GPU's own.
//
// Each required metric of figures.yaml has exactly one fresh and plausible sample for each GPU
// of the inventory. Then the free GPUs are loaded, one half after the other: the metrics of a
// loaded GPU rise, those of the others do not, and all fall after the load. A loaded GPU is
// identified by the pod that its exporter names.
//
// Invariants: the load takes only free GPUs and is removed when the check ends. GPUs that
// other pods use are not judged under load; the reason counts them.
package metrics
