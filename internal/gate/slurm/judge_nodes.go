package slurm

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	probe "github.com/firstlight/firstlight/internal/probe/slurm"
)

const (
	remedyGres    = "compare Gres= of the node in slurm.conf, gres.conf on the node, and nvidia-smi -L; then restart slurmd"
	remedyMissing = "add it to slurm.conf on all hosts and run scontrol reconfigure, or correct the name in inventory.nodes (NodeName)"
	remedyBusy    = "wait for its jobs, or use a reservation (slurm.reservation), then run it again"
	remedyState   = "read the state in sinfo(1), NODE STATE CODES"
)

// badFlags are the flags of a state in which a node takes no jobs, with the remedy: sinfo(1) and the
// names of slurm.h, 21.08 to 25.05.
var badFlags = map[string]string{
	"DRAIN":            "repair the cause in the reason, then scontrol update NodeName=NODE State=RESUME",
	"FAIL":             "repair the cause in the reason, then scontrol update NodeName=NODE State=RESUME",
	"NOT_RESPONDING":   "on the node: systemctl status slurmd, and its log; its address and port from slurmctld's host",
	"INVALID_REG":      remedyGres,
	"COMPLETING":       "on the node: the epilog or processes of a job do not end; read the log of slurmd",
	"POWERED_DOWN":     "scontrol update NodeName=NODE State=POWER_UP",
	"POWER_DOWN":       "scontrol update NodeName=NODE State=POWER_UP",
	"POWERING_DOWN":    "scontrol update NodeName=NODE State=POWER_UP",
	"POWERING_UP":      "wait until it is up; ResumeTimeout in slurm.conf limits it",
	"POWER_UP":         "wait until it is up; ResumeTimeout in slurm.conf limits it",
	"REBOOT_REQUESTED": "wait for the reboot, or scontrol cancel_reboot NODE",
	"REBOOT_ISSUED":    "wait for the reboot",
	"REBOOT_CANCELED":  "scontrol update NodeName=NODE State=RESUME",
	"BLOCKED":          "wait for the exclusive job of its block",
}

// reservedFlags are those of a reservation, which the jobs of the site may use.
var reservedFlags = []string{"RESERVED", "MAINTENANCE", "MAINT"}

// harmlessFlags say nothing about whether a node takes jobs.
var harmlessFlags = []string{"CLOUD", "DYNAMIC_NORM", "DYNAMIC_FUTURE", "PLANNED", "EXTERNAL"}

// judgeNodes requires every node of the inventory, idle or, with mayRun, running jobs, in the partition, with its GPUs.
func (g *Stack) judgeNodes(b *check.Builder, id string, nodes []probe.Node, mayRun bool) {
	for _, name := range g.site.NodeNames() {
		at := slices.IndexFunc(nodes, func(n probe.Node) bool { return n.Name == name })
		if at < 0 {
			b.Fail(id, name, remedyMissing, "%s is not a node of the cluster", name)
			continue
		}
		n := nodes[at]
		g.judgeNode(b, id, n, mayRun)
		if have, want := n.GPUs(g.site.Slurm.GPUType), g.gpus(); have != want || n.GPUs("") != want {
			b.Fail(id, name, remedyGres, "%s has the generic resources %s, want %s", name, gresOf(n), g.wantGres())
		}
		if !slices.Contains(n.Partitions, g.site.Slurm.Partition) {
			b.Fail(id, name, "add it to Nodes= of the partition in slurm.conf", "%s is in %s, not in partition %s", name, partitionsOf(n), g.site.Slurm.Partition)
		}
	}
}

// judgeNode requires a node that takes a job now or, with mayRun, one that runs jobs.
func (g *Stack) judgeNode(b *check.Builder, id string, n probe.Node, mayRun bool) {
	state := strings.Join(append([]string{n.State}, n.Flags...), "+")
	why := ""
	if n.Reason != "" {
		why = ": " + n.Reason
	}
	remedy := func(text string) string { return strings.ReplaceAll(text, "NODE", n.Name) }
	bad := false
	for _, flag := range n.Flags {
		text, known := badFlags[flag]
		switch {
		case known && !bad:
			bad = true
			b.Fail(id, n.Name, remedy(text), "%s is %s, want IDLE%s", n.Name, state, why)
		case known || slices.Contains(harmlessFlags, flag):
		case slices.Contains(reservedFlags, flag):
			if g.site.Slurm.Reservation == "" {
				b.Unobserved(id, n.Name, "name the reservation in slurm.reservation, or wait for its end", "%s is %s: it is reserved", n.Name, state)
			}
		default:
			b.Unobserved(id, n.Name, remedyState, "%s is %s: the state %s is unknown", n.Name, state, flag)
		}
	}
	switch {
	case bad || n.State == "IDLE":
	case n.State == "ALLOCATED" || n.State == "MIXED":
		if mayRun {
			return
		}
		b.Unobserved(id, n.Name, remedyBusy, "%s is %s: it runs jobs", n.Name, state)
	case n.State == "DOWN" || n.State == "ERROR" || n.State == "FUTURE" || n.State == "UNKNOWN":
		b.Fail(id, n.Name, remedy(badFlags["DRAIN"]), "%s is %s, want IDLE%s", n.Name, state, why)
	case n.State == "RESERVED" && g.site.Slurm.Reservation != "":
	default:
		b.Unobserved(id, n.Name, remedyState, "%s is %s, want IDLE%s", n.Name, state, why)
	}
}

func (g *Stack) wantGres() string {
	if t := g.site.Slurm.GPUType; t != "" {
		return fmt.Sprintf("gpu:%s:%d", t, g.gpus())
	}
	return fmt.Sprintf("gpu:%d", g.gpus())
}

func gresOf(n probe.Node) string {
	var out []string
	for _, r := range n.Gres {
		out = append(out, strings.ReplaceAll(fmt.Sprintf("%s:%s:%d", r.Name, r.Type, r.Count), "::", ":"))
	}
	if len(out) == 0 {
		return "none"
	}
	return strings.Join(out, ",")
}

func partitionsOf(n probe.Node) string {
	if len(n.Partitions) == 0 {
		return "no partition"
	}
	return "partition " + strings.Join(n.Partitions, ", ")
}
