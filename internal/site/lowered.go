package site

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/profile"
)

// LoweredFacility are the demands of gate facility that the site declares and no controller shows.
func (s *Site) LoweredFacility() []string {
	for _, r := range s.Facility.Redfish {
		if len(r.PDUs)+len(r.Chassis) > 0 {
			return nil
		}
	}
	return []string{"facility.redfish names no PDU and no chassis: that power is on is declared, and not observed"}
}

// LoweredFabric are the demands of gate fabric that the site has set below the floor.
func (s *Site) LoweredFabric() []string {
	floors, err := LoadFloors()
	if err != nil {
		return []string{err.Error()}
	}
	out := shorter("fabric.soak", s.Fabric.Soak, floors.Soak)
	if r := s.Fabric.RoCE; r != nil && len(r.Without) > 0 {
		out = append(out, "fabric.roce.without is "+strings.Join(r.Without, ", "))
	}
	return out
}

// LoweredTelemetry are those of gate telemetry.
func (s *Site) LoweredTelemetry() []string {
	floors, err := LoadFloors()
	if err != nil {
		return []string{err.Error()}
	}
	out := longer("telemetry.scrapeInterval", s.Telemetry.ScrapeInterval, floors.ScrapeInterval)
	a := s.Telemetry.Alert
	out = append(out, longer("telemetry.alert.ruleWithin", a.RuleWithin, floors.RuleWithin)...)
	if a.Through == ThroughAlertmanager {
		out = append(out, "telemetry.alert.through is alertmanager: that alert rules fire is not proven")
	}
	return out
}

// LoweredTraining are those of gate training.
func (s *Site) LoweredTraining(p *profile.Profile) []string {
	floors, err := LoadFloors()
	if err != nil {
		return []string{err.Error()}
	}
	var out []string
	t := s.Workloads.Training
	if t.MinMFU > 0 && t.MinMFU < p.Training.MinMFU.Value {
		out = append(out, fmt.Sprintf("workloads.training.minMFU is %g, the profile's is %g", t.MinMFU, p.Training.MinMFU.Value))
	}
	if all := len(s.Inventory.Nodes); t.Nodes < all {
		out = append(out, fmt.Sprintf("workloads.training.nodes is %d, the inventory has %d", t.Nodes, all))
	}
	out = append(out, below("workloads.training.steps", float64(t.Steps), floors.Steps)...)
	if t.Checkpoint == nil {
		out = append(out, "workloads.training.checkpoint is not set: that jobs can write checkpoints is not proven")
	}
	return out
}

// LoweredHealth are those of step health of the validation.
func (s *Site) LoweredHealth() []string {
	floors, err := LoadFloors()
	if err != nil {
		return []string{err.Error()}
	}
	return longer("validation.healthWithin", Duration(s.HealthWithin()), floors.HealthWithin)
}

// LoweredInference are those of gate inference.
func (s *Site) LoweredInference(p *profile.Profile) []string {
	floors, err := LoadFloors()
	if err != nil {
		return []string{err.Error()}
	}
	var out []string
	i := s.Workloads.Inference
	for _, demand := range []struct {
		key   string
		own   float64
		floor profile.Figure
	}{
		{"requests", float64(i.Requests), floors.Requests}, {"rate", i.Rate, floors.Rate}, {"concurrency", float64(i.Concurrency), floors.Concurrency},
		{"inputTokens", float64(i.InputTokens), floors.InputTokens}, {"outputTokens", float64(i.OutputTokens), floors.OutputTokens},
	} {
		out = append(out, below("workloads.inference."+demand.key, demand.own, demand.floor)...)
	}
	if words, least := len(strings.Fields(i.GoldenPrefix)), int(floors.GoldenWords.Value); words < least {
		out = append(out, fmt.Sprintf("workloads.inference.goldenPrefix has %d of at least %d words", words, least))
	}
	for _, objective := range []struct {
		key  string
		own  time.Duration
		most profile.Figure
	}{{"ttftP99", i.TTFTp99.D(), p.Inference.TTFTp99}, {"tpotP99", i.TPOTp99.D(), p.Inference.TPOTp99}, {"itlP99", i.ITLp99.D(), p.Inference.ITLp99}} {
		if most := time.Duration(objective.most.Value * float64(time.Millisecond)); objective.own > most {
			out = append(out, fmt.Sprintf("workloads.inference.%s is %s, the profile's is %s", objective.key, objective.own, most))
		}
	}
	return out
}

// LoweredAutoscale are those of the autoscaling chain.
func (s *Site) LoweredAutoscale() []string {
	floors, err := LoadFloors()
	if err != nil {
		return []string{err.Error()}
	}
	out := append(shorter("autoscale.window", s.Autoscale.Window, floors.Window), below("autoscale.gang", float64(s.Autoscale.Gang), floors.Gang)...)
	for _, name := range slices.Sorted(maps.Keys(s.Autoscale.Settings)) {
		out = append(out, longer("autoscale.settings."+name, s.Autoscale.Settings[name], floors.Settings[name])...)
	}
	return out
}

func below(key string, own float64, floor profile.Figure) []string {
	if own < floor.Value {
		return []string{fmt.Sprintf("%s is %g, the floor is %g", key, own, floor.Value)}
	}
	return nil
}

func shorter(key string, own Duration, floor profile.Figure) []string {
	if least := floor.Duration(); own.D() < least {
		return []string{fmt.Sprintf("%s is %s, the floor is %s", key, own.D(), least)}
	}
	return nil
}

func longer(key string, own Duration, ceiling profile.Figure) []string {
	if most := ceiling.Duration(); own.D() > most {
		return []string{fmt.Sprintf("%s is %s, the ceiling is %s", key, own.D(), most)}
	}
	return nil
}
