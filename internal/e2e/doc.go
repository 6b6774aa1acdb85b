// Package e2e holds the tests that run the built binary as a user would, on one
// shared lab: every fault fails its own gate, kill -9 loses nothing, a second
// process through a kubeconfig gives the same verdicts.
//
// Environment: FIRSTLIGHT_TESTS; see internal/suite.
package e2e
