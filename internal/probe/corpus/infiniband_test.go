package corpus

import (
	"strings"

	"github.com/firstlight/firstlight/internal/probe/infiniband"
)

func readIBStat(text string) (got, want []string, err error) {
	adapters, err := infiniband.ParseStat([]byte(text))
	if err != nil {
		return nil, nil, err
	}
	for _, a := range adapters {
		got = append(got, word("CA", a.Name, a.Type, a.Firmware))
		for _, p := range a.Ports {
			got = append(got, word("port", p.State, p.PhysicalState, p.RateGbps, p.BaseLID, p.SMLID, p.PortGUID, p.LinkLayer))
		}
	}
	for _, block := range strings.Split(text, "CA '")[1:] {
		one := func(key string) any { return all(`(?m)^\s*`+key+`: (.*)$`, block)[0] }
		want = append(want, word("CA", block[:strings.Index(block, "'")], one("CA type"), one("Firmware version")),
			word("port", one("State"), one("Physical state"), one("Rate"), one("Base lid"), one("SM lid"), one("Port GUID"), one("Link layer")))
	}
	return got, want, nil
}

func readIBLinkInfo(text string) (got, want []string, err error) {
	ports, err := infiniband.ParseLinkInfo([]byte(text))
	if err != nil {
		return nil, nil, err
	}
	for _, p := range ports {
		got = append(got, word("port", p.GUID, p.LID, p.Port, p.LaneGbps, p.State, p.PhysState, p.PeerGUID))
	}
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) == "" {
			continue
		}
		numbers := all(`"\s+(\d+)\s+\d+\[`, line)
		want = append(want, word("port", line[:18], numbers[0], all(`"\s+\d+\s+(\d+)\[`, line)[0], append(all(`([\d.]+) Gbps \w+/`, line), "0")[0],
			all(`(\w+)/ *\w`, line)[0], all(`/ *([\w ]+)\)==>`, line)[0], append(all(`==>\s+(0x\w+)`, line), "")[0]))
	}
	return got, want, nil
}

func readIBQueryErrors(text string) (got, want []string, err error) {
	r, err := infiniband.ParseQueryErrors([]byte(text))
	if err != nil {
		return nil, nil, err
	}
	got = append(got, word("checked", r.NodesChecked, r.PortsChecked, r.QueryFailures))
	for _, p := range r.Ports {
		for _, name := range []string{"SymbolErrorCounter", "LinkDownedCounter", "PortXmitWait", "PortXmitDiscards", "VL15Dropped", "PortRcvSwitchRelayErrors"} {
			if v, ok := p.Counters[name]; ok {
				got = append(got, word(name, p.GUID, p.Port, v))
			}
		}
	}
	want = append(want, word("checked", all(`(\d+) nodes checked`, text)[0], all(`(\d+) ports checked`, text)[0], append(all(`(\d+) PMA query`, text), "0")[0]))
	for line := range strings.Lines(text) {
		if !strings.Contains(line, " port ") || strings.Contains(line, "port ALL") || !strings.HasPrefix(line, "   GUID") {
			continue
		}
		for _, name := range []string{"SymbolErrorCounter", "LinkDownedCounter", "PortXmitWait", "PortXmitDiscards", "VL15Dropped", "PortRcvSwitchRelayErrors"} {
			for _, v := range all(`\[`+name+` == (\d+)`, line) {
				want = append(want, word(name, all(`GUID (\w+)`, line)[0], all(`port (\d+)`, line)[0], v))
			}
		}
	}
	return got, want, nil
}

func readIBDiagnet(text string) (got, want []string, err error) {
	r, err := infiniband.ParseDiagnet([]byte(text))
	if err != nil {
		return nil, nil, err
	}
	for _, s := range r.Stages {
		got = append(got, word("stage", s.Name, s.Warnings, s.Errors))
	}
	got = append(got, word("errors", len(r.Errors)))
	_, summary, _ := strings.Cut(text, "-I- Stage ")
	for line := range strings.Lines(summary) {
		fields := all(`^-[IWE]- (.*?)\s\s+\d+\s+\d+`, line)
		if len(fields) > 0 {
			want = append(want, word("stage", fields[0], all(`\s\s+(\d+)\s+\d+`, line)[0], all(`\s\s+\d+\s+(\d+)`, line)[0]))
		}
	}
	want = append(want, word("errors", strings.Count("\n"+text, "\n-E- ")))
	return got, want, nil
}

func readSMInfo(text string) (got, want []string, err error) {
	i, err := infiniband.ParseSMInfo([]byte(text))
	if err != nil {
		return nil, nil, err
	}
	state := "none"
	if i.State != nil {
		state = string(rune('0' + *i.State))
	}
	got = []string{word("sm", i.LID, i.GUID, i.Activity, i.Priority, state)}
	want = []string{word("sm", all(`sm lid (\d+)`, text)[0], all(`sm guid (\w+)`, text)[0], all(`count (\d+)`, text)[0], all(`priority (\d+)`, text)[0], all(`state (\d)`, text)[0])}
	return got, want, nil
}
