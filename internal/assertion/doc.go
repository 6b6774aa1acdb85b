// Package assertion runs Chainsaw test files (chainsaw.kyverno.io/v1alpha1, kind Test) with
// Chainsaw's own engine: assertion trees, bindings, templates, JMESPath and CEL, namespaces
// and timeouts. It supports the read-only operations assert and error; a file with any
// other operation is rejected with its position.
//
// It has three parts, so that stored observations can be judged again:
//
//   - Load reads a file strictly and reports all problems with their positions.
//   - Operation.Evaluate is pure: it computes a Result from an operation and its reads.
//   - Runner does the I/O: it polls a cluster until the operation holds or times out, and
//     returns its reads.
//
// Invariants: nothing in a file is ignored; with the rule All at least one object must be
// selected and all selected objects must match; everything that an expression reads
// (objects, server version, time) is recorded, and the environment and random values are
// not available. Values of Secrets are never recorded.
package assertion
