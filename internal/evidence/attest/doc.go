// Package attest lets a stranger check the evidence of a run offline: an
// in-toto Statement v1 about the run, in a DSSE envelope, signed with a key or (package
// keyless) by an identity.
//
// The statement's subjects are the run (by the digest of its manifest), the
// recipe where it has one, and the cluster. Its predicate (PredicateType, with a
// JSON Schema, see Schema) repeats what a reader decides by: inputs, verdicts,
// figures, counts, and what is missing.
//
// Invariants: everything in a statement but the time of signing is derived from
// the run's files, so Verify derives it again and names every difference; a run
// is signed only if it is as it was written and every verdict of it is reached
// again; what could not be checked is said and is not a pass; all problems are
// reported at once.
//
// It reads the files that it is given and nothing else: no network, no
// environment, but for SignKeyless. A private key never leaves KeyPair.
package attest
