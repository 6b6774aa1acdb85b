package corpus

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/firstlight/firstlight/internal/probe/nvidia"
)

var (
	xidLine  = regexp.MustCompile(`NVRM: Xid \(PCI:(?:0000)?([0-9a-fA-F]{4}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2})[^)]*\): (\d+)(,? .*)?`)
	sxidLine = regexp.MustCompile(`(nvswitch\d+): SXid \(PCI:([0-9a-fA-F]{4}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2})[^)]*\): (\d+), (\S+)( \d+)?`)
)

// readXID compares how often each code came on each device. Of a switch's error
// only lines with its class count, and others where no line has one.
func readXID(text string) (got, want []string, err error) {
	log, err := nvidia.ParseXids([]byte(text))
	if err != nil {
		return nil, nil, err
	}
	type place struct {
		kind, pci, device, code string
		fatal                   bool
	}
	words := func(lines int, counts map[place]int) []string {
		out := []string{word("lines", lines)}
		for p, n := range counts {
			out = append(out, word(p.kind, p.pci, p.device, p.code, p.fatal, n))
		}
		slices.Sort(out)
		return out
	}
	read := map[place]int{}
	for _, e := range log.Events {
		p := place{e.Kind, e.PCI, e.Device, strconv.Itoa(e.Code), e.Fatal}
		if e.Unclassified || strings.HasPrefix(e.Text, "Severity") {
			read[p] = 1 // how many further lines there are does not matter
		} else {
			read[p] += e.Count
		}
	}
	counts, classed := map[place]int{}, map[string]bool{}
	for _, m := range sxidLine.FindAllStringSubmatch(text, -1) {
		if m[4] == "Fatal," || m[4] == "Non-fatal," {
			counts[place{nvidia.KindSXid, strings.ToLower(m[2]), m[1], m[3], m[4] == "Fatal,"}]++
			classed[m[1]+m[3]] = true
		}
	}
	severe := map[string]bool{}
	for _, m := range sxidLine.FindAllStringSubmatch(text, -1) {
		if m[4] == "Severity" && !classed[m[1]+m[3]] {
			counts[place{nvidia.KindSXid, strings.ToLower(m[2]), m[1], m[3], m[5] != " 0"}] = 1
			severe[m[1]+m[3]] = true
		}
	}
	for _, m := range sxidLine.FindAllStringSubmatch(text, -1) {
		if m[4] == "Data" && !classed[m[1]+m[3]] && !severe[m[1]+m[3]] {
			counts[place{nvidia.KindSXid, strings.ToLower(m[2]), m[1], m[3], false}] = 1
		}
	}
	for _, m := range xidLine.FindAllStringSubmatch(text, -1) {
		nvlink5 := m[2] >= "144" && m[2] <= "150" && len(m[2]) == 3
		counts[place{nvidia.KindXid, strings.ToLower(m[1]), "", m[2], nvlink5 && strings.Contains(m[3], " Fatal ")}]++
	}
	lines := strings.Count(strings.TrimSuffix(text, "\n"), "\n") + 1
	return words(log.Lines, read), words(lines, counts), nil
}
