package nodeprofile

import (
	"strconv"

	"github.com/firstlight/firstlight/internal/recipe/model"
)

// Labels that GPU feature discovery sets.
const (
	productLabel = "nvidia.com/gpu.product"
	countLabel   = "nvidia.com/gpu.count"
	memoryLabel  = "nvidia.com/gpu.memory"
)

// addDiscoveredGPU adds the labels of GPU feature discovery to the component that provides the
// GPUs. Labels set in the profile take precedence.
func addDiscoveredGPU(s *Node, gpu *model.NodeGPU) {
	if gpu == nil {
		return
	}
	labels := map[string]string{productLabel: gpu.Product, countLabel: strconv.Itoa(gpu.Count)}
	if gpu.Memory > 0 {
		labels[memoryLabel] = strconv.Itoa(gpu.Memory)
	}
	for _, d := range s.Devices {
		if d.Use != UseGPU || d.From == FromProvider {
			continue
		}
		if s.Discovered[d.From] == nil {
			s.Discovered[d.From] = map[string]string{}
		}
		for k, v := range labels {
			if _, said := s.Discovered[d.From][k]; !said {
				s.Discovered[d.From][k] = v
			}
		}
	}
}
