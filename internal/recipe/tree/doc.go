// Package tree loads a recipe tree: the root overlay, overlays with their parents, mixins, the
// component registry, the validator catalogue, and the files that they refer to.
//
// Loading is strict and reports all problems at once. A Tree is immutable after loading;
// callers copy maps and slices before they modify them.
package tree
