// Package resolve makes a recipe of overlays: those that the criteria match and
// those that these are based on, merged in a total order onto the root, then
// mixins, the profile's value and the registry's defaults.
//
// It is a pure function of tree, criteria and options: what it returns shares
// nothing with the tree, and is the same whatever order files were read in.
// compat.go holds what aicr does differently.
package resolve
