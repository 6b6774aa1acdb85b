package nodeprofile

import (
	"testing"

	"github.com/firstlight/firstlight/internal/recipe/model"
)

func TestFeatureDiscoveryFindsTheProfilesGPUs(t *testing.T) {
	t.Parallel()
	gpu := &model.NodeGPU{Product: "NVIDIA-H200", Count: 8, Memory: 143771}
	s := &Node{
		Devices:    []Device{{Name: GPUResource, Use: UseGPU, From: "operator"}, {Name: "nic", Use: UseFabric, From: "plugin"}},
		Discovered: map[string]map[string]string{"operator": {countLabel: "4"}},
	}
	addDiscoveredGPU(s, gpu)
	got := s.Discovered["operator"]
	if got[productLabel] != "NVIDIA-H200" || got[memoryLabel] != "143771" {
		t.Errorf("discovered %v", got)
	}
	if got[countLabel] != "4" {
		t.Error("a value set by the profile was overwritten")
	}
	if len(s.Discovered) != 1 {
		t.Errorf("components that bring no GPUs discover them: %v", s.Discovered)
	}
	provided := &Node{Devices: []Device{{Use: UseGPU, From: FromProvider}}, Discovered: map[string]map[string]string{}}
	addDiscoveredGPU(provided, gpu)
	addDiscoveredGPU(&Node{}, nil)
	if len(provided.Discovered) != 0 {
		t.Errorf("GPUs of the provider are discovered by a component: %v", provided.Discovered)
	}
}
