// Package corpus tests the parsers on outputs of real tools from other sources. It has tests
// only. The outputs are third-party data outside the repository (FIRSTLIGHT_CORPUS, default
// ../shared/corpus).
package corpus
