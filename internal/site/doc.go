// Package site holds the Site: the file that declares the cluster being brought
// up: its spine, hardware profile, expected inventory, how to reach it, and the
// thresholds and workloads it is accepted with.
//
// Decoding is strict: unknown keys, wrong units and impossible counts are
// errors, all reported at once with file and line. Secrets are never in a site
// file, only paths of files that hold them.
package site
