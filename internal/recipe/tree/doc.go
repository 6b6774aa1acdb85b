// Package tree is a recipe tree as it is on disk: the root overlay, overlays by
// name with their parents, mixins, the registry of components, the validator
// catalogue, and the files that they refer to.
//
// Loading is strict and reports every problem at once. A Tree does not change
// once it is loaded; whoever takes a map or a list out of it copies it first.
package tree
