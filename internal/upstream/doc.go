// Package upstream builds the pinned upstream programs of a lab.
//
// The pins are Go modules in components/: nothing but tool directives and
// checksums. Copies of them are embedded (go generate; a test fails when they
// differ), so that the firstlight binary alone can build what it was pinned to.
//
// Invariants:
//   - A program is what its pin, its flags and the Go version say, nothing
//     else: the cache is keyed by a hash of all of them.
//   - A file in the cache is whole: it is built elsewhere and renamed.
//   - A program is given out only after all of it was held against the digest that was
//     recorded when it was built or imported. Who can write both can change both: the
//     cache is its user's.
//   - Two builders do not build the same program at once.
//   - The user's go.mod, GOFLAGS and workspace have no say.
//
// Environment: FIRSTLIGHT_CACHE, else the user's cache directory; and what the
// go command itself reads (GOPROXY, GOMODCACHE, GOCACHE, ...).
package upstream

//go:generate go run ./internal/copypins -from ../../components -to pins
