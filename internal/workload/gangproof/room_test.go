package gangproof

import (
	"testing"

	"github.com/firstlight/firstlight/internal/probe/kube"
)

func TestRoom(t *testing.T) {
	t.Parallel()
	nodes := []string{"gpu-01", "gpu-02", "gpu-03", "gpu-04"}
	usage := func(free ...int) map[string]kube.Usage {
		u := map[string]kube.Usage{}
		for i, n := range free {
			u[nodes[i]] = kube.Usage{Allocatable: 8, Requested: 8 - n}
		}
		return u
	}
	for name, tt := range map[string]struct {
		usage          map[string]kube.Usage
		fits, gpus, on int
	}{
		"all free":         {usage(8, 8, 8, 8), 4, 8, 4},
		"one held in part": {usage(8, 7, 8, 8), 3, 8, 3},
		"one free node":    {usage(0, 0, 8, 1), 2, 4, 1},
		"none":             {usage(7, 7, 7, 7), 0, 8, 0},
		"none known":       {nil, 0, 8, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if r := RoomIn(nodes, 8, tt.usage); r.Fits != tt.fits || r.GPUsPerPod != tt.gpus || len(r.Nodes) != tt.on {
				t.Errorf("%+v", r)
			}
			if pods, _ := RoomIn(nodes[:1], 1, tt.usage).Fitting(); pods < 2 {
				t.Errorf("a gang of %d pods", pods)
			}
		})
	}
}
