package facility

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/utils/clock"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/redfish"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// Name of the gate.
const Name = "facility"

// The kinds of observations.
const (
	kindFacility = "site-facility"
	kindRedfish  = "redfish-power"
)

// Deps are the dependencies of Observe. They are zero for a gate that only judges.
type Deps struct {
	// Read reads one controller; defaults to redfish.Read.
	Read func(ctx context.Context, r site.Redfish) (redfish.Reading, error)
	// Clock defaults to the real clock.
	Clock clock.PassiveClock
}

// Gate is gate 1.
type Gate struct {
	site    *site.Site
	profile *profile.Profile
	deps    Deps
}

// New returns the gate.
func New(s *site.Site, p *profile.Profile, deps Deps) *Gate {
	if deps.Read == nil {
		deps.Read = redfish.Read
	}
	deps.Clock = cmp.Or[clock.PassiveClock](deps.Clock, clock.RealClock{})
	return &Gate{site: s, profile: p, deps: deps}
}

// Name implements check.Check.
func (g *Gate) Name() string { return Name }

// Excluding implements plan.Excluding.
func (g *Gate) Excluding(nodes []string) check.Check {
	return New(g.site.Without(nodes), g.profile, g.deps)
}

// Lowered implements plan.Lowers.
func (g *Gate) Lowered() []string { return g.site.LoweredFacility() }

// Nodes implements plan.Localising.
func (g *Gate) Nodes() []string { return g.site.NodeNames() }

// Describe lists the actions of Observe.
func (g *Gate) Describe() []string {
	out := []string{"read the sign-off and the budgets of the site file; demand is the profile's figure x the inventory"}
	for _, r := range g.site.Facility.Redfish {
		out = append(out, fmt.Sprintf("Redfish at %s: %d PDUs, %d chassis", r.URL, len(r.PDUs), len(r.Chassis)))
	}
	return out
}

// facts are the figures of a site-facility observation.
type facts struct {
	SignOff site.SignOff `json:"signOff"`
	Nodes   int          `json:"nodes"`
	Power   budget       `json:"powerKW"`
	Cooling budget       `json:"coolingKW"`
	Weight  budget       `json:"weightKg"`
}

// budget is the provided amount, its reserve as a fraction, and the demand.
type budget struct {
	Provided float64 `json:"provided"`
	Reserve  float64 `json:"reserve"`
	Demand   float64 `json:"demand"`
	Source   string  `json:"source"`
}

func (b budget) usable() float64 { return b.Provided * (1 - b.Reserve) }

// facts are the sign-off and the budgets of the site, with the demand of its nodes by their profiles,
// in the order of the first node of each.
func (g *Gate) facts() facts {
	f, nodes := g.site.Facility, len(g.site.Inventory.Nodes)+len(g.site.Inventory.LeftOut) // they draw power and cool air, too
	counts := map[*profile.Profile]int{}
	var profiles []*profile.Profile
	for _, name := range slices.Concat(g.site.NodeNames(), g.site.Inventory.LeftOut) {
		p := g.site.ProfileOf(name, g.profile)
		if counts[p]++; counts[p] == 1 {
			profiles = append(profiles, p)
		}
	}
	of := func(b site.Budget, each func(profile.Node) profile.Figure) budget {
		out := budget{Provided: b.Provided.Value, Reserve: b.Reserve}
		var sources []string
		for _, p := range profiles {
			figure := each(p.Node)
			out.Demand += figure.Value * float64(counts[p])
			if !slices.Contains(sources, figure.Source) {
				sources = append(sources, figure.Source)
			}
		}
		out.Source = strings.Join(sources, "; ")
		return out
	}
	return facts{
		SignOff: f.SignOff, Nodes: nodes,
		Power:   of(f.Power, func(n profile.Node) profile.Figure { return n.Power }),
		Cooling: of(f.Cooling, func(n profile.Node) profile.Figure { return n.Heat }),
		Weight:  of(f.Weight, func(n profile.Node) profile.Figure { return n.Weight }),
	}
}

// Observe implements check.Check.
func (g *Gate) Observe(ctx context.Context, rec check.Recorder) error {
	observer := check.Observer{Recorder: rec, Clock: g.deps.Clock}
	if err := observer.Begin(kindFacility, "site "+g.site.Name, "site file, facility").Record(g.facts(), nil); err != nil {
		return err
	}
	for _, r := range g.site.Facility.Redfish {
		rec.Progress("reading power from %s", r.Name)
		attempt := observer.Begin(kindRedfish, r.Name, "GET "+r.URL+"/redfish/v1/ (PowerEquipment/RackPDUs, Chassis/*/Power)")
		reading, err := g.deps.Read(ctx, r)
		if err := attempt.Record(reading, err); err != nil {
			return err
		}
	}
	return nil
}
