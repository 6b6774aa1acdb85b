//go:build !race

package resolve_test

// many overlays are as many as there may be.
const many = 10_000
