// Package corpus holds the readers of this program against outputs of real
// tools that nobody here wrote. It has tests only: the outputs are data of
// others and lie beside the repository (FIRSTLIGHT_CORPUS, ../shared/corpus).
package corpus
