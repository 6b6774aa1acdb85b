package lint

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/recipe/footprint"
	"github.com/firstlight/firstlight/internal/recipe/nodeprofile"
	"github.com/firstlight/firstlight/internal/recipe/rule"
)

// vocabulary has the label keys, taint keys and resources of nodes.
type vocabulary map[string]map[string]bool

func newVocabulary(shapes *nodeprofile.Set, footprints *footprint.Set) vocabulary {
	v := vocabulary{footprint.LabelUse: {}, footprint.TaintUse: {}, footprint.ResourceUse: {}}
	v.add(footprint.LabelUse, corev1.LabelArchStable, corev1.LabelOSStable, corev1.LabelHostname, corev1.LabelInstanceTypeStable,
		corev1.LabelTopologyRegion, corev1.LabelTopologyZone)
	v.add(footprint.ResourceUse, string(corev1.ResourceCPU), string(corev1.ResourceMemory), string(corev1.ResourceEphemeralStorage))
	for _, s := range shapes.All() {
		v.add(footprint.LabelUse, slices.Collect(maps.Keys(s.Labels))...)
		for _, found := range s.Discovered {
			v.add(footprint.LabelUse, slices.Collect(maps.Keys(found))...)
		}
		for _, t := range s.Taints {
			v.add(footprint.TaintUse, t.Key)
		}
		for _, d := range s.Devices {
			v.add(footprint.ResourceUse, string(d.Name))
		}
	}
	for _, f := range footprints.Footprints {
		for _, p := range f.Spec.Publishes {
			v.add(footprint.LabelUse, slices.Collect(maps.Keys(p.Labels))...)
		}
	}
	return v
}

func (v vocabulary) add(of string, keys ...string) {
	for _, key := range keys {
		v[of][key] = true
	}
}

// typos reports keys that no node has but that are close to one that a node has.
func (s *scheduling) typos(recipe string, uses []footprint.Use) {
	for _, u := range uses {
		if p, ok := s.keys.typo(u); ok {
			s.find(recipe, p)
		}
	}
}

func (v vocabulary) typo(u footprint.Use) (diag.Problem, bool) {
	known := v[u.Kind]
	if known[u.Key] {
		return diag.Problem{}, false
	}
	near := diag.Nearest(u.Key, slices.Collect(maps.Keys(known)))
	if near == "" {
		return diag.Problem{}, false
	}
	return rule.KeyTypo.At(u.Pos(), "%s: no node has the %s %s", u.Name(), u.Kind, u.Key).With("did you mean %s?", near), true
}

// hardCoded reports typos in constants of footprints.
func (s *scheduling) hardCoded() diag.List {
	if s.footprints.Shipped {
		return nil
	}
	var out diag.List
	for _, f := range s.footprints.Footprints {
		for _, u := range f.Uses {
			if p, ok := s.keys.typo(u); ok {
				out = append(out, p)
			}
		}
	}
	return out
}
