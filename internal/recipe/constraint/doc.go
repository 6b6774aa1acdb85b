// Package constraint compares the requirements of a recipe with measurements of a cluster:
// expressions (">= 1.32", "ubuntu"), versions, measurement paths (K8s.server.version),
// snapshots, and verdicts. A missing measurement is unobserved, never passed. The package
// performs no I/O.
package constraint
