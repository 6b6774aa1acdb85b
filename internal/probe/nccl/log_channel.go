package nccl

import (
	"regexp"
	"strings"

	"github.com/firstlight/firstlight/internal/probe/logline"
)

var (
	// channelLine matches "Channel 00/0 : 0[0] -> 8[0] [send] via NET/IB/0/GDRDMA"
	// and the older "Ring 00 : 3 -> 10 [send] via NET/IB/0".
	channelLine = regexp.MustCompile(`^(?:Channel|Ring) \d+(?:/\d+)? : (\d+)(?:\[[^\]]*\])? -> (\d+)(?:\[[^\]]*\])? (?:\[(send|receive)\] )?via (\S.*)$`)
	// collNetLine matches "CollNet 00/0 : 0 [receive] via COLLNET/SHARP/1/GDRDMA(PCI)": the peers are the switches.
	collNetLine = regexp.MustCompile(`^CollNet \d+(?:/\d+)? : (\d+) \[(send|receive)\] via (COLLNET/[^/]+)/(\d+)(/GDRDMA(?:\(PCI\))?.*)?$`)
	// comm is what RCCL prints behind the transport.
	comm = regexp.MustCompile(` comm 0x[0-9a-f]+ nRanks \d+$`)
	// netVia matches "NET/IB/3(8)/GDRDMA(PCI)/Shared" and "NET/AWS Libfabric/0".
	netVia = regexp.MustCompile(`^(NET/[^/:]+)/(\d+)(?:\(\d+\))?(/GDRDMA(?:\(PCI\))?.*|/Shared)?$`)
	// local matches the other transports: "P2P/CUMEM/read", "SHM/direct/direct", of older versions "direct shared memory".
	local = regexp.MustCompile(`^(?:P2P/|SHM/|direct )`)
)

// process is a GPU of a host in the lines of NCCL.
type process struct {
	host   string
	device int
}

// channel reads a line about a connection. A line with an end that NCCL does not print is cut.
func (p *logParser) channel(key gpuKey, text string) {
	host := key.host
	m := channelLine.FindStringSubmatch(text)
	if m == nil {
		return // "Channel 00/16 : 0 1 2 3" is the order of a ring
	}
	c := Channel{Host: host, From: number(m[1]), To: number(m[2]), Direction: strings.Clone(m[3]), Device: -1}
	if c.From > logline.MaxRank || c.To > logline.MaxRank {
		return
	}
	via := strings.TrimSpace(m[4])
	if strings.Contains(via, " comm 0x") {
		via = comm.ReplaceAllString(via, "")
	}
	net := netVia.FindStringSubmatch(via)
	if net == nil && !local.MatchString(via) {
		p.cutLine(key, text)
		return
	}
	p.whole[process{host, key.device}] = true
	if net != nil {
		c.Transport, c.Device = strings.Clone(net[1]), number(net[2])
		c.GDR = strings.HasPrefix(net[3], "/GDRDMA")
	} else {
		c.Transport = strings.Clone(via)
	}
	p.count(c)
}

// cutLine counts a line whose end is missing.
func (p *logParser) cutLine(key gpuKey, text string) {
	p.cut++
	if strings.HasPrefix(text, "Channel ") || strings.HasPrefix(text, "Ring ") || strings.HasPrefix(text, "CollNet ") {
		p.partial[process{key.host, key.device}] = true
	}
}

// cutChannels is the number of processes of whose channels no line is whole. NCCL prints the channels of a process in
// each repetition, so that the others are known from lines that are.
func (p *logParser) cutChannels() int {
	n := 0
	for who := range p.partial {
		if !p.whole[who] {
			n++
		}
	}
	return n
}

func (p *logParser) collNet(key gpuKey, text string) {
	m := collNetLine.FindStringSubmatch(text)
	if m == nil {
		if strings.Contains(text, "] via ") {
			p.cutLine(key, text)
		}
		return
	}
	p.whole[process{key.host, key.device}] = true
	c := Channel{Host: key.host, From: number(m[1]), To: -1, Direction: strings.Clone(m[2]), Transport: strings.Clone(m[3]), Device: number(m[4]), GDR: m[5] != ""}
	if c.From <= logline.MaxRank {
		p.count(c)
	}
}

func (p *logParser) count(c Channel) {
	if _, ok := p.channels[c]; !ok && len(p.channels) >= maxChannels {
		p.clipped = true
		return
	}
	p.channels[c]++
}
