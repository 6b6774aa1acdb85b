// Package keyless signs and verifies payloads with an identity instead of a key of one's own, by
// Sigstore: Fulcio certifies a key of a moment for who an identity token names, Rekor logs the
// signature, and a bundle holds both with the DSSE envelope.
//
// Invariants: verifying needs no network, only the trusted root that it is given; a bundle is
// accepted of one identity of one issuer, which the verifier names; the signature must be in a
// transparency log of the trusted root, at a time at which the certificate held; where the
// trusted root has certificate transparency logs, one of them must have the certificate. The
// identity token goes to the Fulcio that is given, and nowhere else.
//
// It does not interpret the payload.
package keyless
