package trainer

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/probe/guard"
	"github.com/firstlight/firstlight/internal/probe/logline"
)

// Bounds of what one log may hold.
const (
	titanMaxRanks    = 4096
	titanMaxSteps    = 1 << 18
	titanMaxProblems = 32
	titanMaxFailures = 32
)

var (
	stepLine = regexp.MustCompile(`(?:^|\s)step:\s*(\d+)\s+loss:\s*(\S+)\s`)
	field    = regexp.MustCompile(`(memory|tps|tflops|mfu):\s*(\S+)`)
	stamp    = regexp.MustCompile(`\[titan\] (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}) `)
	peak     = regexp.MustCompile(`Peak FLOPS used for computing MFU: (\S+)`)
	batch    = regexp.MustCompile(`local batch size (\d+),.*gradient accumulation steps (\d+), sequence length (\d+)`)
	size     = regexp.MustCompile(`size: ([\d,]+) total parameters`)
)

// ParseTorchtitan reads a log.
func ParseTorchtitan(r io.Reader) (TorchtitanLog, error) {
	return guard.Parse("torchtitan log", func() (TorchtitanLog, error) { return parseTorchtitan(r) })
}

func parseTorchtitan(r io.Reader) (TorchtitanLog, error) {
	p := &titanParser{ranks: map[int]*TorchtitanRank{}}
	err := logline.Scan(r, func(l logline.Line) error { p.line(l); return nil })
	for _, rank := range p.ranks {
		p.log.Ranks = append(p.log.Ranks, *rank)
	}
	slices.SortFunc(p.log.Ranks, func(a, b TorchtitanRank) int { return cmp.Compare(a.Rank, b.Rank) })
	if err != nil {
		return p.log, fmt.Errorf("torchtitan log: %w", err)
	}
	return p.log, nil
}

type titanParser struct {
	ranks map[int]*TorchtitanRank
	log   TorchtitanLog
	steps int
}

func (p *titanParser) line(l logline.Line) {
	if f, ok := DetectFailure(l); ok {
		if len(p.log.Failures) < titanMaxFailures {
			p.log.Failures = append(p.log.Failures, f)
		} else {
			p.log.Clipped = true
		}
	}
	var m []string
	if strings.Contains(l.Text, "step:") {
		m = stepLine.FindStringSubmatch(l.Text)
	}
	if l.Rank < 0 && m == nil && !strings.Contains(l.Text, "[titan]") {
		return
	}
	rank := p.rank(l.Rank)
	if rank == nil {
		return
	}
	p.facts(rank, l.Text)
	if m == nil || strings.Contains(l.Text, "validate step:") {
		return
	}
	step, err := parseStep(m, l.Text)
	switch {
	case err != nil && len(p.log.Problems) < titanMaxProblems:
		p.log.Problems = append(p.log.Problems, fmt.Sprintf("rank %d: %v: %.160q", l.Rank, err, l.Text))
	case err == nil && p.steps < titanMaxSteps:
		p.steps++
		rank.Steps = append(rank.Steps, step)
	default:
		p.log.Clipped = true
	}
}

func (p *titanParser) rank(n int) *TorchtitanRank {
	r, ok := p.ranks[n]
	if !ok {
		if len(p.ranks) >= titanMaxRanks {
			p.log.Clipped = true
			return nil
		}
		r = &TorchtitanRank{Rank: n}
		p.ranks[n] = r
	}
	return r
}

// facts reads what is said once.
func (p *titanParser) facts(r *TorchtitanRank, text string) {
	if r.Started.IsZero() {
		if m := stamp.FindStringSubmatch(text); m != nil {
			if at, err := time.Parse("2006-01-02 15:04:05,000", m[1]); err == nil {
				r.Started = at
			}
		}
	}
	switch {
	case strings.Contains(text, "Training completed"):
		r.Completed = true
	case strings.Contains(text, "Peak FLOPS"):
		if m := peak.FindStringSubmatch(text); m != nil {
			if v, ok := titanNumber(m[1]); ok {
				v /= 1e12
				r.PeakTFLOPS = &v
			}
		}
	case strings.Contains(text, "Trainer is initialized"):
		if m := batch.FindStringSubmatch(text); m != nil {
			r.TokensPerStep = product(m[1:])
		}
	case strings.Contains(text, "total parameters"):
		if m := size.FindStringSubmatch(text); m != nil {
			if v, ok := titanNumber(m[1]); ok && v < 1<<62 {
				r.Parameters = int64(v)
			}
		}
	}
}

func parseStep(m []string, text string) (TorchtitanStep, error) {
	n, err := strconv.Atoi(m[1])
	if err != nil {
		return TorchtitanStep{}, fmt.Errorf("step %.20q is no number", m[1])
	}
	s := TorchtitanStep{Step: n}
	if loss, ok := titanNumber(m[2]); ok {
		s.Loss = &loss
	} else {
		s.LossText = strings.Clone(m[2])
		if len(s.LossText) > 32 {
			s.LossText = s.LossText[:32]
		}
	}
	throughput := false
	for _, f := range field.FindAllStringSubmatch(text, 8) {
		value, _, _ := strings.Cut(f[2], "GiB")
		v, ok := titanNumber(strings.TrimSuffix(value, "%"))
		switch {
		case f[1] == "mfu" && f[2] == "N/A":
		case !ok || v < 0:
			return TorchtitanStep{}, fmt.Errorf("%s %.40q is no figure", f[1], f[2])
		case f[1] == "tps":
			s.TPS, throughput = v, true
		case f[1] == "tflops":
			s.TFLOPS = &v
		case f[1] == "mfu":
			s.MFU = &v
		case f[1] == "memory":
			s.Memory = &v
		}
	}
	if !throughput {
		return TorchtitanStep{}, fmt.Errorf("no tps")
	}
	return s, nil
}

// product multiplies counts; 0 when it makes no sense.
func product(counts []string) int64 {
	v := 1.0
	for _, c := range counts {
		n, ok := titanNumber(c)
		if !ok {
			return 0
		}
		v *= n
	}
	if v < 1 || v >= 1<<62 {
		return 0
	}
	return int64(v)
}

// titanNumber reads "4,376" and "9.890e+14"; what is not finite is no number.
func titanNumber(s string) (float64, bool) {
	v, err := strconv.ParseFloat(strings.ReplaceAll(s, ",", ""), 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, false
	}
	return v, true
}
