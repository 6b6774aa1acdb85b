// Package resolve builds a recipe from overlays: those that match the criteria and their bases,
// merged in a total order onto the root, then mixins, the selected profile value and the
// registry's defaults.
//
// It is a pure function of tree, criteria and options. Results share no memory with the tree
// and do not depend on the order of files. compat.go has the differences of aicr.
package resolve
