package autoscale

import (
	"testing"

	"github.com/firstlight/firstlight/internal/site"
)

func TestRation(t *testing.T) {
	t.Parallel()
	a := site.Autoscale{GPUsPerReplica: 1, LoadGPUs: 4, MinReplicas: 1, MaxReplicas: 3}
	for name, tt := range map[string]struct {
		free int
		stay bool
		want ration
	}{
		"plenty":                 {16, false, ration{replica: 1, load: 4}},
		"three":                  {3, false, ration{replica: 1, load: 2}},
		"one":                    {1, false, ration{replica: 1, load: 1, turns: true}},
		"none":                   {0, false, ration{replica: 1, load: 4}},
		"plenty, and they stay":  {16, true, ration{replica: 1, load: 4}},
		"just enough to stay":    {5, true, ration{replica: 1, load: 1}},
		"too few to hold any":    {4, true, ration{load: 3, why: "-"}},
		"one GPU, and they stay": {1, true, ration{load: 1, turns: true, why: "-"}},
	} {
		got := rationOf(tt.free, a, tt.stay)
		if (got.why == "") != (tt.want.why == "") {
			t.Errorf("%s: %q", name, got.why)
		}
		got.why = tt.want.why
		if got != tt.want {
			t.Errorf("%s: %+v, want %+v", name, got, tt.want)
		}
	}
}
