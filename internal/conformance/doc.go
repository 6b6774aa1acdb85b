// Package conformance holds what the checks of the CNCF AI conformance requirements share.
//
//	deps   what a check needs to observe, and how it observes: with every API call recorded
//	parts  a judgement that passes only when each of several parts was shown
//
// Each required check is a package below this one; recommended has those that fail no run.
package conformance
