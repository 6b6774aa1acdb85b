// Package recipes carries the recipe tree that ships with firstlight.
package recipes

import "embed"

// FS is the tree: overlays, components, checks, validators and the rest.
//
//go:embed *
var FS embed.FS
