package exporter

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/world"
)

// Expose renders a node's GPUs in text exposition format. A non-zero time is printed on every
// sample.
func Expose(state world.State, node world.Node, at time.Time) []byte {
	var out bytes.Buffer
	stamp := ""
	if !at.IsZero() {
		stamp = fmt.Sprintf(" %d", at.UnixMilli())
	}
	var readings []reading
	var of []string // the labels of each reading
	for _, g := range node.GPUs {
		if g.Usable() {
			readings, of = append(readings, reading{node: &node, gpu: g}), append(of, labels(node, g))
		}
	}
	out.Grow(1<<10 + 256*len(families)*len(readings))
	for _, f := range families {
		header := false
		for i := range readings {
			value, ok := f.value(&readings[i])
			if !ok {
				continue
			}
			if !header {
				fmt.Fprintf(&out, "# HELP %s %s\n# TYPE %s %s\n", f.name, f.help, f.name, f.kind)
				header = true
			}
			for _, part := range []string{f.name, "{", of[i], "} ", value, stamp, "\n"} {
				out.WriteString(part)
			}
		}
	}
	return out.Bytes()
}

func labels(node world.Node, g world.GPU) string {
	var b strings.Builder
	if !node.Exporter.GPULabelDropped {
		fmt.Fprintf(&b, `gpu="%d",UUID="%s",`, g.Index, g.UUID)
	}
	// The remaining labels still distinguish the series.
	fmt.Fprintf(&b, `pci_bus_id="%s",device="nvidia%d",modelName="%s"`, longBus(g.BusID), g.Index, node.Hardware.GPU.Product)
	if !node.Exporter.HostLabelDropped {
		name := cmp.Or(node.Exporter.HostLabel, "Hostname")
		fmt.Fprintf(&b, `,%s="%s"`, name, cmp.Or(node.Exporter.HostName, node.Name))
	}
	fmt.Fprintf(&b, `,DCGM_FI_DRIVER_VERSION="%s"`, node.Driver)
	if p := occupant(node, g); p != (world.Pod{}) {
		fmt.Fprintf(&b, `,container="%s",namespace="%s",pod="%s"`, p.Container, p.Namespace, p.Name)
	}
	return b.String()
}

// occupant is the pod in a GPU's labels.
func occupant(node world.Node, g world.GPU) world.Pod {
	if !node.Exporter.PodShift {
		return g.Occupant
	}
	return node.GPUs[(g.Index+len(node.GPUs)-1)%len(node.GPUs)].Occupant
}

// longBus is 00000000:1B:00.0: DCGM prints an eight-digit domain.
func longBus(id string) string {
	domain, rest, ok := strings.Cut(id, ":")
	if !ok {
		return id
	}
	return fmt.Sprintf("%08s:%s", domain, rest)
}

// sameBus compares 0000:1B:00 with 0000:1B:00.0.
func sameBus(a, b string) bool {
	a, _, _ = strings.Cut(strings.ToLower(a), ".")
	b, _, _ = strings.Cut(strings.ToLower(b), ".")
	return a != "" && a == b
}
