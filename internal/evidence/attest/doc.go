// Package attest creates and verifies attestations of runs, offline: an in-toto Statement v1
// about the run in a DSSE envelope, signed with a key or (package keyless) with an identity.
//
// The subjects of the statement are the run (by the digest of its manifest), its recipe, if
// any, and the cluster. Its predicate (PredicateType, with a JSON Schema) has the data for a
// decision: inputs, verdicts, figures, counts and missing steps.
//
// Every field of a statement except the signing time is derived from the files of the run, so
// Verify derives it again and reports every difference. Sign signs only an unchanged run whose
// verdicts all replay. A check that was not possible is reported and is not a pass. Verify
// reports all problems at once.
//
// It reads the given files only: no network and no environment, except in SignKeyless. A
// private key never leaves KeyPair.
package attest
