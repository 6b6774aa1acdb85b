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
	collNetLine = regexp.MustCompile(`^CollNet \d+(?:/\d+)? : (\d+) \[(send|receive)\] via (COLLNET/[^/]+)/(\d+)((?:/.*)?)$`)
	// comm is what RCCL prints behind the transport.
	comm = regexp.MustCompile(` comm 0x[0-9a-f]+ nRanks \d+$`)
	// netVia matches "NET/IB/3(8)/GDRDMA(PCI)/Shared" and "NET/AWS Libfabric/0".
	netVia = regexp.MustCompile(`^(NET/[^/:]+)/(\d+)(?:\(\d+\))?((?:/.*)?)$`)
)

func (p *logParser) channel(host, text string) {
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
	if net := netVia.FindStringSubmatch(via); net != nil {
		c.Transport, c.Device = strings.Clone(net[1]), number(net[2])
		c.GDR = strings.Contains(net[3], "/GDRDMA")
	} else {
		c.Transport = strings.Clone(via)
	}
	p.count(c)
}

func (p *logParser) collNet(host, text string) {
	m := collNetLine.FindStringSubmatch(text)
	if m == nil {
		return
	}
	c := Channel{Host: host, From: number(m[1]), To: -1, Direction: strings.Clone(m[2]), Transport: strings.Clone(m[3]), Device: number(m[4]), GDR: strings.Contains(m[5], "/GDRDMA")}
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
