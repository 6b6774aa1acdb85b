// Package upstream builds the pinned upstream programs of a lab.
//
// The pins are Go modules in components/ with tool directives and checksums only. They are
// embedded in pins.zip (go generate; a test compares them), so that the firstlight binary can build
// its programs on its own.
//
// Invariants:
//   - A program depends only on its pin, its flags and the Go version: the cache key is a hash of
//     these.
//   - A file in the cache is complete: it is built elsewhere and renamed.
//   - A program is returned only if it matches the digest recorded at build or import. A process
//     that can write both can change both: the cache must only be writable by its user.
//   - A program is not built twice at the same time.
//   - The user's go.mod, GOFLAGS and workspace are ignored.
//
// Environment: FIRSTLIGHT_CACHE or the user's cache directory, and the go command's own (GOPROXY,
// GOMODCACHE, GOCACHE, ...).
package upstream

//go:generate go run ../pack -in ../../components -to pins.zip adapter batch gpustack kueue mpi ray shared volcano
