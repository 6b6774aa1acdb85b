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

// Plateau returns the bus bandwidth (GB/s) of a 16 GiB all_reduce without noise.
func (r Run) Plateau() float64 {
	c, err := loadCurve()
	if err != nil {
		return 0
	}
	nvls, slow := true, 1.0
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
	return r.acrossNodes(nvls, c.WithoutNVLS) / slow
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
	share := 1.0
	for _, n := range r.Nodes {
		ports := r.hcas(n)
		if len(ports) == 0 {
			return f.SocketGBps
		}
		slowest := f.RailGBps
		for _, p := range ports {
			slowest = min(slowest, float64(p.Gbps)/8)
		}
		share = min(share, slowest*float64(len(ports))/(f.RailGBps*float64(len(n.HCAs))))
	}
	for _, n := range r.Nodes {
		if !n.GPUDirect {
			return healthy * min(share, f.NoGPUDirectFactor)
		}
	}
	return healthy * share
}

// latency of a small message in seconds.
func (r Run) latency() float64 {
	us := r.Fabric.NodeLatencyUs + r.Fabric.RailLatencyUs*math.Log2(float64(len(r.Nodes)))
	return us * 1e-6
}

// seconds of an all_reduce of size bytes, without noise.
func (r Run) seconds(c curve, plateau float64, size int64) float64 {
	s := c.ManyNodes
	if len(r.Nodes) == 1 {
		s = c.OneNode
	}
	ratio := float64(referenceBytes) / float64(size)
	busbw := plateau * (1 + s.Tail) / (1 + s.Tail*math.Pow(ratio, s.Power))
	return r.latency() + r.busFactor()*float64(size)/(busbw*1e9)
}

// busFactor is busbw/algbw of an all_reduce: 2(n-1)/n.
func (r Run) busFactor() float64 {
	n := float64(r.Ranks())
	return 2 * (n - 1) / n
}
