package nodeprofile

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/firstlight/firstlight/internal/recipe/criteria"
)

// Select selects the nodes of a recipe. Without a service, the cluster is self-managed; without
// an accelerator, the provider's profile labelled generic is used.
func (s *Set) Select(c criteria.Criteria) (Nodes, error) {
	c = c.Normal()
	provider := cmp.Or(c.Service, criteria.SelfManaged)
	if err := s.checkProvider(provider); err != nil {
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
	name := accelerated.Node.Accelerator
	a, ok := s.Accelerator(name)
	if !ok {
		return Nodes{}, fmt.Errorf("%s does not have the accelerator %s of %s: add it with its architectures and products", AcceleratorsFile, name, accelerated.Node.Name)
	}
	n := Nodes{
		System: system.Node, Accelerated: accelerated.Node,
		Arch: slices.Clone(a.Arch), Products: slices.Clone(a.Products), AcceleratorDigest: a.Digest,
	}
	a.workload(provider, &n)
	return n, nil
}

// workload adds the node selector and tolerations of user pods for the accelerator and
// provider.
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

func (s *Set) checkProvider(provider string) error {
	there := map[string]bool{}
	for _, p := range s.Profiles {
		there[p.Node.Provider] = true
	}
	if there[provider] {
		return nil
	}
	return fmt.Errorf("provider %s has no node profiles: want one of %s", provider, joinNames(slices.Collect(maps.Keys(there))))
}

func (s *Set) accelerated(provider, accelerator string) (*Profile, error) {
	gpu := func(p *Profile) bool { return p.Metadata.Labels.NodeType == acceleratedNode }
	if accelerator == "" {
		return s.choose(provider, "GPU nodes with any accelerator", "generic", gpu)
	}
	var there []string
	for _, p := range s.Profiles {
		if p.Node.Provider == provider && gpu(p) {
			there = append(there, p.Node.Accelerator)
		}
	}
	if !slices.Contains(there, accelerator) {
		return nil, fmt.Errorf("provider %s has no node profile with the accelerator %s: want one of %s", provider, accelerator, joinNames(there))
	}
	return s.choose(provider, accelerator+" nodes", "default", func(p *Profile) bool { return gpu(p) && p.Node.Accelerator == accelerator })
}

// choose returns the one profile with the label; a single profile needs no label.
func (s *Set) choose(provider, what, label string, match func(*Profile) bool) (*Profile, error) {
	var all, labelled []*Profile
	for _, p := range s.Profiles {
		if p.Node.Provider != provider || !match(p) {
			continue
		}
		all = append(all, p)
		if value(p, label) == "true" {
			labelled = append(labelled, p)
		}
	}
	switch {
	case len(all) == 0:
		return nil, fmt.Errorf("provider %s has no node profile for %s: add one to %s/%s", provider, what, Dir, provider)
	case len(labelled) == 1:
		return labelled[0], nil
	case len(labelled) > 1:
		return nil, fmt.Errorf("%d node profiles of %s for %s have the label %s: %s; keep the label on one of them", len(labelled), provider, what, label, names(labelled))
	case len(all) == 1 && value(all[0], label) == "":
		return all[0], nil
	default:
		return nil, fmt.Errorf("no node profile of %s for %s has the label %s: set it on one of %s", provider, what, label, names(all))
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
		out[i] = p.Node.Name
	}
	return strings.Join(out, ", ")
}

func joinNames(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	slices.Sort(names)
	return strings.Join(slices.Compact(names), ", ")
}
