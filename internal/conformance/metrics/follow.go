package metrics

import (
	"fmt"
	"slices"
)

// followed is how GPUs react to a load.
type followed struct {
	defects []defect
	// risen are loaded GPUs whose metrics rose, quiet the free GPUs without load whose metrics
	// did not.
	risen, quiet []string
}

// follow compares samples under load with those before: the metrics of the GPUs of the
// load's pods must have risen, those of free GPUs must not.
func (c *Check) follow(base, now samples, loads []load, held usage) followed {
	var out followed
	was := map[string]gpu{}
	for _, g := range base.GPUs {
		was[c.name(g)] = g
	}
	for _, l := range loads {
		for _, p := range l.Pods {
			out.defects = append(out.defects, c.named(now, l.Namespace, p)...)
		}
	}
	for _, g := range now.GPUs {
		name := c.name(g)
		old, known := was[name]
		if c.nodeOf(g) == "" || !known {
			continue // not in the inventory, or already a defect
		}
		switch {
		case uses(loads, g):
			found := c.notRisen(name, old, g)
			if len(found) == 0 {
				out.risen = append(out.risen, name)
			}
			out.defects = append(out.defects, found...)
		case !heldByOthers(held, old) && !heldByOthers(held, g) && (now.Users == nil || !heldByOthers(*now.Users, g)):
			found := c.notQuiet(name, old, g)
			if len(found) == 0 {
				out.quiet = append(out.quiet, name)
			}
			out.defects = append(out.defects, found...)
		}
	}
	return out
}

// named requires that as many GPUs name a pod as it has.
func (c *Check) named(now samples, namespace string, p loadPod) []defect {
	n := 0
	for _, g := range now.GPUs {
		if g.Namespace == namespace && g.Pod == p.Name {
			n++
		}
	}
	if n == p.GPUs {
		return nil
	}
	return []defect{{p.Node, fmt.Sprintf("pod %s/%s on %s has %d GPUs, but the metrics of %d GPUs name it", namespace, p.Name, p.Node, p.GPUs, n),
		"configure dcgm-exporter to name the pods that use GPUs (DCGM_EXPORTER_KUBERNETES=true and access to /var/lib/kubelet/pod-resources), and keep its labels in Prometheus"}}
}

func uses(loads []load, g gpu) bool {
	return slices.ContainsFunc(loads, func(l load) bool {
		return g.Namespace == l.Namespace && slices.ContainsFunc(l.Pods, func(p loadPod) bool { return p.Name == g.Pod })
	})
}

// heldByOthers reports whether a pod that held GPUs at the time of the usage uses this one.
func heldByOthers(held usage, g gpu) bool {
	for _, u := range held.Nodes {
		for _, h := range u.Holders {
			if h.Namespace == g.Namespace && h.Pod == g.Pod {
				return true
			}
		}
	}
	return false
}

// notRisen compares the metrics of a loaded GPU with those before the load.
func (c *Check) notRisen(name string, old, now gpu) []defect {
	var out []defect
	for _, m := range c.metrics {
		from, to, ok := both(m, old, now)
		if !m.Required || !ok {
			continue // already a defect
		}
		switch {
		case !(to-from >= m.Rise.Value):
			out = append(out, defect{name, fmt.Sprintf("%s (%s) of %s rose from %g %s to %g %s under load, want a rise of at least %g", m.Name, m.What, name, from, m.Unit, to, m.Unit, m.Rise.Value), valueRemedy})
		case m.Floor != nil && !(to >= m.Floor.Value):
			out = append(out, defect{name, fmt.Sprintf("%s (%s) of %s is %g %s under full load, want at least %g", m.Name, m.What, name, to, m.Unit, m.Floor.Value), valueRemedy})
		}
	}
	return out
}

// notQuiet compares the metrics of a GPU without load with those before it.
func (c *Check) notQuiet(name string, old, now gpu) []defect {
	var out []defect
	for _, m := range c.metrics {
		from, to, ok := both(m, old, now)
		if m.Quiet == nil || !ok {
			continue
		}
		if !(to-from <= m.Quiet.Value) {
			out = append(out, defect{name, fmt.Sprintf("%s (%s) of %s rose from %g to %g %s without load", m.Name, m.What, name, from, to, m.Unit),
				"find what uses the GPU without the device plugin, or which other GPU's values the exporter reports for it"})
		}
	}
	return out
}

func both(m metric, old, now gpu) (from, to float64, ok bool) {
	a, b := old.Samples[m.Name], now.Samples[m.Name]
	if len(a) == 0 || len(b) == 0 {
		return 0, 0, false
	}
	return a[0].Value, b[0].Value, true
}
