package host

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/firstlight/firstlight/internal/world/fabric"
)

// stage is one section of ibdiagnet with its row in the summary.
type stage struct {
	name     string
	lines    []string
	warnings int
	errors   int
}

func (s *stage) fail(format string, a ...any) {
	s.lines = append(s.lines, "-E- "+fmt.Sprintf(format, a...))
	s.errors++
}

// screen are the lines that are printed: at most so many errors of each check, and the last line of the stage.
func (s *stage) screen(most int) []string {
	var out []string
	printed := 0
	for _, l := range s.lines {
		switch {
		case strings.HasPrefix(l, "-I- "): // the heading of a check
			printed = 0
		case strings.HasPrefix(l, "-E- ") && !strings.Contains(l, finishedWithErrors):
			if printed++; printed > most {
				continue
			}
		}
		out = append(out, l)
	}
	return out
}

// screenErrors is the number of --screen_num_errs, 5 by default ("Warnings and Errors Printing Policy" in the user manual).
func screenErrors(c *call) int {
	if n, err := strconv.Atoi(valueOf(c, "--screen_num_errs")); err == nil {
		return n
	}
	return 5
}

// valueOf is the value of an option; empty without it.
func valueOf(c *call, option string) string {
	for i, a := range c.args[:max(0, len(c.args)-1)] {
		if a == option {
			return c.args[i+1]
		}
	}
	return ""
}

const finishedWithErrors = " finished with errors"

// ibdiagnet scans the fabric stage by stage. It always exits 0.
func ibdiagnet(c *call) int {
	if _, ok := c.firstActive(); !ok {
		c.printf("-E- Failed to open port: no active port was found\n")
		return 1
	}
	net := scan(c.state)
	skip := skipped(c)
	var done []stage
	c.printf("Running version:   \"IBDIAGNET 2.13.0\",\"IBDIAG 2.1.1\",\"IBDM 2.1.1\",\"IBIS 5.0.0\"\n")
	c.printf("Running command:   ibdiagnet %s\n", strings.Join(c.args, " "))
	for _, s := range stages(c, net) {
		if skip[strings.ToLower(s.name)] {
			continue
		}
		c.printf("---------------------------------------------\n%s\n", s.name)
		for _, l := range s.screen(screenErrors(c)) {
			c.printf("%s\n", l)
		}
		c.printf("\n")
		done = append(done, s)
	}
	printFabricBlock(c, net)
	c.printf("---------------------------------------------\nSummary\n")
	c.printf("-I- %-36s%-11s%-11s%s\n", "Stage", "Warnings", "Errors", "Comment   ")
	for _, s := range done {
		c.printf("-I- %-36s%-11d%-11d\n", s.name, s.warnings, s.errors)
	}
	dir := cmp.Or(valueOf(c, "-o"), "/var/tmp/ibdiagnet2")
	c.printf("\n-I- You can find detailed errors/warnings in: %s/ibdiagnet2.log\n", dir)
	c.printf("-I- ibdiagnet database file   : %s/ibdiagnet2.db_csv\n", dir)
	c.printf("-I- LST file                  : %s/ibdiagnet2.lst\n", dir)
	return 0
}

func printFabricBlock(c *call, net subnet) {
	c.printf("---------------------------------------------\nFabric Summary\n\n")
	c.printf("Total Nodes             : %d\n", len(net.switches)+len(net.cas))
	c.printf("IB Switches             : %d\n", len(net.switches))
	c.printf("IB Channel Adapters     : %d\n", len(net.cas))
	c.printf("IB Aggregation Nodes    : 0\n")
	c.printf("IB Routers              : 0\n\n")
	c.printf("Adaptive Routing is enabled on %d switches\n", len(net.switches))
	c.printf("Hashed Based Forwarding is not supported on any of the switches\n\n")
	if c.has("--rail_validation") {
		c.printf("-I- Rail Optimized Topology Validation finished successfully\n\n")
	}
}

func stages(c *call, net subnet) []stage {
	discovery := stage{name: "Discovery"}
	discovery.lines = []string{
		fmt.Sprintf("-I- Discovering ... %d nodes (%d Switches & %d CA-s) discovered.", len(net.switches)+len(net.cas), len(net.switches), len(net.cas)),
		"-I- Fabric Discover finished successfully",
	}
	for _, guid := range net.duplicates {
		discovery.fail("Node GUID = 0x%016x is duplicated", guid)
	}
	discovery.finish("Duplicated GUIDs detection")
	return []stage{
		discovery,
		lidsStage(net),
		{name: "Links Check", lines: []string{"-I- Links Check finished successfully"}},
		smStage(c),
		countersStage(net),
		firmwareStage(c, net),
		speedStage(c, net),
		{name: "Virtualization", lines: []string{"-I- Virtualization finished successfully"}},
		{name: "Partition Keys", lines: []string{"-I- Partition Keys finished successfully"}},
		{name: "Temperature Sensing", lines: []string{"-I- Temperature Sensing finished successfully"}},
		{name: "Create IBNetDiscover File", lines: []string{"-I- Create IBNetDiscover File finished successfully"}},
	}
}

func lidsStage(net subnet) stage {
	s := stage{name: "Lids Check"}
	for _, ca := range net.cas {
		if ca.link.State == fabric.StateInit {
			s.fail("Configured with ZERO lid: %s", port{name: ca.name(), num: 1}.ibdiagnet())
		}
	}
	s.finish("Lids Check")
	return s
}

