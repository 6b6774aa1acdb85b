package nodeprofile

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/firstlight/firstlight/internal/recipe/criteria"
)

// Select chooses the shapes of a recipe's nodes. A service that is open is a
// cluster that no provider runs; where the accelerator is open, it is the provider's
// profile that is labelled generic.
func (s *Set) Select(c criteria.Criteria) (Nodes, error) {
	c = c.Normal()
	provider := c.Service
	if provider == "" {
		provider = criteria.SelfManaged
	}
	if err := s.served(provider); err != nil {
		return Nodes{}, err
	}
	system, err := s.choose(provider, "system nodes", "default", func(p *Profile) bool { return p.Metadata.Labels.NodeType == systemNode })
	if err != nil {
		return Nodes{}, err
	}
	accelerated, err := s.accelerated(provider, c.Accelerator)
	if err != nil {
		return Nodes{}, err
	}
	name := accelerated.Shape.Accelerator
	a, ok := s.Accelerator(name)
	if !ok {
		return Nodes{}, fmt.Errorf("%s does not have the accelerator %s of %s: add it, with the architectures and products that it is built as", AcceleratorsFile, name, accelerated.Shape.Name)
	}
	n := Nodes{
		System: system.Shape, Accelerated: accelerated.Shape,
		Arch: slices.Clone(a.Arch), Products: slices.Clone(a.Products), AcceleratorDigest: a.Digest,
	}
	a.workload(provider, &n)
	return n, nil
}

// workload adds what pods of users carry for the accelerator at a provider.
func (a *Accelerator) workload(provider string, n *Nodes) {
	n.WorkloadTolerations = []corev1.Toleration{{Key: GPUTaint, Operator: corev1.TolerationOpExists}}
	n.WorkloadSelector = map[string]string{}
	for _, w := range a.Workload {
		if !slices.Contains(w.Providers, provider) {
			continue
		}
		maps.Copy(n.WorkloadSelector, w.NodeSelector)
		for _, t := range w.Tolerations {
			n.WorkloadTolerations = append(n.WorkloadTolerations, corev1.Toleration{
				Key: t.Key, Operator: corev1.TolerationOperator(t.Operator), Value: t.Value, Effect: corev1.TaintEffect(t.Effect),
			})
		}
	}
}

func (s *Set) served(provider string) error {
	there := map[string]bool{}
	for _, p := range s.Profiles {
		there[p.Shape.Provider] = true
	}
	if there[provider] {
		return nil
	}
	return fmt.Errorf("there is no node profile of %s: there are profiles of %s", provider, listed(slices.Collect(maps.Keys(there))))
}

func (s *Set) accelerated(provider, accelerator string) (*Profile, error) {
	gpu := func(p *Profile) bool { return p.Metadata.Labels.NodeType == acceleratedNode }
	if accelerator == "" {
		return s.choose(provider, "GPU nodes of whatever accelerator", "generic", gpu)
	}
	var there []string
	for _, p := range s.Profiles {
		if p.Shape.Provider == provider && gpu(p) {
			there = append(there, p.Shape.Accelerator)
		}
	}
	if !slices.Contains(there, accelerator) {
		return nil, fmt.Errorf("there is no node profile of %s with %s: there are %s", provider, accelerator, listed(there))
	}
	return s.choose(provider, accelerator+" nodes", "default", func(p *Profile) bool { return gpu(p) && p.Shape.Accelerator == accelerator })
}

// choose takes the one profile that carries the label; where there is only one
// profile it may go without.
func (s *Set) choose(provider, what, label string, match func(*Profile) bool) (*Profile, error) {
	var all, labelled []*Profile
	for _, p := range s.Profiles {
		if p.Shape.Provider != provider || !match(p) {
			continue
		}
		all = append(all, p)
		if value(p, label) == "true" {
			labelled = append(labelled, p)
		}
	}
	switch {
	case len(all) == 0:
		return nil, fmt.Errorf("there is no node profile of %s for %s: add one to %s/%s", provider, what, Dir, provider)
	case len(labelled) == 1:
		return labelled[0], nil
	case len(labelled) > 1:
		return nil, fmt.Errorf("%d node profiles of %s for %s are labelled %s: %s; keep the label on one of them", len(labelled), provider, what, label, names(labelled))
	case len(all) == 1 && value(all[0], label) == "":
		return all[0], nil
	default:
		return nil, fmt.Errorf("none of the node profiles of %s for %s is labelled %s: there are %s; label one of them", provider, what, label, names(all))
	}
}

func value(p *Profile, label string) string {
	if label == "generic" {
		return p.Metadata.Labels.Generic
	}
	return p.Metadata.Labels.Default
}

func names(list []*Profile) string {
	out := make([]string, len(list))
	for i, p := range list {
		out[i] = p.Shape.Name
	}
	return strings.Join(out, ", ")
}

func listed(names []string) string {
	if len(names) == 0 {
		return "none at all"
	}
	slices.Sort(names)
	return strings.Join(slices.Compact(names), ", ")
}
