// Package validate runs the canonical pipeline: the Check of each step in the proven order, the
// case that a cluster is validated against, and the artifacts of a run.
//
//	case          what a cluster is validated against, stored with the evidence
//	plan          the steps of the pipeline as steps of a Plan
//	requirements  the requirements of the conformance catalog as Checks
//	report        the results of the steps
//	artifacts     what is uploaded, and whether it is all that the plan declares
//
// The Checks are in the packages below it and below package conformance; package pipeline proves
// the order.
package validate
