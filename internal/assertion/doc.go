// Package assertion runs Chainsaw test files (chainsaw.kyverno.io/v1alpha1, kind
// Test) by Chainsaw's own engine: its assertion trees, bindings, templates,
// JMESPath and CEL, namespaces and timeouts. It carries out assert and error, which
// only look; a file that asks for anything else is refused with its place.
//
// Three parts, so that what was seen can be judged again:
//
//   - Load reads a file strictly: every problem at once, each with its place.
//   - Operation.Evaluate is pure: an operation and what was Seen make a Result.
//   - Runner does the I/O: it looks at a cluster again and again until the
//     operation holds or its time is over, and hands out what it Saw.
//
// Invariants: nothing in a file is skipped in silence; by the rule All, an object
// that is not named must be there, and all that are selected must hold; what an
// expression reads (objects, the server's version, the time) is part of Seen, and
// the process's environment and chance can't be read at all. Values of Secrets are
// never in Seen.
package assertion
