package telemetry

import (
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance/dra/allocation"
	"github.com/firstlight/firstlight/internal/conformance/dra/inventory"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/site"
)

// claimed gives a load the claims of the series that follow it.
func claimed(f *loadFigures, s *seriesFigures) *allocation.Figures {
	c := &allocation.Figures{Class: site.DRADeviceClass, Pods: f.Nodes, GPUs: map[string][]inventory.GPU{}}
	for _, one := range s.Series {
		if one.Util > 50 {
			pod := "load-" + one.Host
			c.GPUs[pod] = append(c.GPUs[pod], inventory.GPU{Pool: one.Host, Device: "gpu-" + one.GPU, UUID: one.UUID})
		}
	}
	return c
}

// The series that follow a load are those of the GPUs that claims allocate to its pods: that as many
// series follow does not show it.
func TestClaims(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change  func(load *loadFigures, s *seriesFigures)
		verdict check.Verdict
		suspect string
		says    string
	}{
		"healthy":   {func(*loadFigures, *seriesFigures) {}, check.Passed, "", ""},
		"no claims": {func(l *loadFigures, _ *seriesFigures) { l.Claims = nil }, check.Unobserved, "the load", "its pods claimed no GPUs"},
		"unread":    {func(l *loadFigures, _ *seriesFigures) { l.Claims.Unread = "forbidden" }, check.Unobserved, "ResourceClaims", "forbidden"},
		"a pod without claim": {func(l *loadFigures, _ *seriesFigures) {
			l.Claims.Pods = map[string]string{}
			l.Claims.GPUs = map[string][]inventory.GPU{}
		}, check.Unobserved, "ResourceClaim of pod load-gpu-02", "was not read"},
		"another GPU of the node": {func(_ *loadFigures, s *seriesFigures) {
			for i := range s.Series { // as many follow as before
				for k := range s.Series {
					if a, b := &s.Series[i], &s.Series[k]; a.Host == "gpu-01" && b.Host == "gpu-01" && a.Util > 50 && b.Util < 50 {
						a.UUID, b.UUID = b.UUID, a.UUID
						return
					}
				}
			}
		}, check.Failed, "gpu-01", "claim"},
		"a GPU without a series": {func(l *loadFigures, _ *seriesFigures) { l.Claims.GPUs["load-gpu-02"][0].UUID = "GPU-other" }, check.Failed, "gpu-02", "claim"},
		"more GPUs": {func(l *loadFigures, _ *seriesFigures) {
			l.Claims.GPUs["load-gpu-02"] = append(l.Claims.GPUs["load-gpu-02"], inventory.GPU{Pool: "gpu-02", Device: "gpu-9", UUID: "GPU-more"})
		}, check.Failed, "ResourceClaim of pod load-gpu-02", "want"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := gate(t)
			g.site.Spine, g.site.GPUStack.DeviceClass, g.gang.DeviceClass = "kubernetes", site.DRADeviceClass, site.DRADeviceClass
			f := healthy(g)
			partial, whole := loadOf(g.rounds()[0]), loadOf(g.whole())
			partial.Claims, whole.Claims = claimed(partial, f.partial), claimed(whole, f.loaded)
			tt.change(partial, f.partial)
			f.partialLoad, f.load = partial, whole
			j := plan.Judge(g, f.observations(t))
			if j.Verdict != tt.verdict {
				t.Fatalf("%s: %s %+v", j.Verdict, j.Reason, j.Findings)
			}
			for _, finding := range j.Findings {
				if finding.Suspect == tt.suspect && strings.Contains(finding.Message, tt.says) {
					return
				}
			}
			if tt.suspect != "" {
				t.Errorf("no finding %q %q: %+v", tt.suspect, tt.says, j.Findings)
			}
		})
	}
}

// A node has one message about its GPUs without series, and a replay gives the same: the one of the map's
// first key was another one at each reading.
func TestTheDefectOfANodeIsTheSameAtEachReading(t *testing.T) {
	t.Parallel()
	load := loadFigures{Nodes: map[string]string{"load": "gpu-01"}, Claims: &allocation.Figures{GPUs: map[string][]inventory.GPU{}}}
	for _, uuid := range []string{"GPU-4", "GPU-2", "GPU-3", "GPU-1", "GPU-6", "GPU-5", "GPU-8", "GPU-7"} {
		load.Claims.GPUs["load"] = append(load.Claims.GPUs["load"], inventory.GPU{UUID: uuid})
	}
	g := gate(t)
	for range 100 {
		found := g.claimDefects(load, seriesFigures{})
		if len(found) != 1 || !strings.HasPrefix(found[0].message, "GPU GPU-1 of gpu-01") {
			t.Fatalf("%+v", found)
		}
	}
}
