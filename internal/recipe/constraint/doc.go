// Package constraint holds what a recipe demands of a cluster against what was
// measured of it: expressions (">= 1.32", "ubuntu"), versions, measurement
// paths (K8s.server.version), snapshots, and the verdict of each. What was not
// measured is unobserved, never passed. It does no I/O.
package constraint
