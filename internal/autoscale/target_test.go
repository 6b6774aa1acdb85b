package autoscale

import (
	"math"
	"testing"

	"github.com/firstlight/firstlight/internal/profile"
)

// For all settings an idle GPU gives the minimum of replicas, and the load gives more.
func TestTarget(t *testing.T) {
	t.Parallel()
	h100 := profile.GPU{TDP: profile.Figure{Value: 700}, IdlePower: &profile.Figure{Value: 75}}
	for name, tt := range map[string]struct {
		gpu               profile.GPU
		load, least, most int
		want              float64 // replicas under load
	}{
		"the default":        {h100, 4, 1, 3, 3},
		"one GPU of load":    {h100, 1, 1, 3, 3},
		"two replicas":       {h100, 4, 1, 2, 2},
		"many replicas":      {h100, 8, 1, 5, 5},
		"from two":           {h100, 4, 2, 4, 4},
		"a profile of old":   {profile.GPU{TDP: profile.Figure{Value: 700}}, 4, 1, 3, 3},
		"beyond what it can": {h100, 1, 1, 50, 4},
	} {
		target := targetOf(tt.gpu, tt.load, tt.least, tt.most)
		idle := 0.15 * tt.gpu.TDP.Value
		if tt.gpu.IdlePower != nil {
			idle = tt.gpu.IdlePower.Value
		}
		if idle > target*float64(tt.least) {
			t.Errorf("%s: target %v, an idle GPU of %v W needs more than %d replicas", name, target, idle, tt.least)
		}
		loaded := (idle + float64(tt.load)*0.95*tt.gpu.TDP.Value) / float64(tt.load+1)
		if got := min(math.Ceil(loaded/target), float64(tt.most)); got != tt.want {
			t.Errorf("%s: target %v, %v W under load need %v replicas, want %v", name, target, loaded, got, tt.want)
		}
	}
}
