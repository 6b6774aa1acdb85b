package site

import (
	"fmt"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/profile"
)

// LoweredFabric are the demands of gate fabric that the site has set below the floor.
func (s *Site) LoweredFabric() []string {
	floors, err := LoadFloors()
	if err != nil {
		return []string{err.Error()}
	}
	least := time.Duration(floors.Soak.Value * float64(time.Second))
	if s.Fabric.Soak.D() < least {
		return []string{fmt.Sprintf("fabric.soak is %s, the floor is %s", s.Fabric.Soak.D(), least)}
	}
	return nil
}

// LoweredTraining are those of gate training.
func (s *Site) LoweredTraining(p *profile.Profile) []string {
	var out []string
	t := s.Workloads.Training
	if t.MinMFU > 0 && t.MinMFU < p.Training.MinMFU.Value {
		out = append(out, fmt.Sprintf("workloads.training.minMFU is %g, the profile's is %g", t.MinMFU, p.Training.MinMFU.Value))
	}
	if all := len(s.Inventory.Nodes); t.Nodes < all {
		out = append(out, fmt.Sprintf("workloads.training.nodes is %d, the inventory has %d", t.Nodes, all))
	}
	return out
}

// LoweredInference are those of gate inference.
func (s *Site) LoweredInference(p *profile.Profile) []string {
	floors, err := LoadFloors()
	if err != nil {
		return []string{err.Error()}
	}
	var out []string
	i := s.Workloads.Inference
	if least := int(floors.Requests.Value); i.Requests < least {
		out = append(out, fmt.Sprintf("workloads.inference.requests is %d, the floor is %d", i.Requests, least))
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
