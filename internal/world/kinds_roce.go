package world

import "time"

// The kinds of fabric of FaultKind.Fabric.
const (
	InfiniBand = "infiniband"
	RoCE       = "roce"
	EFA        = "efa"
)

// fabricKind is the kind of the cluster's compute fabric; empty without one.
func (s State) fabricKind() string {
	switch {
	case len(s.Links) == 0:
		return ""
	case s.Hardware.Fabric.Ethernet != nil:
		return RoCE
	case s.Hardware.Fabric.EFA != nil:
		return EFA
	default:
		return InfiniBand
	}
}

// Hardware is a kind of hardware that has what the fault needs: the default one, unless the fault
// needs another fabric, or NVLink between nodes.
func (k FaultKind) Hardware() string {
	if k.MultiNode {
		return "gb200-nvl72-ndr400"
	}
	switch k.Fabric {
	case RoCE:
		return "h100-sxm-roce400"
	case EFA:
		return "h200-sxm-efa-p5en"
	default:
		return DefaultHardware
	}
}

func roceFaults() []FaultKind {
	return []FaultKind{
		{
			Kind: "pfc-off", Gate: "fabric", Fabric: RoCE, TargetForm: FormNode, DefaultTarget: "gpu-02",
			Summary: "priority flow control is off on the ports of a host, as after a reboot without a persistent configuration", Suspect: `^{node}/`,
			apply: func(d *draft, t target, _ Fault) {
				for i := range d.Nodes[t.node].HCAs {
					d.Nodes[t.node].HCAs[i].Ethernet.PFC = [8]bool{}
				}
			},
		},
		{
			Kind: "netdev-mtu", Gate: "fabric", Fabric: RoCE, TargetForm: FormNode, DefaultTarget: "gpu-02",
			Summary: "the network devices of a host have another MTU: RDMA has 1024 bytes, or peers drop its packets",
			Options: []FaultOption{{Name: "mtu", Default: "1500", Values: []string{"1500", "4200"}, Summary: "bytes"}},
			Suspect: `^{node}/`,
			apply: func(d *draft, t target, f Fault) {
				for i := range d.Nodes[t.node].HCAs {
					d.Nodes[t.node].HCAs[i].Ethernet.MTU = int(f.number("mtu"))
				}
			},
		},
		{
			Kind: "gid-missing", Gate: "fabric", Fabric: RoCE, TargetForm: FormHCA, DefaultTarget: "gpu-02/mlx5_3",
			Summary: "the GID table of a port lacks the address of its network device", Suspect: `^{target}$`,
			apply: func(d *draft, t target, _ Fault) { d.hca(t).Ethernet.NoGID = true },
		},
		{
			Kind: "pause-storm", Gate: "fabric", Fabric: RoCE, TargetForm: FormHCA, DefaultTarget: "gpu-02/mlx5_3",
			Summary: "the switch pauses a port without load",
			Options: []FaultOption{{Name: "part", Default: "0.4", Min: 0.06, Max: 1, Summary: "part of the time that the port is paused"}},
			Suspect: `^{target}$`,
			apply: func(d *draft, t target, f Fault) {
				d.hca(t).Ethernet.Paused = time.Duration(float64(max(0, d.Now.Sub(f.Since))) * f.number("part"))
			},
		},
		{
			Kind: "ecn-off", Gate: "fabric", Fabric: RoCE, TargetForm: FormHCA, DefaultTarget: "gpu-02/mlx5_3",
			Summary: "a port neither answers marked packets nor slows down", Suspect: `^{target}$`,
			apply: func(d *draft, t target, _ Fault) { d.hca(t).Ethernet.ECN = [8]bool{} },
		},
		{
			Kind: "dscp-not-trusted", Gate: "fabric", Fabric: RoCE, TargetForm: FormHCA, DefaultTarget: "gpu-02/mlx5_3",
			Summary: "a port takes priorities from VLAN tags, which RDMA traffic does not have", Suspect: `^{target}$`,
			apply: func(d *draft, t target, _ Fault) { d.hca(t).Ethernet.TrustDSCP = false },
		},
	}
}