func smStage(c *call) stage {
	s := stage{name: "Subnet Manager"}
	masters := 0
	for _, sm := range c.state.SMs {
		if sm.State == fabric.SMMaster && !sm.Silent {
			masters++
		}
	}
	switch {
	case masters == 0:
		s.fail("Missing master SM in the discover fabric")
	case masters > 1:
		s.fail("Found more than one master SM in the discover fabric")
	}
	s.finish("Subnet Manager Check")
	return s
}

func countersStage(net subnet) stage {
	s := stage{name: "Port Counters"}
	for _, sw := range net.switches {
		for p, l := range sw.links {
			n := l.CountersB.LinkDownedCounter
			if l.A == (fabric.End{Node: sw.sw.Name, Port: p}) {
				n = l.CountersA.LinkDownedCounter
			}
			if l.PhysState == fabric.PhysLinkUp && n > 0 {
				s.fail("%s - \"link_down_counter\" exceeded its threshold: %d (threshold: 0)", portGUIDs(sw.sw.GUID, p), n)
			}
		}
	}
	s.finish("Ports counters")
	return s
}

func speedStage(c *call, net subnet) stage {
	s := stage{name: "Speed / Width checks"}
	s.lines = append(s.lines, "-I- Link Speed Check (Compare to supported link speed)")
	for _, l := range c.state.Links {
		if l.PhysState == fabric.PhysLinkUp && l.LaneGbps < l.MaxLane {
			enabled := enabledSpeeds(l.MaxLane)
			s.fail("Link: %s - Unexpected actual link speed %s (enable_speed1=\"%s\", enable_speed2=\"%s\" therefore final speed should be %s)",
				net.linkPorts(l), ibdiagSpeed(l.LaneGbps), enabled, enabled, ibdiagSpeed(l.MaxLane))
		}
	}
	s.lines = append(s.lines, "-I- Link Width Check (Compare to supported link width)")
	for _, l := range c.state.Links {
		if l.PhysState == fabric.PhysLinkUp && l.Width < l.MaxWidth {
			s.fail("Link: %s - Unexpected actual link width %dx (enable_width1=\"1x or 2x or 4x\", enable_width2=\"1x or 2x or 4x\" therefore final width should be %dx)",
				net.linkPorts(l), l.Width, l.MaxWidth)
		}
	}
	s.finish("Speed / Width checks")
	return s
}

// firmwareStage warns of each adapter without the latest firmware of its kind.
func firmwareStage(c *call, net subnet) stage {
	s := stage{name: "Nodes Information"}
	hw := c.node.Hardware.Fabric
	latest := ""
	for _, ca := range net.cas {
		latest = max(latest, ca.hca.Firmware)
	}
	for _, ca := range net.cas {
		if ca.hca.Firmware != latest {
			s.warnings++
			s.lines = append(s.lines, fmt.Sprintf("-W- %s/%s - Node with Devid:%d(0x%x),PSID:%s has FW version %s while the latest FW version for the same Devid/PSID on this fabric is %s",
				ca.hca.Node, ca.hca.Name, hw.DeviceID, hw.DeviceID, hw.Board, ca.hca.Firmware, latest))
		}
	}
	s.finish("FW Check")
	return s
}

// finish adds the result line of a stage.
func (s *stage) finish(what string) {
	switch {
	case s.errors > 0:
		s.lines = append(s.lines, "-E- "+what+finishedWithErrors)
	case s.warnings > 0:
		s.lines = append(s.lines, "-W- "+what+" finished with warnings")
	default:
		s.lines = append(s.lines, "-I- "+what+" finished successfully")
	}
}

func (n subnet) linkPorts(l fabric.Link) string {
	a, b := n.port(l.A), n.port(l.B)
	return a.ibdiagnet() + "<-->" + b.ibdiagnet()
}

// ibdiagnet is a port as ibdiagnet 2 names it: an adapter by its description, an unmanaged switch by its GUIDs.
func (p port) ibdiagnet() string {
	if host, device, ok := strings.Cut(p.name, " "); ok {
		return fmt.Sprintf("%s/%s/P%d", host, device, p.num)
	}
	return portGUIDs(p.guid, p.num)
}

// portGUIDs is a port of a switch in ibdiagnet's notation: system GUID, node GUID, port.
func portGUIDs(guid uint64, num int) string { return fmt.Sprintf("S%016x/N%016x/P%d", guid, guid, num) }

// ibdiagSpeed is a lane rate in ibdiagnet's notation: the nominal data rate.
func ibdiagSpeed(lane float64) string { return strconv.Itoa(fabric.DataRate(lane)) }

func enabledSpeeds(highest float64) string {
	names := []string{"2.5", "5", "10", "14"}
	for _, s := range fabric.Speeds() {
		if s.Lane <= highest {
			names = append(names, ibdiagSpeed(s.Lane))
		}
	}
	return strings.Join(names, " or ")
}

// skipped parses --skip.
func skipped(c *call) map[string]bool {
	names := map[string]string{
		"dup_guids": "discovery", "lids": "lids check", "links": "links check", "sm": "subnet manager", "pc": "port counters",
		"nodes_info": "nodes information", "speed_width_check": "speed / width checks", "vs_cap_smp": "virtualization",
		"pkey": "partition keys", "temp_sensing": "temperature sensing",
	}
	out := map[string]bool{}
	for i, a := range c.args {
		if a == "--skip" && i+1 < len(c.args) {
			for s := range strings.SplitSeq(c.args[i+1], ",") {
				out[names[s]] = true
			}
		}
	}
	return out
}
