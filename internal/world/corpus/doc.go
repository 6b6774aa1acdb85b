// Package corpus compares what the world prints with what the real tools printed elsewhere. It has
// tests only. The real outputs are third-party data outside the repository (FIRSTLIGHT_CORPUS, default
// ../shared/corpus).
//
// Both texts are reduced to shapes: structure, names, units and spacing without values. The code that
// reduces them is in this package and shares nothing with the parsers of internal/probe. A shape that
// the world prints must be in a real output, or in unverified.yaml with the source of the format.
package corpus
