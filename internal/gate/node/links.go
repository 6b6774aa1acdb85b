package node

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/fabric"
	"github.com/firstlight/firstlight/internal/probe/nvidia"
	"github.com/firstlight/firstlight/internal/probe/ssh"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// kindTopology is the kind of the observation of the paths between GPUs.
const kindTopology = "nvidia-smi-topo"

// Links is gate 2 of a single node: its fabric is the NVLinks between its GPUs. It runs no load.
type Links struct {
	node *Gate
}

// NewLinks returns the gate.
func NewLinks(s *site.Site, p *profile.Profile, deps Deps) *Links {
	return &Links{node: New(s, p, deps)}
}

// Name implements check.Check.
func (l *Links) Name() string { return fabric.Name }

// Describe lists the commands of Observe.
func (l *Links) Describe() []string {
	var out []string
	for _, c := range l.commands() {
		out = append(out, ssh.Quote(c.argv))
	}
	return out
}

func (l *Links) commands() []command {
	return []command{
		{kind: kindBefore, argv: []string{"nvidia-smi", "-q", "-x"}, parse: smi},
		{kind: kindNVLinks, argv: []string{"nvidia-smi", "nvlink", "-s"}, parse: nvlinks},
		{kind: kindTopology, argv: nvidia.TopologyCommand(), parse: topology},
	}
}

// topologyFigures are the paths between the GPUs that nvidia-smi lists.
type topologyFigures struct {
	GPUs []nvidia.GPUTopology `json:"gpus"`
}

func topology(out ssh.Output) (any, error) {
	gpus, err := nvidia.ParseTopology(out.Stdout)
	if err != nil {
		return nil, err
	}
	return topologyFigures{GPUs: gpus}, nil
}

// Observe implements check.Check.
func (l *Links) Observe(ctx context.Context, rec check.Recorder) error {
	if l.node.deps.Hosts == nil {
		return errors.New("observe NVLinks: Deps.Hosts must be set")
	}
	for _, n := range l.node.site.Inventory.Nodes {
		for _, c := range l.commands() {
			if _, err := l.node.run(ctx, rec, n.Name, c); err != nil {
				return err
			}
		}
	}
	return nil
}

// Judge implements check.Check.
func (l *Links) Judge(obs []check.Observation) check.Judgement {
	g := l.node
	hosts := g.hosts(obs)
	if len(hosts) != 1 || g.gpus() < 2 || !g.nvlinks() {
		return check.NotObserved(fmt.Sprintf("%d nodes with %d GPUs and %g NVLinks each: want one node with NVLinks", len(hosts), g.gpus(), g.profile.GPU.NVLinks.Value))
	}
	b := &check.Builder{}
	h, at := hosts[0], newSlots(hosts, g.gpus())
	paths := last[topologyFigures](obs, kindTopology)
	text, _ := h.nvml()
	for _, o := range []struct {
		ok     bool
		reason string
		of     check.Observation
	}{
		{h.before.ok(), h.before.reason, h.before.obs},
		{!h.before.ok() || h.before.fig.read(), kindBefore + noDocument, h.before.obs},
		{h.links.ok() || text != "", h.links.reason, h.links.obs},
		{paths.ok() || text != "", paths.reason, paths.obs},
	} {
		if !o.ok {
			b.Unobserved(o.of.ID, h.name, remedyLinks, "was not observed: %s", o.reason)
		}
	}
	g.judgePresent(b, h, at)
	g.judgeNVLinks(b, h, at)
	if paths.ok() {
		l.judgePaths(b, h, paths)
	}
	b.MergeSuspects()
	return b.Judgement(fmt.Sprintf("%d NVLinks of each of %d GPUs active at their rate, %s", int(g.profile.GPU.NVLinks.Value), g.gpus(), l.demand()))
}

const (
	remedyLinks = "run nvidia-smi -q -x, nvidia-smi nvlink -s and nvidia-smi topo -m as the user of firstlight, then run the gate again"
	remedyPaths = "check nvidia-fabricmanager, the NVLinks of both GPUs (nvidia-smi nvlink -s) and the bridges; a virtual machine must have all GPUs of an NVLink partition"
)

// nvlinkPath is "NV18": a connection over so many NVLinks, by the legend of nvidia-smi topo -m.
var nvlinkPath = regexp.MustCompile(`^NV[1-9][0-9]*$`)

// switched reports whether NVSwitches join every GPU with every other; bridges join some.
func (l *Links) switched() bool { return l.node.profile.Node.NVLinkDomain != nil }

func (l *Links) demand() string {
	if l.switched() {
		return "NVLink between any two GPUs"
	}
	return "NVLink from each GPU to another"
}

// judgePaths requires a path over NVLink between every two GPUs that NVSwitches join, and from
// each GPU to another one where bridges do.
func (l *Links) judgePaths(b *check.Builder, h *host, paths observed[topologyFigures]) {
	rows := map[int]nvidia.GPUTopology{}
	for _, row := range paths.fig.GPUs {
		rows[row.Index] = row
	}
	for i := range l.node.gpus() {
		suspect := fmt.Sprintf("%s/gpu%d", h.name, i)
		var without []string
		unknown := 0
		for other := range l.node.gpus() {
			name := fmt.Sprintf("GPU%d", other)
			switch path := rows[i].Paths[name]; {
			case other == i:
			case path == "":
				unknown++
			case !nvlinkPath.MatchString(path):
				without = append(without, name+" ("+path+")")
			}
		}
		joined := l.node.gpus() - 1 - unknown - len(without)
		switch {
		case len(without) > 0 && (l.switched() || joined+unknown == 0):
			b.Fail(paths.obs.ID, suspect, remedyPaths, "no NVLink path to %s, expected %s", strings.Join(without, ", "), l.demand())
		case unknown > 0 && (l.switched() || joined == 0):
			b.Unobserved(paths.obs.ID, suspect, remedyLinks, "its path to %d other GPUs is not in the matrix of nvidia-smi topo -m", unknown)
		}
	}
}
