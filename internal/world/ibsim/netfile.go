package ibsim

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/firstlight/firstlight/internal/world/fabric"
)

// speeds are the names of the lane rates that ibsim has, by signalling rate in Gb/s.
var speeds = map[float64]string{25.78125: "EDR", 53.125: "HDR"}

// netfile is a fabric in the format of ibnetdiscover, which ibsim reads. A node's name is its
// description: "leaf-0", or "gpu-02 mlx5_3" as hosts set it.
func netfile(t fabric.Topology) ([]byte, error) {
	ports := map[string]map[int]string{}
	var errs []error
	place := func(at, to fabric.End, l fabric.Link) {
		speed, ok := speeds[l.LaneGbps]
		if !ok {
			errs = append(errs, fmt.Errorf("link %s to %s: ibsim has no lanes of %g Gb/s", l.A.Name(), l.B.Name(), l.LaneGbps))
		}
		name := nodeName(at)
		if ports[name] == nil {
			ports[name] = map[int]string{}
		}
		ports[name][at.Port] = fmt.Sprintf("[%d] %q[%d] # %q lid 0 %dx%s\n", at.Port, nodeName(to), to.Port, nodeName(to), l.Width, speed)
	}
	for _, l := range t.Links {
		place(l.A, l.B, l)
		place(l.B, l.A, l)
	}
	var b bytes.Buffer
	node := func(kind string, guid uint64, name string, n int) {
		fmt.Fprintf(&b, "\n%sguid=0x%x\n%s %d %q\n", map[string]string{"Switch": "switch", "Ca": "ca"}[kind], guid, kind, n, name)
		for p := 1; p <= n; p++ {
			b.WriteString(ports[name][p])
		}
	}
	for _, h := range t.HCAs {
		node("Ca", h.GUID-1, nodeName(fabric.End{Node: h.Node, Device: h.Name}), 1) // its port has the next GUID
	}
	for _, s := range t.Switches {
		node("Switch", s.GUID, s.Name, s.Ports)
	}
	return b.Bytes(), errors.Join(errs...)
}

// nodeName is the description of an end's node.
func nodeName(e fabric.End) string {
	if e.Device == "" {
		return e.Node
	}
	return e.Node + " " + e.Device
}
