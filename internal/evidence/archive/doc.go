// Package archive packs the directory of a run into a gzipped tar and unpacks it. The same run
// always gives the same bytes.
//
//	<run id>/attestation.intoto.jsonl   (if the run is signed)
//	<run id>/manifest.json              (if the run is finished)
//	<run id>/...                        all other files, sorted
//
// Attestation and manifest are first, so that Unpack can list the missing files of a truncated
// archive.
//
// Unpack writes regular files below the given directory only, within its limits, never through
// a link and never over an existing file. A truncated archive is an error. Package attest
// verifies the content of the files.
package archive
