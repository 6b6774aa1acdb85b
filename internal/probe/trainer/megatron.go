package trainer

import (
	"cmp"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/probe/guard"
	"github.com/firstlight/firstlight/internal/probe/logline"
)

// Bounds of what one log may hold.
const (
	megatronMaxRanks    = 4096
	megatronMaxSteps    = 1 << 18
	megatronMaxProblems = 32
	megatronMaxFailures = 32
	maxStragglers       = 4096
)

var (
	iteration = regexp.MustCompile(`(?:\[([^\]]+)\]\s+)?iteration\s+(\d+)/\s*(\d+)\s*\|(.*)$`)
	datetime  = regexp.MustCompile(`datetime: (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)`)
	extremes  = regexp.MustCompile(`(MnEtpt|MxEtpt)/Rnk:\s*([\d.]+)TF/(\d+)`)
)

// ParseMegatron reads a log.
func ParseMegatron(r io.Reader) (MegatronLog, error) {
	return guard.Parse("log of Megatron", func() (MegatronLog, error) { return parseMegatron(r) })
}

func parseMegatron(r io.Reader) (MegatronLog, error) {
	p := &megatronParser{ranks: map[int]*MegatronRank{}}
	err := logline.Scan(r, func(l logline.Line) error { p.line(l); return nil })
	for _, rank := range p.ranks {
		p.log.Ranks = append(p.log.Ranks, *rank)
	}
	slices.SortFunc(p.log.Ranks, func(a, b MegatronRank) int { return cmp.Compare(a.Rank, b.Rank) })
	if err != nil {
		return p.log, fmt.Errorf("log of Megatron: %w", err)
	}
	return p.log, nil
}

type megatronParser struct {
	ranks map[int]*MegatronRank
	log   MegatronLog
	steps int
}

func (p *megatronParser) line(l logline.Line) {
	if f, ok := DetectFailure(l); ok {
		if len(p.log.Failures) < megatronMaxFailures {
			p.log.Failures = append(p.log.Failures, f)
		} else {
			p.log.Clipped = true
		}
	}
	if strings.Contains(l.Text, "MnEtpt/Rnk:") {
		p.straggler(l.Text)
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
		p.iteration(rank, m, l.Text)
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

func (p *megatronParser) rank(n int) *MegatronRank {
	r, ok := p.ranks[n]
	if !ok {
		if len(p.ranks) >= megatronMaxRanks {
			p.log.Clipped = true
			return nil
		}
		r = &MegatronRank{Rank: n}
		p.ranks[n] = r
	}
	return r
}

func (p *megatronParser) iteration(r *MegatronRank, m []string, text string) {
	it, err := parseIteration(m[2], m[3], m[4])
	switch {
	case err != nil && len(p.log.Problems) < megatronMaxProblems:
		p.log.Problems = append(p.log.Problems, fmt.Sprintf("rank %d: %v: %.160q", r.Rank, err, text))
	case err == nil && p.steps < megatronMaxSteps:
		p.steps++
		r.Steps = append(r.Steps, it)
	default:
		p.log.Clipped = true
	}
}

func (p *megatronParser) straggler(text string) {
	var s MegatronStraggler
	seen := 0
	for _, m := range extremes.FindAllStringSubmatch(text, 4) {
		v, ok := megatronNumber(m[2])
		rank, err := count(m[3])
		if !ok || err != nil {
			return
		}
		seen++
		if m[1] == "MnEtpt" {
			s.MinTFLOPS, s.MinRank = v, rank
		} else {
			s.MaxTFLOPS, s.MaxRank = v, rank
		}
	}
	if seen == 2 && len(p.log.Stragglers) < maxStragglers {
		p.log.Stragglers = append(p.log.Stragglers, s)
	}
}
