package tree

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/recipe/criteria"
	"github.com/firstlight/firstlight/internal/recipe/model"
)

// legacyRoleOf says what aicr takes a file for. Overlays may be anywhere but below
// directories of components and checks.
func legacyRoleOf(p string) (role, bool) {
	switch name := path.Base(p); {
	case p == registryFile:
		return registryRole, true
	case strings.HasPrefix(p, overlayDir+"/") && (path.Ext(p) == ".yml" || path.Ext(p) == ".json"):
		return overlayRole, true // which is not read, and the scan says so
	case strings.Contains(p, "checks/") || strings.Contains(p, "components/") || path.Ext(p) != ".yaml":
		return 0, false
	case name == registryFile || name == "data-v1.yaml":
		return 0, false
	case path.Dir(p) == catalogDir:
		return catalogRole, true
	default:
		return legacyRole, true
	}
}

// forgetNewer takes out of a file what aicr does not know yet, with a warning for
// each key: it passes over keys that it does not know.
func (t *Tree) forgetNewer(p parsed) parsed {
	f := forgetter{t: t, file: p.path}
	if p.overlay != nil {
		o := *p.overlay // the parsed one may be another tree's too
		f.overlay(&o)
		p.overlay = &o
	}
	if p.registry != nil {
		r := *p.registry
		r.Components = slices.Clone(r.Components)
		for i := range r.Components {
			f.component(&r.Components[i], i)
		}
		p.registry = &r
	}
	p.problems = append(slices.Clip(p.problems), f.problems...)
	return p
}

type forgetter struct {
	t        *Tree
	file     string
	problems diag.List
}

func (f *forgetter) overlay(o *model.Overlay) {
	forget(f, &o.Spec.Mixins, o.Spec.Mixins != nil, "spec", "mixins")
	forget(f, &o.Spec.Profile, o.Spec.Profile != nil, "spec", "profile")
	o.Spec.ComponentRefs = slices.Clone(o.Spec.ComponentRefs)
	for i := range o.Spec.ComponentRefs {
		c, at := &o.Spec.ComponentRefs[i], []string{"spec", "componentRefs", strconv.Itoa(i)}
		forget(f, &c.PreManifestFiles, c.PreManifestFiles != nil, append(at, "preManifestFiles")...)
		forget(f, &c.HealthCheckSkip, c.HealthCheckSkip != nil, append(at, "healthCheckSkip")...)
	}
}

func (f *forgetter) component(c *model.Component, i int) {
	at := []string{"components", strconv.Itoa(i)}
	forget(f, &c.Manifest, c.Manifest != nil, append(at, "manifest")...)
	forget(f, &c.ManifestFiles, c.ManifestFiles != nil, append(at, "manifestFiles")...)
	if c.Kustomize != nil {
		k := *c.Kustomize
		forget(f, &k.DefaultNamespace, k.DefaultNamespace != "", append(at, "kustomize", "defaultNamespace")...)
		c.Kustomize = &k
	}
}

// forget empties a field; is says that the file states it.
func forget[T any](f *forgetter, field *T, is bool, keys ...string) {
	if !is {
		return
	}
	var none T
	*field = none
	p := diag.UnknownKey.At(f.t.Pos(f.file, keys...), "aicr %s does not know the key %q: it passes over it", criteria.LegacyVersion, keys[len(keys)-1])
	f.problems = append(f.problems, p.With("compare without --compat, or with a tree of that version"))
}
