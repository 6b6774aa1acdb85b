package nodeprofile

import (
	"strconv"

	"github.com/firstlight/firstlight/internal/recipe/model"
)

// Labels that GPU feature discovery writes of the GPUs that the profile says the
// node has.
const (
	productLabel = "nvidia.com/gpu.product"
	countLabel   = "nvidia.com/gpu.count"
	memoryLabel  = "nvidia.com/gpu.memory"
)

// found adds what GPU feature discovery finds, which comes with the component that
// brings the GPUs. What the profile itself says under discovered stays.
func found(s *Shape, gpu *model.NodeGPU) {
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
