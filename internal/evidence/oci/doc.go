// Package oci pushes a packed run to any OCI registry and pulls it again: an
// artifact of type ArtifactType with one layer, the archive as it is.
//
// Invariants: what is pulled has the digest and size that its manifest says,
// and the manifest the digest that the reference resolved to, or nothing is
// left; a registry is spoken to without TLS only on loopback or when told to.
// Who made the run is not its business: see package attest.
//
// Credentials are those of the Docker configuration (DOCKER_CONFIG, or
// ~/.docker/config.json, with its credential helpers). They reach the registry
// and nothing else.
package oci
