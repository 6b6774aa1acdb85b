// Package beside reads files that stand beside the overlays of a recipe tree: node
// profiles, accelerators, footprints. Where a tree has none of a kind, those that
// ship with firstlight serve, and whoever asked is told so.
package beside
