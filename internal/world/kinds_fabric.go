package world

import "github.com/firstlight/firstlight/internal/world/fabric"

func fabricFaults() []FaultKind {
	return []FaultKind{
		{
			Kind: "link-down", Gate: "fabric", TargetForm: FormLink, DefaultTarget: "gpu-02/mlx5_3",
			Summary: "a cable is unplugged or dead", Suspect: `{link}`,
			apply: func(d *draft, t target, _ Fault) {
				l := &d.Links[t.link]
				l.State, l.PhysState, l.LaneGbps, l.Width = fabric.StateDown, fabric.PhysPolling, 0, 0
				for _, c := range []*fabric.Counters{&l.CountersA, &l.CountersB} {
					c.LinkDownedCounter++
				}
			},
		},
		{
			Kind: "link-degraded", Gate: "fabric", TargetForm: FormLink, DefaultTarget: "gpu-02/mlx5_3",
			Summary: "a link is up at half its rate or width",
			Options: []FaultOption{{Name: "how", Default: "rate", Values: []string{"rate", "width"}, Summary: "HDR instead of NDR, or 2 lanes instead of 4"}},
			Suspect: `{link}`,
			apply: func(d *draft, t target, f Fault) {
				l := &d.Links[t.link]
				if f.Options["how"] == "width" {
					l.Width /= 2
					return
				}
				l.LaneGbps /= 2
			},
		},
		{
			Kind: "link-flapping", Gate: "fabric", TargetForm: FormLink, DefaultTarget: "gpu-02/mlx5_3",
			Summary: "a link goes down and up again and again; its counters grow",
			Options: []FaultOption{{Name: "per-second", Default: "8", Min: 0.1, Max: 1000, Summary: "how often it goes down"}},
			Suspect: `{link}`,
			apply: func(d *draft, t target, f Fault) {
				d.flaps[t.link] = flap{since: f.Since, perSecond: f.number("per-second")}
			},
		},
		{
			Kind: "sm-dead", Gate: "fabric", TargetForm: FormCluster, DefaultTarget: FormCluster,
			Summary: "no subnet manager is at work",
			Options: []FaultOption{{Name: "how", Default: "silent", Values: []string{"silent", "frozen", "uninitialised"}, Summary: "it doesn't answer; it answers, but its activity stands still; it doesn't answer and the links came up after it died"}},
			Suspect: `(?i)subnet manager|\bSM\b`,
			apply:   deadSM,
		},
		{
			Kind: "sm-two-masters", Gate: "fabric", TargetForm: FormCluster, DefaultTarget: FormCluster,
			Summary: "two subnet managers both think they are master; half the rails follow the second",
			Suspect: `(?i)subnet manager|\bSM\b`,
			apply:   twoMasters,
		},
	}
}

func deadSM(d *draft, _ target, f Fault) {
	if f.Options["how"] == "frozen" {
		d.frozenSM = true // still says MASTER, no longer counts
		return
	}
	for i := range d.SMs {
		d.SMs[i].Silent = true
	}
	if f.Options["how"] == "uninitialised" {
		for i := range d.Links {
			if d.Links[i].Up() {
				d.Links[i].State = fabric.StateInit
			}
		}
	}
}

func twoMasters(d *draft, _ target, _ Fault) {
	if len(d.SMs) < 2 {
		// a fabric of one spine: the second opensm runs on the first leaf
		leaf := d.Switches[len(d.Switches)-1]
		d.SMs = append(d.SMs, fabric.SM{Node: leaf.Name, GUID: leaf.GUID, LID: leaf.LID, Activity: 777})
	}
	d.SMs[1].State, d.SMs[1].Priority = fabric.SMMaster, d.SMs[0].Priority
	for n := range d.Nodes {
		for h := range d.Nodes[n].HCAs {
			if d.Nodes[n].HCAs[h].Rail%2 == 1 {
				d.Nodes[n].HCAs[h].SMLID = d.SMs[1].LID
			}
		}
	}
}
