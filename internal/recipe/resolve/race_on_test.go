//go:build race

package resolve_test

// many overlays, where the race detector makes everything ten times as slow.
const many = 1000
