package facility

import (
	"context"
	"fmt"
	"time"

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

// Deps is what observing needs; zero when the gate only judges.
type Deps struct {
	// Read reads one controller; redfish.Read when nil.
	Read func(ctx context.Context, r site.Redfish) (redfish.Reading, error)
	// Now is the clock; time.Now when nil.
	Now func() time.Time
}

// Gate is gate 1.
type Gate struct {
	site    *site.Site
	profile *profile.Profile
	deps    Deps
}

var _ check.Check = (*Gate)(nil)

// New makes the gate.
func New(s *site.Site, p *profile.Profile, deps Deps) *Gate {
	if deps.Read == nil {
		deps.Read = redfish.Read
	}
	if deps.Now == nil {
		deps.Now = time.Now
	}
	return &Gate{site: s, profile: p, deps: deps}
}

// Name implements check.Check.
func (g *Gate) Name() string { return Name }

// Describe says what would be run.
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

// budget is what is provided, less the reserve, against what is demanded.
type budget struct {
	Provided float64 `json:"provided"`
	Reserve  float64 `json:"reserve"`
	Demand   float64 `json:"demand"`
	Source   string  `json:"source"`
}

func (b budget) usable() float64 { return b.Provided * (1 - b.Reserve) }

// Observe implements check.Check.
func (g *Gate) Observe(ctx context.Context, rec check.Recorder) error {
	f, nodes := g.site.Facility, len(g.site.Inventory.Nodes)
	of := func(b site.Budget, each profile.Figure) budget {
		return budget{Provided: b.Provided.Value, Reserve: b.Reserve, Demand: each.Value * float64(nodes), Source: each.Source}
	}
	o := check.Observation{Kind: kindFacility, Target: "site " + g.site.Name, Command: "site file, facility", At: g.deps.Now()}
	o, err := o.WithFigures(facts{
		SignOff: f.SignOff, Nodes: nodes,
		Power: of(f.Power, g.profile.Node.Power), Cooling: of(f.Cooling, g.profile.Node.Heat), Weight: of(f.Weight, g.profile.Node.Weight),
	})
	if err != nil {
		return err //nolint:wrapcheck // names the observation
	}
	o.Raw = o.Figures
	if _, err := rec.Record(o); err != nil {
		return fmt.Errorf("record the facility: %w", err)
	}
	for _, r := range f.Redfish {
		if err := g.read(ctx, rec, r); err != nil {
			return err
		}
	}
	return nil
}

func (g *Gate) read(ctx context.Context, rec check.Recorder, r site.Redfish) error {
	rec.Progress("reading power from %s", r.Name)
	o := check.Observation{Kind: kindRedfish, Target: r.Name, Command: "GET " + r.URL + "/redfish/v1/ (PowerEquipment/RackPDUs, Chassis/*/Power)", At: g.deps.Now()}
	reading, err := g.deps.Read(ctx, r)
	o.Took = g.deps.Now().Sub(o.At)
	if err != nil {
		o.Err = err.Error()
	} else if o, err = o.WithFigures(reading); err != nil {
		return err //nolint:wrapcheck // names the observation
	}
	o.Raw = o.Figures
	if _, err := rec.Record(o); err != nil {
		return fmt.Errorf("record the power of %s: %w", r.Name, err)
	}
	return nil
}
