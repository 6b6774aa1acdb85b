package ray

// States of a placement group (PlacementGroupTableData of gcs.proto).
const (
	pending      = "PENDING"
	created      = "CREATED"
	removed      = "REMOVED"
	rescheduling = "RESCHEDULING"
)

// group is a placement group with one kind of bundle: GPUs, each bundle on another node.
type group struct {
	id, name, job string
	state         string
	scheduling    string // of its statistics
	attempts      int
	gpus          int
	// on has the node of each bundle; empty: not placed.
	on []string
}

// free are the nodes' GPUs that no bundle has, by ID.
func (c *Cluster) free(nodes []Node) map[string]int {
	out := map[string]int{}
	for _, n := range nodes {
		out[n.ID()] = n.GPUs
	}
	for _, g := range c.groups {
		for _, node := range g.on {
			if _, alive := out[node]; alive {
				out[node] -= g.gpus
			}
		}
	}
	return out
}

// schedule places the groups that wait, oldest first, as a whole or not at all. A node whose raylet does not
// commit keeps its bundle out: the others stay placed and the group is rescheduled. It requires mu.
func (c *Cluster) schedule() {
	nodes := c.nodes()
	for _, g := range c.groups {
		if g.state != pending && g.state != rescheduling {
			continue
		}
		g.attempts++
		c.place(g, nodes)
	}
}

func (c *Cluster) place(g *group, nodes []Node) {
	taken := map[string]bool{}
	for _, node := range g.on {
		taken[node] = true
	}
	free, possible := c.free(nodes), 0
	var chosen []Node
	for _, n := range nodes {
		if n.GPUs >= g.gpus {
			possible++
		}
		if free[n.ID()] >= g.gpus && !taken[n.ID()] {
			chosen = append(chosen, n)
		}
	}
	missing := 0
	for _, node := range g.on {
		if node == "" {
			missing++
		}
	}
	switch {
	case possible < len(g.on):
		g.scheduling = "INFEASIBLE"
		return
	case len(chosen) < missing:
		g.scheduling = "NO_RESOURCES"
		return
	}
	g.state, g.scheduling = created, "FINISHED"
	for i := range g.on {
		if g.on[i] != "" {
			continue
		}
		n := chosen[0]
		chosen = chosen[1:]
		if n.CommitFails {
			g.state, g.scheduling = rescheduling, "FAILED_TO_COMMIT_RESOURCES"
			continue
		}
		g.on[i] = n.ID()
	}
}

// release removes the groups of a job. It requires mu.
func (c *Cluster) release(job string) {
	for _, g := range c.groups {
		if g.job != job || g.state == removed {
			continue
		}
		g.state, g.scheduling = removed, "REMOVED"
		for i := range g.on {
			g.on[i] = ""
		}
	}
}
