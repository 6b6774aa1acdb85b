package ibsim

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/probe/ssh"
	"github.com/firstlight/firstlight/internal/world"
	"github.com/firstlight/firstlight/internal/world/fabric"
)

// programs are the hosts of a site whose fabric tools are the real ones, over a fabric of ibsim.
type programs struct {
	*Fabric
	// healthy has what ibsim lacks, but for ibdiagnet, which shows diagnosed. before and after have
	// the counters before and after the soak.
	healthy, diagnosed, before, after world.State
	links                             map[string]fabric.Link // by the name of the adapter
	// withoutUMAD is a host without the devices of ibsim.
	withoutUMAD string
	// partitions is the partition file of the subnet manager.
	partitions string
}

// startPrograms starts ibsim with the cables, speeds and widths of a state, a generation slower
// than the world's: ibsim has no NDR. A link that is down there is up here, until it is unlinked.
func startPrograms(t *testing.T, healthy, s world.State) *programs {
	t.Helper()
	p := &programs{healthy: healthy, diagnosed: healthy, before: s, links: map[string]fabric.Link{}}
	top := fabric.Topology{Switches: s.Switches, Links: slices.Clone(s.Links), HCAs: slices.Clone(s.Strangers)}
	slower := map[float64]float64{106.25: 53.125, 53.125: 25.78125}
	for i := range top.Links {
		l := &top.Links[i]
		if l.Width == 0 {
			l.Width, l.LaneGbps = l.MaxWidth, l.MaxLane
		}
		l.LaneGbps = slower[l.LaneGbps]
		p.links[nodeName(l.A)] = *l
	}
	for _, n := range s.GPUNodes() {
		top.HCAs = append(top.HCAs, n.HCAs...)
	}
	var err error
	if p.Fabric, err = Start(t.Context(), t.TempDir(), top); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.sim.Stop)
	p.partitions = filepath.Join(p.dir, "partitions.conf")
	if err := os.WriteFile(p.partitions, partitions(top), 0o600); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *programs) startSM(t *testing.T, sweep int) *SM {
	t.Helper()
	sm, err := p.StartSM(t.Context(), p.healthy.Switches[0], sweep, "-P", p.partitions)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sm.Stop)
	return sm
}

func (p *programs) console(t *testing.T, command string) {
	t.Helper()
	if err := p.Console(t.Context(), command); err != nil {
		t.Fatal(err)
	}
}

// Run runs the tools of the fabric on the node's first adapter, and ibstat on each adapter.
func (p *programs) Run(ctx context.Context, node string, argv ...string) (ssh.Output, error) {
	n, ok := p.healthy.Node(node)
	switch {
	case !ok:
		return ssh.Output{}, fmt.Errorf("unknown host %s", node)
	case argv[0] == "ibdiagnet":
		if node != p.withoutUMAD { // it queries SMInfo of the subnet manager, too
			if _, err := p.run(ctx, node, n.HCAs[0].Name, "sminfo"); err != nil {
				return ssh.Output{}, err
			}
		}
		return simulated(ctx, p.diagnosed, node, argv), nil
	case argv[0] == "sh":
		return p.verbs(ctx, n, argv)
	case argv[0] != "ibstat" && node == p.withoutUMAD:
		stdout, stderr, exit, err := p.RunWithout(ctx, argv...)
		// The gate cuts outputs at a length: process ids have one digit, as in the world.
		return ssh.Output{Stdout: stdout, Stderr: processID.ReplaceAll(stderr, []byte("ibwarn: [1]")), Exit: exit}, err
	case argv[0] != "ibstat":
		return p.run(ctx, node, n.HCAs[0].Name, argv...)
	}
	var all ssh.Output
	for _, h := range n.HCAs {
		out, err := p.run(ctx, node, h.Name, argv...)
		if err != nil {
			return all, err
		}
		l := p.links[node+" "+h.Name]
		rate := fmt.Sprintf("Rate: %d", fabric.DataRate(l.LaneGbps)*l.Width)
		all.Stdout = append(all.Stdout, strings.NewReplacer(
			"ibsim0", h.Name, "CA type: simulator", "CA type: MT4129", "Firmware version: 1", "Firmware version: "+h.Firmware, "Rate: 104", rate,
		).Replace(string(out.Stdout))...)
		all.Stderr, all.Exit = append(all.Stderr, out.Stderr...), max(all.Exit, out.Exit)
	}
	return all, nil
}

func (p *programs) run(ctx context.Context, node, device string, argv ...string) (ssh.Output, error) {
	stdout, stderr, exit, err := p.Fabric.Run(ctx, node, device, argv...)
	return ssh.Output{Stdout: stdout, Stderr: stderr, Exit: exit}, err
}

// verbs are the details of the healthy world's adapters, with the partition keys of ibsim's ports.
func (p *programs) verbs(ctx context.Context, n world.Node, argv []string) (ssh.Output, error) {
	out := simulated(ctx, p.healthy, n.Name, argv)
	var text bytes.Buffer
	for line := range bytes.Lines(out.Stdout) {
		if !bytes.HasPrefix(line, []byte(sysfs)) {
			text.Write(line)
		}
	}
	for _, h := range n.HCAs {
		dir := sysfs + h.Name + "/ports/1/pkeys"
		if !strings.Contains(argv[2], dir) {
			continue
		}
		table, err := p.run(ctx, n.Name, h.Name, "smpquery", "-D", "pkeys", "0")
		if err != nil {
			return out, err
		}
		for i, key := range keys.FindAllString(string(table.Stdout), -1) {
			if key != " 0x0000" {
				fmt.Fprintf(&text, "%s/%d:%s\n", dir, i, strings.TrimSpace(key))
			}
		}
		out.Stderr, out.Exit = append(out.Stderr, table.Stderr...), max(out.Exit, table.Exit)
	}
	out.Stdout = text.Bytes()
	return out, nil
}

var processID = regexp.MustCompile(`ibwarn: \[\d+\]`)

const sysfs = "/sys/class/infiniband/"

// keys are the entries of a P_Key table in the output of smpquery.
var keys = regexp.MustCompile(` 0x[0-9a-f]{4}\b`)
