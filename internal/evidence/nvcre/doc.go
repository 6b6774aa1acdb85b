// Package nvcre writes a run in the form in which NVIDIA's Cluster Readiness
// Engine publishes its results, so that what reads those reads ours
// (https://docs.nvidia.com/cluster-readiness-engine, API reference, Validation
// Results, machine-readable results; v0.8).
//
// The output has only observations: one category for each step with a verdict,
// bandwidth where collectives were measured. An unobserved step is never Succeeded,
// and a run without the verdict of every step is never PASSED. The format has no field
// for simulated hardware: the platform of such a run is "simulated", that of a run whose cluster was not identified "unknown".
// Goodput and training metrics by topology domain, MNNVL and iterations are not
// measured here and left out.
package nvcre
