// Package archive packs the directory of a run into one file and unpacks it
// again: a gzipped tar that is the same, byte for byte, whoever packs it when.
//
//	<run id>/attestation.intoto.jsonl   (where the run is signed)
//	<run id>/manifest.json              (where the run is finished)
//	<run id>/...                        all others, sorted
//
// What vouches for the rest comes first, so that of an archive that ends early
// it can be said what is missing.
//
// Invariants: Unpack writes regular files below the directory that it was given
// and nowhere else, never more than its limits, never through a link, and never
// over a file; an archive that is not whole is never taken for one that is.
// Whether the files are the right ones is not its business: see package attest.
package archive
