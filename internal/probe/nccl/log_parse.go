package nccl

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/firstlight/firstlight/internal/probe/guard"
	"github.com/firstlight/firstlight/internal/probe/logline"
)

// Bounds of one NCCL log.
const (
	maxHosts    = 1 << 14
	maxChannels = 1 << 17
	maxGPUs     = 1 << 18
	maxWarnings = 1 << 13 // every adapter warns of an event of the subnet manager: 8 of 1024 hosts
	maxList     = 256
)

// prefix matches "host:pid:tid [device] NCCL INFO text"; tid and device are optional. A warning
// starts with the time and has the source position, from 2.30 on with the function.
var prefix = regexp.MustCompile(`^\s*(?:\[[0-9: .-]+\] )?([^\s:]+):(\d+)(?::\d+)? (?:\[(\d+)\] )?(?:(\S+:\d+) (?:\(\S+\) )?)?NCCL (INFO|WARN|VERSION) ?(.*)$`)

// ParseLog parses the NCCL lines of a log and ignores other lines.
func ParseLog(r io.Reader) (Log, error) {
	return guard.Parse("NCCL log", func() (Log, error) { return parseLog(whole(r)) })
}

func parseLog(r io.Reader) (Log, error) {
	p := &logParser{hosts: map[string]*hostLines{}, gpus: map[gpuKey]*Rank{}, channels: map[Channel]int{}, warned: map[Warning]bool{}, whole: map[process]bool{}, partial: map[process]bool{}}
	if err := logline.Scan(r, func(l logline.Line) error { p.line(l.Text); return nil }); err != nil {
		return p.log(), fmt.Errorf("read NCCL log: %w", err)
	}
	for _, text := range p.waiting {
		p.joinedLine(text, true)
	}
	return p.log(), nil
}

// gpuKey is one GPU of one process.
type gpuKey struct {
	host        string
	pid, device int
}

type logParser struct {
	lines    int
	versions []string
	hosts    map[string]*hostLines
	gpus     map[gpuKey]*Rank
	channels map[Channel]int
	warnings []Warning
	warned   map[Warning]bool // those of warnings
	clipped  bool
	// waiting are lines that hold a host without a limit before it; joined counts those that never had one.
	waiting []string
	joined  int
	// cut is the number of lines without an end. whole are the processes with a channel whose line has one, partial
	// those with a channel whose line has none.
	cut            int
	whole, partial map[process]bool
}

func (p *logParser) line(text string) {
	if !strings.Contains(text, "NCCL ") {
		return
	}
	m := prefix.FindStringSubmatch(text)
	if (m == nil || several(text)) && within.MatchString(text) {
		p.joinedLine(text, false)
		return
	}
	if m == nil {
		p.version(text)
		return
	}
	p.one(m, false)
}

// one reads one line of NCCL, as prefix matches it. A cut one shows that its process prints, and its warning.
func (p *logParser) one(m []string, cut bool) {
	p.lines++
	key := gpuKey{host: strings.Clone(m[1]), pid: number(m[2]), device: number(m[3])}
	body := strings.TrimSpace(m[6])
	if m[5] == "WARN" {
		p.warning(Warning{Host: key.host, Source: strings.Clone(m[4]), Text: strings.Clone(body)})
		return
	}
	host := p.host(key.host)
	if host == nil {
		return
	}
	if cut {
		p.cutLine(key, body)
		return
	}
	p.version(body)
	switch {
	case strings.HasPrefix(body, "Channel "), strings.HasPrefix(body, "Ring "):
		p.channel(key, body)
	case strings.HasPrefix(body, "CollNet "):
		p.collNet(key, body)
	case strings.HasPrefix(body, "NET/"), strings.HasPrefix(body, "GPU Direct RDMA"):
		host.network(body)
	case strings.HasPrefix(body, "Using network"), strings.HasPrefix(body, "Initialized NET plugin"), strings.HasPrefix(body, "P2P plugin"):
		host.using(body)
	case strings.HasPrefix(body, "NCCL_"):
		host.setting(body)
	default:
		if gpu := p.gpu(key); gpu != nil {
			gpu.line(body)
		}
	}
}

func (p *logParser) version(text string) {
	rest, ok := strings.CutPrefix(text, "NCCL version ")
	if !ok {
		return
	}
	word, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	p.versions = add(p.versions, word)
}

// warning keeps each text of a host once: all ranks may print it.
func (p *logParser) warning(w Warning) {
	if len(w.Text) > 512 {
		w.Text = w.Text[:512]
	}
	switch {
	case p.warned[w]:
	case len(p.warnings) >= maxWarnings:
		p.clipped = true
	default:
		p.warned[w] = true
		p.warnings = append(p.warnings, w)
	}
}

func (p *logParser) host(name string) *hostLines {
	h, ok := p.hosts[name]
	if !ok {
		if len(p.hosts) >= maxHosts {
			p.clipped = true
			return nil
		}
		h = &hostLines{}
		p.hosts[name] = h
	}
	return h
}

func (p *logParser) gpu(key gpuKey) *Rank {
	g, ok := p.gpus[key]
	if !ok {
		if len(p.gpus) >= maxGPUs {
			p.clipped = true
			return nil
		}
		g = &Rank{Rank: -1, Host: key.host, Device: key.device}
		p.gpus[key] = g
	}
	return g
}

// add appends s unless the list contains it or is full.
func add(list []string, s string) []string {
	if slices.Contains(list, s) || len(list) >= maxList {
		return list
	}
	return append(list, strings.Clone(s))
}

func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 {
		return 0
	}
	return n
}
