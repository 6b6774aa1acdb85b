// Package oci pushes a packed run to any OCI registry and pulls it again: an
// artifact of type ArtifactType with one layer, the archive as it is.
//
// Invariants: a pulled archive has the digest and size of its manifest entry, and the
// manifest has the digest that the reference resolved to; otherwise no file is
// left. Plain HTTP is used only on loopback or with Options.PlainHTTP.
// The package does not verify the creator of the run: see package attest.
//
// Credentials are those of the Docker configuration (DOCKER_CONFIG, or
// ~/.docker/config.json, with its credential helpers). They reach the registry
// and nothing else.
package oci
