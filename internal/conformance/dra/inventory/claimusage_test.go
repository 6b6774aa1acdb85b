package inventory

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/probe/kube"
)

// A node offers the GPUs of its slices; a node that is not open offers none. GPUs that claims or
// pods of the device plugin hold are not free.
func TestClaimUsage(t *testing.T) {
	t.Parallel()
	holders := []string{"claim team/one", "pod team/train"}
	held := []kube.Holder{{Pod: holders[0]}, {Pod: holders[1]}}
	for name, tt := range map[string]struct {
		gpus NodeGPUs
		want kube.Usage
		free int
	}{
		"free":     {NodeGPUs{Open: true, Offered: 8}, kube.Usage{Allocatable: 8}, 8},
		"held":     {NodeGPUs{Open: true, Offered: 8, Allocated: 2, Holders: holders[:1]}, kube.Usage{Allocatable: 8, Requested: 2, Holders: held[:1]}, 6},
		"plugged":  {NodeGPUs{Open: true, Offered: 8, Allocated: 2, Plugged: 1, Holders: holders}, kube.Usage{Requested: 3, Holders: held}, 0},
		"cordoned": {NodeGPUs{Offered: 8}, kube.Usage{}, 0},
		"nothing":  {NodeGPUs{Open: true}, kube.Usage{}, 0},
	} {
		got := tt.gpus.usage()
		if diff := cmp.Diff(tt.want, got); diff != "" || got.Free() != tt.free {
			t.Errorf("%s: %d free (-want +got):\n%s", name, got.Free(), diff)
		}
	}
}
