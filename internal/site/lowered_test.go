package site_test

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// A site file that watched counters for a millisecond, measured the 99th percentile of one
// request, and trained on one node of four, passed like any other.
func TestLowered(t *testing.T) {
	t.Parallel()
	p, err := profile.Load("h100-sxm-ndr400")
	if err != nil {
		t.Fatal(err)
	}
	of := map[string]func(*site.Site) []string{
		"facility":  (*site.Site).LoweredFacility,
		"health":    (*site.Site).LoweredHealth,
		"fabric":    (*site.Site).LoweredFabric,
		"node":      (*site.Site).LoweredNode,
		"training":  func(s *site.Site) []string { return s.LoweredTraining(p) },
		"telemetry": (*site.Site).LoweredTelemetry,
		"autoscale": (*site.Site).LoweredAutoscale,
		"inference": func(s *site.Site) []string { return s.LoweredInference(p) },
	}
	for name, tt := range map[string]struct {
		gate  string
		lower func(*site.Site)
		want  []string
	}{
		"a facility observed": {"facility", func(*site.Site) {}, nil},
		"a facility declared": {"facility", func(s *site.Site) { s.Facility.Redfish = nil }, []string{"facility.redfish names no PDU and no chassis: that power is on is declared, and not observed"}},
		"an idle controller": {"facility", func(s *site.Site) {
			s.Facility.Redfish[0].PDUs, s.Facility.Redfish[0].Chassis = nil, nil
		}, []string{"facility.redfish names no PDU and no chassis: that power is on is declared, and not observed"}},
		"health as demanded":     {"health", func(*site.Site) {}, nil},
		"a default of health":    {"health", func(s *site.Site) { s.Validation = nil }, nil},
		"a long wait for health": {"health", func(s *site.Site) { s.Validation.HealthWithin = site.Duration(time.Hour) }, []string{"validation.healthWithin is 1h0m0s, the ceiling is 10m0s"}},
		"no checkpoints":         {"training", func(s *site.Site) { s.Workloads.Training.Checkpoint = nil }, []string{"workloads.training.checkpoint is not set: that jobs can write checkpoints is not proven"}},
		"a fabric as demanded":   {"fabric", func(*site.Site) {}, nil},
		"a training as demanded": {"training", func(*site.Site) {}, nil},
		"an inference demanded":  {"inference", func(*site.Site) {}, nil},
		"more than is demanded":  {"training", func(s *site.Site) { s.Workloads.Training.MinMFU = 0.5 }, nil},
		"IMEX on hosts":          {"node", func(s *site.Site) { s.NVLink.IMEX = site.IMEXOnHost }, nil},
		"IMEX of jobs":           {"node", func(s *site.Site) { s.NVLink.IMEX = site.IMEXByDRA }, nil},
		"no IMEX":                {"node", func(s *site.Site) { s.NVLink.IMEX = site.IMEXNone }, []string{"nvlink.imex says none: that jobs can use NVLink between nodes is not proven"}},
		"a shorter soak":         {"fabric", func(s *site.Site) { s.Fabric.Soak = site.Duration(time.Millisecond) }, []string{"fabric.soak is 1ms, the floor is 10m0s"}},
		"less MFU":               {"training", func(s *site.Site) { s.Workloads.Training.MinMFU = 0.0001 }, []string{"workloads.training.minMFU is 0.0001, the profile's is 0.36"}},
		"a part of the nodes":    {"training", func(s *site.Site) { s.Workloads.Training.Nodes = 1 }, []string{"workloads.training.nodes is 1, the inventory has 4"}},
		"a percentile of one":    {"inference", func(s *site.Site) { s.Workloads.Inference.Requests = 1 }, []string{"workloads.inference.requests is 1, the floor is 100"}},
		"a slower first token":   {"inference", func(s *site.Site) { s.Workloads.Inference.TTFTp99 = site.Duration(time.Minute) }, []string{"workloads.inference.ttftP99 is 1m0s, the profile's is 500ms"}},
		"slower tokens after it": {"inference", func(s *site.Site) { s.Workloads.Inference.TPOTp99 = site.Duration(time.Minute) }, []string{"workloads.inference.tpotP99 is 1m0s, the profile's is 50ms"}},
		"pauses between tokens":  {"inference", func(s *site.Site) { s.Workloads.Inference.ITLp99 = site.Duration(time.Minute) }, []string{"workloads.inference.itlP99 is 1m0s, the profile's is 250ms"}},
		"a prefix of one word":   {"inference", func(s *site.Site) { s.Workloads.Inference.GoldenPrefix = " Paris" }, []string{"workloads.inference.goldenPrefix has 1 of at least 5 words"}},
		"fewer steps":            {"training", func(s *site.Site) { s.Workloads.Training.Steps = 30 }, []string{"workloads.training.steps is 30, the floor is 60"}},
		"a lower rate":           {"inference", func(s *site.Site) { s.Workloads.Inference.Rate = 0.5 }, []string{"workloads.inference.rate is 0.5, the floor is 10"}},
		"fewer at a time":        {"inference", func(s *site.Site) { s.Workloads.Inference.Concurrency = 1 }, []string{"workloads.inference.concurrency is 1, the floor is 21"}},
		"shorter prompts":        {"inference", func(s *site.Site) { s.Workloads.Inference.InputTokens = 1 }, []string{"workloads.inference.inputTokens is 1, the floor is 256"}},
		"shorter answers":        {"inference", func(s *site.Site) { s.Workloads.Inference.OutputTokens = 2 }, []string{"workloads.inference.outputTokens is 2, the floor is 32"}},
		"telemetry as demanded":  {"telemetry", func(*site.Site) {}, nil},
		"rarer samples":          {"telemetry", func(s *site.Site) { s.Telemetry.ScrapeInterval = site.Duration(time.Hour) }, []string{"telemetry.scrapeInterval is 1h0m0s, the ceiling is 1m0s"}},
		"a chain as demanded":    {"autoscale", func(*site.Site) {}, nil},
		"a shorter window":       {"autoscale", func(s *site.Site) { s.Autoscale.Window = site.Duration(time.Second) }, []string{"autoscale.window is 1s, the floor is 10s"}},
		"no gang":                {"autoscale", func(s *site.Site) { s.Autoscale.Gang = 1 }, []string{"autoscale.gang is 1, the floor is 2"}},
		"a slow sync of the HPA": {"autoscale", func(s *site.Site) {
			s.Autoscale.Settings = map[string]site.Duration{"hpa-sync": site.Duration(time.Hour), "scrape-interval": site.Duration(time.Minute), "consolidate-after": site.Duration(time.Hour)}
		}, []string{"autoscale.settings.consolidate-after is 1h0m0s, the ceiling is 10m0s", "autoscale.settings.hpa-sync is 1h0m0s, the ceiling is 15s"}},
		"a faster token is fine":  {"inference", func(s *site.Site) { s.Workloads.Inference.TPOTp99 = site.Duration(time.Millisecond) }, nil},
		"a longer soak is better": {"fabric", func(s *site.Site) { s.Fabric.Soak = site.Duration(time.Hour) }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := site.Parse("example", site.Example())
			if err != nil {
				t.Fatal(err)
			}
			tt.lower(s)
			if got := of[tt.gate](s); !slices.Equal(got, tt.want) {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

// A floor has a value, a unit and a source.
func TestEveryFloorHasItsSource(t *testing.T) {
	t.Parallel()
	floors, err := site.LoadFloors()
	if err != nil {
		t.Fatal(err)
	}
	all := reflect.ValueOf(floors)
	figures := map[string]profile.Figure{}
	for i := range all.NumField() {
		name := all.Type().Field(i).Name
		if name != "Settings" {
			figures[name], _ = all.Field(i).Interface().(profile.Figure)
		}
	}
	for _, name := range site.AutoscaleSettings() {
		figures[name] = floors.Settings[name]
	}
	for name, f := range figures {
		if f.Value <= 0 || f.Unit == "" || f.Source == "" {
			t.Errorf("%s: %+v", name, f)
		}
	}
	if known := site.AutoscaleSettings(); len(floors.Settings) != len(known) {
		t.Errorf("%d ceilings of settings, want those of %v", len(floors.Settings), known)
	}
}
