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

// legacyRoleOf returns how aicr reads a file. Overlays may be anywhere except below directories
// named components and checks.
func legacyRoleOf(p string) (role, bool) {
	switch name := path.Base(p); {
	case p == registryFile:
		return registryRole, true
	case strings.HasPrefix(p, overlayDir+"/") && (path.Ext(p) == ".yml" || path.Ext(p) == ".json"):
		return overlayRole, true // ignored; scan reports it
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

// dropNewerKeys removes keys that this version of aicr ignores, with a warning for each.
func (t *Tree) dropNewerKeys(p parsed) parsed {
	f := legacyFilter{t: t, file: p.path}
	if p.overlay != nil {
		o := *p.overlay // the cache may share the parsed overlay
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

type legacyFilter struct {
	t        *Tree
	file     string
	problems diag.List
}

func (f *legacyFilter) overlay(o *model.Overlay) {
	drop(f, &o.Spec.Mixins, o.Spec.Mixins != nil, "spec", "mixins")
	drop(f, &o.Spec.Profile, o.Spec.Profile != nil, "spec", "profile")
	o.Spec.ComponentRefs = slices.Clone(o.Spec.ComponentRefs)
	for i := range o.Spec.ComponentRefs {
		c, at := &o.Spec.ComponentRefs[i], []string{"spec", "componentRefs", strconv.Itoa(i)}
		drop(f, &c.PreManifestFiles, c.PreManifestFiles != nil, append(at, "preManifestFiles")...)
		drop(f, &c.HealthCheckSkip, c.HealthCheckSkip != nil, append(at, "healthCheckSkip")...)
	}
}

func (f *legacyFilter) component(c *model.Component, i int) {
	at := []string{"components", strconv.Itoa(i)}
	drop(f, &c.Manifest, c.Manifest != nil, append(at, "manifest")...)
	drop(f, &c.ManifestFiles, c.ManifestFiles != nil, append(at, "manifestFiles")...)
	if c.Kustomize != nil {
		k := *c.Kustomize
		drop(f, &k.DefaultNamespace, k.DefaultNamespace != "", append(at, "kustomize", "defaultNamespace")...)
		c.Kustomize = &k
	}
}

// drop clears a field if it is set.
func drop[T any](f *legacyFilter, field *T, is bool, keys ...string) {
	if !is {
		return
	}
	var none T
	*field = none
	p := diag.UnknownKey.At(f.t.Pos(f.file, keys...), "aicr %s ignores the key %q", criteria.LegacyVersion, keys[len(keys)-1])
	f.problems = append(f.problems, p.With("compare without --compat, or with a tree of that version"))
}
