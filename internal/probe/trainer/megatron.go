package trainer

import (
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/probe/guard"
	"github.com/firstlight/firstlight/internal/probe/logline"
)

var (
	iteration = regexp.MustCompile(`(?:\[([^\]]+)\]\s+)?iteration\s+(\d+)/\s*(\d+)\s*\|(.*)$`)
	datetime  = regexp.MustCompile(`datetime: (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)`)
	extremes  = regexp.MustCompile(`(MnEtpt|MxEtpt)/Rnk:\s*([\d.]+)TF/(\d+)`)
	stages    = regexp.MustCompile(`> initialized pipeline model parallel with size (\d+)`)
)

// ParseMegatron parses a log of Megatron-LM.
func ParseMegatron(r io.Reader) (MegatronLog, error) {
	return guard.Parse("Megatron log", func() (MegatronLog, error) { return parseMegatron(r) })
}

func parseMegatron(r io.Reader) (MegatronLog, error) {
	p := &megatronParser{collector: newCollector(func(rank int) *MegatronRank { return &MegatronRank{Rank: rank} })}
	err := logline.Scan(r, func(l logline.Line) error { p.line(l); return nil })
	log := MegatronLog{Ranks: p.sorted(), PipelineStages: p.stages, Stragglers: p.stragglers, Failures: p.failures, Problems: p.problems, Clipped: p.clipped}
	if err != nil {
		return log, fmt.Errorf("read Megatron log: %w", err)
	}
	return log, nil
}

type megatronParser struct {
	collector[MegatronRank]
	stages     int
	stragglers []MegatronStraggler
}

func (p *megatronParser) line(l logline.Line) {
	p.failure(l)
	switch {
	case strings.Contains(l.Text, "MnEtpt/Rnk:"):
		p.straggler(l.Text)
	case strings.Contains(l.Text, "pipeline model parallel"):
		if m := stages.FindStringSubmatch(l.Text); m != nil {
			p.stages, _ = count(m[1])
		}
	}
	var m []string
	if strings.Contains(l.Text, "iteration") {
		m = iteration.FindStringSubmatch(l.Text)
	}
	if l.Rank < 0 && m == nil {
		return
	}
	rank := p.rank(l.Rank)
	if rank == nil {
		return
	}
	rank.Lines++
	switch {
	case m != nil:
		rank.start("2006-01-02 15:04:05.999999", m[1])
		if it, err := parseIteration(m[2], m[3], m[4]); p.step(rank.Rank, l.Text, err) {
			rank.Steps = append(rank.Steps, it)
		}
	case strings.Contains(l.Text, "[after training is done]"):
		rank.Completed = true
	default:
		if d := datetime.FindStringSubmatch(l.Text); d != nil {
			rank.start("2006-01-02 15:04:05", d[1])
		}
	}
}

func (r *MegatronRank) start(layout, text string) {
	if !r.Started.IsZero() || text == "" {
		return
	}
	if at, err := time.Parse(layout, strings.TrimSpace(text)); err == nil {
		r.Started = at
	}
}

func (p *megatronParser) straggler(text string) {
	var s MegatronStraggler
	found := 0
	for _, m := range extremes.FindAllStringSubmatch(text, 4) {
		v, ok := parseFinite(m[2])
		rank, err := count(m[3])
		if !ok || err != nil {
			return
		}
		found++
		if m[1] == "MnEtpt" {
			s.MinTFLOPS, s.MinRank = v, rank
		} else {
			s.MaxTFLOPS, s.MaxRank = v, rank
		}
	}
	switch {
	case found != 2:
	case len(p.stragglers) >= maxSteps:
		p.clipped = true
	default:
		p.stragglers = append(p.stragglers, s)
	}
}
