// Package resmap has the type of what a kustomization builds.
package resmap

// ResMap is what a kustomization builds; none is ever made.
type ResMap interface {
	AsYaml() ([]byte, error)
}
