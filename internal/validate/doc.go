// Package validate carries out the canonical pipeline: which Check takes each of its
// steps, in the order that was proved, what it is held against, and what is left of it
// as artifacts.
//
//	case          what a cluster is validated against, kept with the evidence
//	plan          the steps of the pipeline as steps of a Plan
//	requirements  the requirements of the conformance programme as Checks
//	report        what became of the steps
//	artifacts     what is uploaded, and that it is all that the plan promised
//
// The Checks themselves are in the packages below it and in package conformance; the
// order is package pipeline's.
package validate
