// Package evidencetest makes small runs for tests: finished ones, interrupted
// ones, and the checks that judge them again.
package evidencetest
