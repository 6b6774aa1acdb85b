// Package soak repeats acceptances for a duration, such as 72 hours of burn-in, and summarises what
// changed between them. Each repetition is a run with evidence of its own, whose header names the
// soak from its first moment on: no repetition is lost with its process. A soak continues after its
// process or machine was restarted. The summary is computed from the evidence, by a pure function.
package soak
