// Package nvcre writes a run in the form in which NVIDIA's Cluster Readiness
// Engine publishes its results, so that what reads those reads ours
// (https://docs.nvidia.com/cluster-readiness-engine, API reference, Validation
// Results, machine-readable results; v0.8).
//
// It says only what was observed: a category a step with a verdict, bandwidth
// where collectives were measured. What was not observed is never Succeeded, and
// a run without the verdict of every step never PASSED. That form has no place
// to say that hardware was simulated: the platform of such a run is "simulated".
// Goodput and training metrics by topology domain, MNNVL and iterations are not
// measured here and left out.
package nvcre
