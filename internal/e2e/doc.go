// Package e2e holds the tests that run the built binary as a user would, on one
// shared lab: every fault fails its own gate, kill -9 loses nothing, a second
// process through a kubeconfig gives the same verdicts.
//
// Environment: FIRSTLIGHT_SOAK=1 runs the long versions (make soak).
package e2e
