package corpus

import (
	"fmt"
	"strings"

	"github.com/firstlight/firstlight/internal/probe/nvidia"
)

// migOf is the MIG mode that was read, and each device's instances and memory.
func migOf(m *nvidia.MIG) string {
	if m == nil {
		return word("mig", "", "")
	}
	mode := func(on *bool) string {
		if on == nil {
			return ""
		}
		return map[bool]string{true: "Enabled", false: "Disabled"}[*on]
	}
	out := []string{word("mig", mode(m.Enabled), mode(m.Pending))}
	for _, d := range m.Devices {
		out = append(out, word("device", *d.GPUInstance, *d.ComputeInstance, fmt.Sprintf("%d MiB", *d.MemoryMiB)))
	}
	return strings.Join(out, "; ")
}

// migIn is the same in the text of a card.
func migIn(card string) string {
	cards := []string{card}
	out := []string{word("mig", perGPU(cards, `<current_mig>(.*?)<`)[0], perGPU(cards, `<pending_mig>(.*?)<`)[0])}
	for _, device := range strings.Split(card, "<mig_device>")[1:] {
		out = append(out, word("device", all(`<gpu_instance_id>(.*?)<`, device)[0], all(`<compute_instance_id>(.*?)<`, device)[0],
			all(`(?s)<fb_memory_usage>\s*<total>(.*?)<`, device)[0]))
	}
	return strings.Join(out, "; ")
}
