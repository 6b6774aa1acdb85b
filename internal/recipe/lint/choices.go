package lint

import (
	"cmp"

	"github.com/firstlight/firstlight/internal/recipe/criteria"
	"github.com/firstlight/firstlight/internal/recipe/nodeprofile"
	"github.com/firstlight/firstlight/internal/recipe/rule"
)

// purpose is the set of properties that a profile is selected by.
type purpose struct{ provider, nodeType, accelerator string }

// choices reports purposes without a unique default profile, and duplicate profiles.
func (l *profileLinter) choices() {
	by := map[purpose][]*nodeprofile.Profile{}
	var order []purpose
	for _, p := range l.set.Profiles {
		labels := p.Metadata.Labels
		at := purpose{labels.Provider, labels.NodeType, labels.Accelerator}
		if len(by[at]) == 0 {
			order = append(order, at)
		}
		for _, other := range by[at] {
			if p.Spec.InstanceType == other.Spec.InstanceType {
				l.p = p
				l.add(rule.DuplicateProfile, []string{"spec", "instanceType"}, "%s has the instance type %s, like %s", p.Metadata.Name, p.Spec.InstanceType, other.Metadata.Name)
			}
		}
		by[at] = append(by[at], p)
	}
	generic := map[string][]*nodeprofile.Profile{}
	for _, at := range order {
		what := cmp.Or(at.accelerator, "system")
		l.choice(by[at], at.provider, what+" nodes", "default", func(p *nodeprofile.Profile) string { return p.Metadata.Labels.Default })
		if at.nodeType == "accelerated" {
			generic[at.provider] = append(generic[at.provider], by[at]...)
		}
	}
	for _, at := range order {
		if list := generic[at.provider]; list != nil {
			l.choice(list, at.provider, "GPU nodes with any accelerator", "generic", func(p *nodeprofile.Profile) string { return p.Metadata.Labels.Generic })
			delete(generic, at.provider)
		}
	}
}

// choice requires exactly one profile with the label; a single profile needs none.
func (l *profileLinter) choice(list []*nodeprofile.Profile, provider, what, label string, of func(*nodeprofile.Profile) string) {
	var first *nodeprofile.Profile
	for _, p := range list {
		if of(p) != "true" {
			continue
		}
		if l.p = p; first != nil {
			l.add(rule.ProfileChoice, []string{"metadata", "labels", label}, "%s and %s both have the label %s for %s of %s", first.Metadata.Name, p.Metadata.Name, label, what, provider)
		} else {
			first = p
		}
	}
	if l.p = list[0]; first == nil && (len(list) > 1 || of(list[0]) != "") {
		l.add(rule.ProfileChoice, []string{"metadata", "labels"}, "no profile for %s of %s has the label %s: set it on one of %s", what, provider, label, listed(namesOf(list)))
	}
}

func namesOf(list []*nodeprofile.Profile) []string {
	out := make([]string, len(list))
	for i, p := range list {
		out[i] = p.Metadata.Name
	}
	return out
}

// unused reports profiles that no recipe uses.
func (l *profileLinter) unused() {
	type pair struct{ provider, accelerator string }
	asked := map[pair]bool{}
	for _, o := range l.t.Recipes() {
		provider := cmp.Or(o.Criteria.Service, criteria.SelfManaged)
		asked[pair{provider, o.Criteria.Accelerator}] = true
		asked[pair{provider, "system"}] = true
	}
	for _, p := range l.set.Profiles {
		labels := p.Metadata.Labels
		want := pair{labels.Provider, labels.Accelerator}
		if labels.NodeType == "system" {
			want.accelerator = "system"
		}
		if !asked[want] && (labels.Generic != "true" || !asked[pair{labels.Provider, ""}]) {
			l.p = p
			l.add(rule.UnusedProfile, []string{"metadata", "name"}, "no recipe uses %s of %s", want.accelerator, labels.Provider)
		}
	}
}
