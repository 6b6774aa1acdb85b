// Package krusty replaces the builder of kustomizations that Helm's library imports through
// k8s.io/cli-runtime. It refuses every kustomization.
package krusty

import (
	"errors"

	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// ErrNoKustomize is the error of each kustomization.
var ErrNoKustomize = errors.New("this program is built without kustomize: kustomizations are not supported")

// ReorderOption selects the order of the built objects.
type ReorderOption string

// ReorderOptionLegacy is the order of early versions.
const ReorderOptionLegacy ReorderOption = "legacy"

// Options configure a Kustomizer.
type Options struct{ Reorder ReorderOption }

// MakeDefaultOptions returns empty options.
func MakeDefaultOptions() *Options { return &Options{} }

// Kustomizer builds nothing.
type Kustomizer struct{}

// MakeKustomizer returns a Kustomizer.
func MakeKustomizer(*Options) *Kustomizer { return &Kustomizer{} }

// Run refuses.
func (*Kustomizer) Run(filesys.FileSystem, string) (resmap.ResMap, error) {
	return nil, ErrNoKustomize
}
