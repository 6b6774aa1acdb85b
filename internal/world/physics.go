package world

import (
	"hash/fnv"
	"math"
	"time"
)

// heavyLoad is the fraction of the power range (idle to limit) at which a rack's power management
// acts.
const heavyLoad = 0.9

// gpuFigures computes power, temperature, clocks and throttling of a node's GPUs from their load,
// limits and time.
func (d *draft) gpuFigures(n int) {
	hw := &d.Nodes[n].Hardware.GPU
	for i := range d.Nodes[n].GPUs {
		g := &d.Nodes[n].GPUs[i]
		frac := g.Power
		if !g.Usable() {
			g.Util, g.Power, g.SMClock, g.MemUsedMiB = 0, 0, 0, 0
			continue
		}
		since, hot := d.hot[[2]int{n, i}]
		wobble := wave(d.Seed, g.UUID, d.Now)
		busy := g.Util > 0 || frac > 0
		if g.CapUnderLoad > 0 && frac >= heavyLoad && g.Occupant != (Pod{}) {
			g.PowerLimit = min(g.PowerLimit, g.CapUnderLoad)
		}
		want := hw.IdleWatts + (hw.TDPWatts-hw.IdleWatts)*frac
		if g.LockedClock > 0 { // a lower clock draws less power
			f := float64(loadClock(hw, g)) / float64(hw.LoadSMClock)
			want = hw.IdleWatts + (want-hw.IdleWatts)*f*f
		}
		g.Power = min(want, g.PowerLimit) * (1 + 0.01*wobble)
		g.Temp = hw.IdleTemp + (hw.LoadTemp-hw.IdleTemp)*frac + 1.5*wobble + float64(i%4)
		g.SMClock = hw.IdleSMClock
		g.Reasons.Idle = !busy
		if busy {
			g.SMClock = loadClock(hw, g)
			g.Reasons.SWPowerCap = want > g.PowerLimit+1 || g.Reasons.SWPowerCap
			g.Reasons.ApplicationsClocks = g.AppSMClock < hw.MaxSMClock
			g.Reasons.HWPowerBrake, g.Reasons.HWSlowdown = g.BrakesUnderLoad, g.BrakesUnderLoad
		}
		if hot {
			held := max(0, d.Now.Sub(since))
			g.HWThermal += 2*time.Second + held*9/10
			g.SWThermal += held / 2
			g.Temp = float64(hw.SlowdownTemp) + 1 + wobble
			g.Reasons.Idle, g.Reasons.HWThermal, g.Reasons.HWSlowdown = false, true, true
			g.SMClock = min(g.SMClock, loadClock(hw, g))
		}
		g.MemTemp = g.Temp + 8
		g.MemUsedMiB = min(g.MemUsedMiB, hw.MemoryMiB-hw.ReservedMiB)
		g.Energy = hw.IdleWatts * d.Now.Sub(d.Booted).Seconds()
	}
}

// loadClock returns the SM clock that a GPU sustains under full load.
func loadClock(hw *HardwareGPU, g *GPU) int {
	clock := float64(min(hw.LoadSMClock, g.AppSMClock, g.MaxSMClock))
	if g.LockedClock > 0 {
		clock = min(clock, float64(g.LockedClock))
	}
	if g.PowerLimit < hw.TDPWatts {
		// Power is about proportional to the square of the clock in this range.
		clock = min(clock, float64(hw.LoadSMClock)*math.Sqrt(g.PowerLimit/hw.TDPWatts))
	}
	if g.Reasons.HWThermal || g.BrakesUnderLoad {
		clock *= 0.6
	}
	return int(clock/15) * 15
}

// pduFigures distributes each rack's power over its live feeds.
func (d *draft) pduFigures() {
	watts, live := map[string]float64{}, map[string]int{}
	for i := range d.Nodes {
		n := &d.Nodes[i]
		watts[n.Rack] += n.watts()
	}
	for _, p := range d.Facility.PDUs {
		if p.Energised {
			live[p.Rack]++
		}
	}
	for i := range d.Facility.PDUs {
		if p := &d.Facility.PDUs[i]; p.Energised {
			p.Watts = watts[p.Rack] / float64(live[p.Rack])
		}
	}
}

// NodeWatts returns a node's power.
func (s State) NodeWatts(n Node) float64 { return n.watts() }

func (n *Node) watts() float64 {
	if n.Standby {
		return n.Hardware.Node.StandbyWatts
	}
	watts := n.Hardware.Node.BasePowerWatts
	if n.System {
		watts = 420
	}
	for i := range n.GPUs {
		watts += n.GPUs[i].Power
	}
	return watts
}

// wave returns a slow, smooth variation in -1..1, different for each key.
func wave(seed uint64, key string, now time.Time) float64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(key)) // never fails
	phase := float64((h.Sum64()^seed)%6283) / 1000
	t := float64(now.UnixMilli()) / 1000
	return 0.7*math.Sin(t/7+phase) + 0.3*math.Sin(t/2.3+2*phase)
}
