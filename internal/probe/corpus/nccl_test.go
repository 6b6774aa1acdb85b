package corpus

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/firstlight/firstlight/internal/probe/nccl"
)

// tableRow is a row anywhere in a line: size, count, type, and the rest.
var tableRow = regexp.MustCompile(`(?:^|[\s>:])(\d+)\s+(\d+)\s+(float|half|double|bfloat16|u?int\d*|fp\d+)\s+(.*)$`)

// readNCCLTests compares size, count and the figures of each half, which come
// in the text as three numbers a half in the order time, algbw, busbw.
func readNCCLTests(text string) (got, want []string, err error) {
	runs, err := nccl.ParseTests(strings.NewReader(text))
	if err != nil {
		return nil, nil, err
	}
	rows, devices := 0, 0
	for _, run := range runs {
		devices += len(run.Devices)
		if run.MaxBytes > 0 {
			got = append(got, word("sizes", run.MinBytes, run.MaxBytes))
		}
		if run.AvgBusBW != nil {
			got = append(got, word("average", *run.AvgBusBW))
		}
		if len(run.Problems) > 0 {
			return nil, nil, errors.New(run.Problems[0])
		}
		for _, row := range run.Rows {
			rows++
			got = append(got, word("row", row.Bytes, row.Count, row.Type))
			for _, s := range row.Sides() {
				got = append(got, word("side", s.TimeUS, s.AlgBW, s.BusBW))
			}
		}
	}
	if rows == 0 && devices == 0 {
		return nil, nil, errors.New("neither a row of a table nor a device")
	}
	got = append(got, word("devices", devices))
	want = append(want, word("devices", len(all(`(?m)#\s+(Rank\s+\d+ .* on .* device)`, text))))
	for _, sizes := range all(`# nThread .*minBytes (\d+ maxBytes \d+)`, text) {
		want = append(want, word("sizes", strings.Replace(sizes, "maxBytes ", "", 1)))
	}
	for _, average := range all(`# Avg bus bandwidth\s*: ([\d.]+)`, text) {
		want = append(want, word("average", float(average)))
	}
	root := true
	for line := range strings.Lines(text) {
		if strings.Contains(line, "busbw") {
			root = strings.Contains(line, "root")
		}
		m := tableRow.FindStringSubmatch(strings.TrimRight(line, "\r\n"))
		if m == nil || strings.Contains(line, "NCCL INFO") {
			continue
		}
		want = append(want, word("row", m[1], m[2], m[3]))
		figures := decimals(m[4], root)
		for len(figures) >= 3 {
			want = append(want, word("side", figures[0], figures[1], figures[2]))
			figures = figures[3:]
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	return got, want, nil
}

// decimals are the figures behind the type: those of the root and of wrong
// elements are left out by their place.
func decimals(text string, root bool) []float64 {
	fields := strings.Fields(text)
	if len(fields) > 0 && !strings.ContainsAny(fields[0], "0123456789") {
		fields = fields[1:] // the operation
	}
	if root && len(fields) > 0 {
		fields = fields[1:]
	}
	var out []float64
	for half := range slices.Chunk(fields, 4) { // time, algbw, busbw, #wrong
		for _, f := range half[:min(3, len(half))] {
			if v, err := strconv.ParseFloat(f, 64); err == nil {
				out = append(out, v)
			}
		}
	}
	return out
}

var ncclLine = regexp.MustCompile(`(?m)[^\s:]+:\d+(?::\d+)? (?:\[\d+\] )?(?:\S+:\d+ (?:\(\S+\) )?)?NCCL (?:INFO|WARN|VERSION)`)

func readNCCLLog(text string) (got, want []string, err error) {
	log, err := nccl.ParseLog(strings.NewReader(text))
	if err != nil {
		return nil, nil, err
	}
	if log.Lines == 0 {
		return nil, nil, errors.New("no line of NCCL")
	}
	inits, channels, hcas, gdr := 0, 0, map[string]bool{}, 0
	for _, r := range log.Ranks {
		inits += r.Inits
	}
	for _, c := range log.Channels {
		channels += c.Count
		if c.GDR {
			gdr += c.Count
		}
	}
	for _, h := range log.Hosts {
		for _, list := range h.HCAs {
			for _, hca := range list {
				hcas[fmt.Sprintf("%s:%d/%s", hca.Name, hca.Port, hca.Layer)] = true
			}
		}
	}
	got = []string{word("lines", log.Lines), word("inits", inits), word("channels", channels), word("GPUDirect", gdr), word("HCAs", len(hcas)), word("warnings", len(log.Warnings))}
	named := map[string]bool{}
	for _, list := range all(`(?m)NET/IB : Using (.*?)(?:; OOB|$)`, text) {
		for _, hca := range all(`\[\d+\](\S+:\d+/\S+)`, list) {
			named[hca] = true
		}
	}
	via := all(`(?m)NCCL INFO (?:Channel|Ring) .* via (\S.*)$`, text)
	want = []string{
		word("lines", len(ncclLine.FindAllString(text, -1))), word("inits", len(all(`(rank \d+ nranks .*Init COMPLETE)`, text))), word("channels", len(via)),
		word("GPUDirect", len(all(`(via NET/\S*GDRDMA)`, text))), word("HCAs", len(named)), word("warnings", len(all(`(NCCL WARN)`, text))),
	}
	return got, want, nil
}
