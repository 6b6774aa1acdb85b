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
		"plenty":                 {16, false, ration{replica: 1, load: 4, least: 1, most: 3}},
		"three":                  {3, false, ration{replica: 1, load: 2, least: 1, most: 3}},
		"one":                    {1, false, ration{replica: 1, load: 1, least: 1, most: 3, turns: true}},
		"none":                   {0, false, ration{replica: 1, load: 4, least: 1, most: 3}},
		"plenty, and they stay":  {16, true, ration{replica: 1, load: 4, least: 1, most: 3}},
		"just enough to stay":    {5, true, ration{replica: 1, load: 1, least: 1, most: 3}},
		"two replicas fit":       {4, true, ration{replica: 1, load: 1, least: 1, most: 2}},
		"too few to hold any":    {3, true, ration{load: 2, least: 1, most: 3, why: "-"}},
		"one GPU, and they stay": {1, true, ration{load: 1, least: 1, most: 3, turns: true, why: "-"}},
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

// Three nodes of 8 GPUs have no room for three replicas of 8, but for two, or for two of 1.
func TestLargeReplicasBecomeFewerAndSmaller(t *testing.T) {
	t.Parallel()
	a := site.Autoscale{GPUsPerReplica: 8, LoadGPUs: 4, MinReplicas: 2, MaxReplicas: 3}
	for free, want := range map[int]ration{
		26: {replica: 8, load: 1, least: 2, most: 3},
		24: {replica: 8, load: 4, least: 1, most: 2},
		17: {replica: 1, load: 4, least: 1, most: 2},
	} {
		if got := rationOf(free, a, true); got != want {
			t.Errorf("%d free: %+v, want %+v", free, got, want)
		}
	}
}
