package metrics

import (
	"fmt"
	"slices"
)

// followed says which GPUs do what they should beside a load.
type followed struct {
	wrong []defect
	// risen are the GPUs of the load that rose, quiet the free ones without load
	// that did not move.
	risen, quiet []string
}

// follow holds samples under the loads against those before: the GPUs of the loads'
// pods have risen, the others that nobody else held have not.
func (c *Check) follow(base, now samples, loads []load, held usage) followed {
	var out followed
	was := map[string]gpu{}
	for _, g := range base.GPUs {
		was[c.name(g)] = g
	}
	for _, l := range loads {
		for _, p := range l.Pods {
			out.wrong = append(out.wrong, c.named(now, l.Namespace, p)...)
		}
	}
	for _, g := range now.GPUs {
		name := c.name(g)
		old, known := was[name]
		if c.nodeOf(g) == "" || !known {
			continue // not of the inventory, or said already
		}
		switch {
		case uses(loads, g):
			wrong := c.moved(name, old, g)
			if len(wrong) == 0 {
				out.risen = append(out.risen, name)
			}
			out.wrong = append(out.wrong, wrong...)
		case !heldByOthers(held, old) && !heldByOthers(held, g):
			wrong := c.stirred(name, old, g)
			if len(wrong) == 0 {
				out.quiet = append(out.quiet, name)
			}
			out.wrong = append(out.wrong, wrong...)
		}
	}
	return out
}

// named wants as many GPUs to name a pod as it has.
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
	return []defect{{p.Node, fmt.Sprintf("pod %s/%s on %s has %d GPUs, and the metrics of %d name it", namespace, p.Name, p.Node, p.GPUs, n),
		"let dcgm-exporter name the pods that use GPUs (DCGM_EXPORTER_KUBERNETES=true and access to /var/lib/kubelet/pod-resources), and keep its labels in Prometheus"}}
}

func uses(loads []load, g gpu) bool {
	return slices.ContainsFunc(loads, func(l load) bool {
		return g.Namespace == l.Namespace && slices.ContainsFunc(l.Pods, func(p loadPod) bool { return p.Name == g.Pod })
	})
}

// heldByOthers says that a pod which held GPUs before the load uses this one.
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

// moved holds a loaded GPU's metrics against what they were.
func (c *Check) moved(name string, old, now gpu) []defect {
	var out []defect
	for _, m := range c.metrics {
		from, to, ok := both(m, old, now)
		if !m.Required || !ok {
			continue // what is missing is said already
		}
		switch {
		case !(to-from >= m.Rise.Value):
			out = append(out, defect{name, fmt.Sprintf("%s (%s) of %s was %g %s and is %g %s under load: it has to gain %g", m.Name, m.What, name, from, m.Unit, to, m.Unit, m.Rise.Value), valueRemedy})
		case m.Floor != nil && !(to >= m.Floor.Value):
			out = append(out, defect{name, fmt.Sprintf("%s (%s) of %s is %g %s under full load; at least %g is expected", m.Name, m.What, name, to, m.Unit, m.Floor.Value), valueRemedy})
		}
	}
	return out
}

// stirred holds the metrics of a GPU without load against what they were.
func (c *Check) stirred(name string, old, now gpu) []defect {
	var out []defect
	for _, m := range c.metrics {
		from, to, ok := both(m, old, now)
		if m.Quiet == nil || !ok {
			continue
		}
		if !(to-from <= m.Quiet.Value) {
			out = append(out, defect{name, fmt.Sprintf("%s (%s) of %s went from %g to %g %s, and nothing of the load is on it", m.Name, m.What, name, from, to, m.Unit),
				"find out who uses the GPU beside the device plugin, or whose values the exporter shows under this GPU's name"})
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
