package judge

import (
	"fmt"
	"strings"

	"github.com/firstlight/firstlight/internal/recipe/footprint"
)

// trait is what a profile's nodes have or lack that keeps pods off them, in words
// that are the same for every workload.
type trait struct{ profile, what string }

// most is how many components may be wrong in the same way before it is more likely
// that the profile is.
const most = 2

// traitOf is what keeps the pods of a workload off the nodes of its class.
func (p *plan) traitOf(e expected) trait {
	own := p.cell.Own(e.Class)
	if e.Class == footprint.Any || len(own) == 0 {
		return trait{}
	}
	return trait{p.profile(own[0].Name), p.refuses(e, own[0].Name)}
}

// gather makes one cause of those that are about one trait, where it keeps off the
// pods of several components: the workloads follow from it.
func (f *findings) gather() {
	for _, one := range f.traits() {
		workloads, components := 0, map[string]bool{}
		for _, c := range f.causes {
			if c.of == one {
				workloads++
				component, _, _ := strings.Cut(c.suspect, "/")
				components[component] = true
			}
		}
		if len(components) <= most {
			continue
		}
		f.replace(one, cause{
			key: one.profile + " " + one.what, suspect: "profile " + one.profile,
			message: fmt.Sprintf("its nodes %s: that keeps off %d workloads of %d components", one.what, workloads, len(components)),
			remedy:  fmt.Sprintf("correct the profile %s where the provider's nodes are otherwise; where they are not, correct the components", one.profile),
		})
	}
}

// traits are those that causes have, in their order.
func (f *findings) traits() []trait {
	var out []trait
	seen := map[trait]bool{{}: true}
	for _, c := range f.causes {
		if !seen[c.of] {
			seen[c.of] = true
			out = append(out, c.of)
		}
	}
	return out
}

// replace lets the causes of a trait, and what follows from them, follow from by.
func (f *findings) replace(of trait, by cause) {
	gone := map[string]bool{}
	causes := []cause{by}
	var follows []follow
	for _, c := range f.causes {
		if c.of != of {
			causes = append(causes, c)
			continue
		}
		gone[c.key] = true
		follows = append(follows, follow{cause: by.key, suspect: c.suspect, message: c.message})
	}
	for _, o := range f.follows {
		if gone[o.cause] {
			o.cause = by.key
		}
		follows = append(follows, o)
	}
	f.causes, f.follows = causes, follows
}
