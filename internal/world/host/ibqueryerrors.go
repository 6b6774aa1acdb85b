package host

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/world/fabric"
)

// counter is one error counter of a port.
type counter struct {
	name  string
	value uint64
}

func counters(c fabric.Counters) []counter {
	return []counter{
		{"SymbolErrorCounter", c.SymbolErrorCounter},
		{"LinkErrorRecoveryCounter", c.LinkErrorRecoveryCounter},
		{"LinkDownedCounter", c.LinkDownedCounter},
		{"PortRcvErrors", c.PortRcvErrors},
		{"PortRcvRemotePhysicalErrors", c.PortRcvRemotePhysicalErrors},
		{"PortRcvSwitchRelayErrors", c.PortRcvSwitchRelayErrors},
		{"PortXmitDiscards", c.PortXmitDiscards},
		{"LocalLinkIntegrityErrors", c.LocalLinkIntegrityErrors},
		{"ExcessiveBufferOverrunErrors", c.ExcessiveBufferOverrunErrors},
		{"PortXmitWait", c.PortXmitWait},
	}
}

// ibqueryerrors lists every port with a counter above its threshold (zero without a threshold
// file) and a switch's sum before its ports. It exits 1 if it lists any.
func ibqueryerrors(c *call) int {
	port, ok := c.firstActive()
	if !ok {
		c.cannotOpen()
		c.printf("ibqueryerrors: iberror: failed: Failed to open port; (null):0\n\n")
		return 255
	}
	if port.SMLID == 0 { // the port has not seen a subnet manager
		c.errorf("ibwarn: [1] sa_get_handle: No SM/SA found on port (null):0\n")
		return 0
	}
	if !slices.ContainsFunc(c.state.SMs, func(sm fabric.SM) bool { return sm.LID == port.SMLID && !sm.Silent }) {
		c.errorf("Query SA failed: Connection timed out; sa call path_query failed\n")
		return 0
	}
	net := scan(c.state)
	suppressed := suppressions(c)
	nodes, bad, ports, badPorts := 0, 0, 0, 0
	if !c.has("--switch") {
		for _, ca := range net.cas {
			nodes++
			ports++
			if text := errorText(counters(ca.link.CountersA), suppressed); text != "" {
				bad++
				badPorts++
				c.printf("Errors for \"%s\"\n   GUID 0x%x port 1:%s\n", ca.name(), ca.hca.GUID, text)
			}
		}
	}
	if !c.has("--ca") {
		for _, s := range net.switches {
			nodes++
			ports += s.sw.Ports
			n := switchErrors(c, s, suppressed)
			badPorts += n
			if n > 0 {
				bad++
			}
		}
	}
	c.printf("\n## Summary: %d nodes checked, %d bad nodes found\n", nodes, bad)
	c.printf("##          %d ports checked, %d ports have errors beyond threshold\n", ports, badPorts)
	c.printf("## Thresholds: \n## Suppressed:")
	for _, s := range suppressed {
		c.printf(" %s", s)
	}
	c.printf("\n")
	if bad > 0 {
		return 1
	}
	return 0
}

// switchErrors prints a switch's sum and ports and returns the number of listed ports.
func switchErrors(c *call, s switchPorts, suppressed []string) int {
	var lines strings.Builder
	var sum []counter
	listed := 0
	for p := 1; p <= s.sw.Ports; p++ {
		l := s.links[p]
		if l.A.Node == "" {
			continue
		}
		own := l.CountersB
		if l.A == (fabric.End{Node: s.sw.Name, Port: p}) {
			own = l.CountersA
		}
		cs := counters(own)
		text := errorText(cs, suppressed)
		if text == "" {
			continue
		}
		listed++
		fmt.Fprintf(&lines, "   GUID 0x%x port %d:%s\n", s.sw.GUID, p, text)
		if sum == nil {
			sum = make([]counter, len(cs))
		}
		for i, v := range cs {
			sum[i] = counter{v.name, sum[i].value + v.value}
		}
	}
	if listed > 0 {
		c.printf("Errors for 0x%x \"%s\"\n   GUID 0x%x port ALL:%s\n%s", s.sw.GUID, s.sw.Name, s.sw.GUID, errorText(sum, suppressed), lines.String())
	}
	return listed
}

func errorText(cs []counter, suppressed []string) string {
	var b strings.Builder
	for _, v := range cs {
		if v.value == 0 || slices.Contains(suppressed, v.name) {
			continue
		}
		fmt.Fprintf(&b, " [%s == %d]", v.name, v.value)
	}
	return b.String()
}

func suppressions(c *call) []string {
	var out []string
	for i, a := range c.args {
		switch {
		case a == "-c" || a == "--suppress-common":
			out = append(out, "PortRcvSwitchRelayErrors", "PortXmitWait")
		case (a == "-s" || a == "--suppress") && i+1 < len(c.args):
			out = append(out, strings.Split(c.args[i+1], ",")...)
		case strings.HasPrefix(a, "--suppress="):
			out = append(out, strings.Split(strings.TrimPrefix(a, "--suppress="), ",")...)
		}
	}
	return out
}
