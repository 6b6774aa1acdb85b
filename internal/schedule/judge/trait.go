package judge

import (
	"fmt"
	"strings"

	"github.com/firstlight/firstlight/internal/recipe/footprint"
)

// trait is a property of a profile's nodes that rejects pods, in the same words for every
// workload.
type trait struct{ profile, what string }

// most is the number of components with the same problem above which the profile is the
// likelier cause.
const most = 2

// traitOf is the property that keeps a workload's pods off the nodes of its class.
func (p *plan) traitOf(e expected) trait {
	own := p.scenario.Own(e.Class)
	if e.Class == footprint.Any || len(own) == 0 {
		return trait{}
	}
	return trait{p.profile(own[0].Name), p.rejectionReason(e, own[0].Name)}
}

// groupByTrait replaces causes with the same trait by one cause, where they affect several
// components.
func (f *findings) groupByTrait() {
	for _, one := range f.distinctTraits() {
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
			message: fmt.Sprintf("its nodes %s: this rejects %d workloads of %d components", one.what, workloads, len(components)),
			remedy:  fmt.Sprintf("correct the profile %s if the provider's nodes differ from it, else the components", one.profile),
		})
	}
}

func (f *findings) distinctTraits() []trait {
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

// replace makes the causes of a trait and their consequences consequences of by.
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
