package collective

import (
	"bytes"
	_ "embed"
	"fmt"
	"math"

	"go.yaml.in/yaml/v3"
)

//go:embed curve.yaml
var curveYAML []byte

type curve struct {
	OneNode     shape   `yaml:"oneNode"`
	ManyNodes   shape   `yaml:"manyNodes"`
	Noise       float64 `yaml:"noise"`
	WithoutNVLS float64 `yaml:"withoutNVLS"`
	// Gathered, Exchanged and Shifted are the part of the rails' rate that such programs reach.
	Gathered  float64 `yaml:"gathered"`
	Exchanged float64 `yaml:"exchanged"`
	Shifted   float64 `yaml:"shifted"`
	// OverNVLink is the part of the rate in a node of programs other than all_reduce_perf over NVLink between nodes.
	OverNVLink float64 `yaml:"overNVLink"`
	// Reduced is the same of an all-reduce of nodes whose NVLink between them is not used.
	Reduced float64 `yaml:"reduced"`
}

type shape struct {
	Tail  float64 `yaml:"tail"`
	Power float64 `yaml:"power"`
}

const referenceBytes = 16 << 30

func loadCurve() (curve, error) {
	var c curve
	dec := yaml.NewDecoder(bytes.NewReader(curveYAML))
	dec.KnownFields(true)
	if err := dec.Decode(&c); err != nil {
		return curve{}, fmt.Errorf("decode bandwidth curve: %w", err)
	}
	return c, nil
}

// Plateau returns the bus bandwidth (GB/s) of 16 GiB without noise.
func (r Run) Plateau() float64 {
	c, err := loadCurve()
	if err != nil {
		return 0
	}
	nvls, slow := r.program().pattern == reduced, 1.0
	for _, n := range r.Nodes {
		nvls = nvls && n.NVLS
		slow = max(slow, n.Slow)
	}
	f := r.Fabric
	if len(r.Nodes) == 1 {
		if nvls {
			return f.NVLSGBps / slow
		}
		return f.NVLinkGBps / slow
	}
	if r.program().pattern != reduced {
		return r.others(c) / slow
	}
	if r.fellBack() {
		share, _ := r.share()
		return c.Reduced * f.RailGBps * float64(len(r.Nodes[0].HCAs)) * share / slow
	}
	return r.acrossNodes(nvls, c.WithoutNVLS) / slow
}

// others is the bandwidth of programs other than all_reduce_perf between nodes.
func (r Run) others(c curve) float64 {
	f, node := r.Fabric, r.Nodes[0]
	rails, gpus := f.RailGBps*float64(len(node.HCAs)), float64(len(node.Devices))
	share, connected := r.share()
	if f.ManyNodesGBps > rails && !r.fellBack() { // NVLink connects the nodes
		return c.OverNVLink * f.NVLinkGBps
	}
	if !connected {
		return f.SocketGBps
	}
	n := float64(r.Ranks())
	switch r.program().pattern {
	case exchanged:
		busbw := c.Exchanged * rails / gpus * (n - 1) / (n - gpus)
		if r.Uplinks > 0 && len(r.Nodes) > 2 { // the traffic of a pair fits into this part
			share *= r.Uplinks
		}
		return busbw * share
	case shifted:
		return c.Shifted * rails / gpus * share
	default:
		return min(c.Gathered*rails, f.NVLinkGBps) * share
	}
}

// share is the part of the rails' rate that the slowest node has; connected is false for sockets.
func (r Run) share() (share float64, connected bool) {
	f := r.Fabric
	share = 1.0
	for _, n := range r.Nodes {
		ports := r.hcas(n)
		if len(ports) == 0 {
			return 0, false
		}
		slowest := f.RailGBps
		for _, p := range ports {
			rate := float64(p.Gbps) / 8
			if p.Part > 0 {
				rate *= p.Part
			}
			slowest = min(slowest, rate)
		}
		share = min(share, slowest*float64(len(ports))/(f.RailGBps*float64(len(n.HCAs))))
	}
	for _, n := range r.Nodes {
		if !n.GPUDirect {
			return min(share, f.NoGPUDirectFactor), true
		}
	}
	return share, true
}

// acrossNodes is bounded by the slowest rail: every ring crosses every node, and data is split
// evenly over the rails.
func (r Run) acrossNodes(nvls bool, withoutNVLS float64) float64 {
	f := r.Fabric
	healthy := f.ManyNodesGBps
	switch {
	case !nvls:
		healthy *= withoutNVLS
	case len(r.Nodes) == 2: // reduced within the node first: less data crosses the rails
		healthy = f.TwoNodeGBps
	case len(r.Nodes) == 3:
		healthy = math.Sqrt(f.TwoNodeGBps * f.ManyNodesGBps)
	}
	share, connected := r.share()
	if !connected {
		return f.SocketGBps
	}
	return healthy * share
}

// latency of a small message in seconds.
func (r Run) latency() float64 {
	us := r.Fabric.NodeLatencyUs + r.Fabric.RailLatencyUs*math.Log2(float64(len(r.Nodes)))
	return us * 1e-6
}

// seconds of a collective of size bytes, without noise.
func (r Run) seconds(c curve, plateau float64, size int64) float64 {
	s := c.ManyNodes
	if len(r.Nodes) == 1 {
		s = c.OneNode
	}
	ratio := float64(referenceBytes) / float64(size)
	busbw := plateau * (1 + s.Tail) / (1 + s.Tail*math.Pow(ratio, s.Power))
	return r.latency() + r.busFactor()*float64(size)/(busbw*1e9)
}

// busFactor is busbw/algbw of the program: 2(n-1)/n for all_reduce_perf.
func (r Run) busFactor() float64 {
	n := float64(r.Ranks())
	switch r.program().pattern {
	case reduced:
		return 2 * (n - 1) / n
	case shifted:
		return 1
	default:
		return (n - 1) / n
	}
}
