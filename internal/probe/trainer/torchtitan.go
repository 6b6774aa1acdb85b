package trainer

import (
	"cmp"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/probe/guard"
	"github.com/firstlight/firstlight/internal/probe/logline"
)

var (
	stepLine = regexp.MustCompile(`(?:^|\s)step:\s*(\d+)\s+loss:\s*(\S+)\s`)
	field    = regexp.MustCompile(`(memory|tps|wps|tflops|mfu):\s*(\S+)`)
	stamp    = regexp.MustCompile(`\[titan\] (` + moment + `) |^(` + moment + `) - root - `) // releases of 2024 have no [titan]
	peak     = regexp.MustCompile(`Peak FLOPS used for computing MFU: (\S+)`)
	batch    = regexp.MustCompile(`local batch size (\d+),.*gradient accumulation steps (\d+), sequence length (\d+)`)
	size     = regexp.MustCompile(`size: ([\d,]+) total parameters`)
)

const moment = `\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}`

// ParseTorchtitan parses a log of torchtitan.
func ParseTorchtitan(r io.Reader) (TorchtitanLog, error) {
	return guard.Parse("torchtitan log", func() (TorchtitanLog, error) { return parseTorchtitan(r) })
}

func parseTorchtitan(r io.Reader) (TorchtitanLog, error) {
	p := newCollector(func(rank int) *TorchtitanRank { return &TorchtitanRank{Rank: rank} })
	err := logline.Scan(r, func(l logline.Line) error { torchtitanLine(&p, l); return nil })
	log := TorchtitanLog{Ranks: p.sorted(), Failures: p.failures, Problems: p.problems, Clipped: p.clipped}
	if err != nil {
		return log, fmt.Errorf("read torchtitan log: %w", err)
	}
	return log, nil
}

func torchtitanLine(p *collector[TorchtitanRank], l logline.Line) {
	p.failure(l)
	var m []string
	if strings.Contains(l.Text, "step:") {
		m = stepLine.FindStringSubmatch(l.Text)
	}
	if l.Rank < 0 && m == nil && !strings.Contains(l.Text, "[titan]") && !stamp.MatchString(l.Text) {
		return
	}
	rank := p.rank(l.Rank)
	if rank == nil {
		return
	}
	rank.setup(l.Text)
	if m == nil || strings.Contains(l.Text, "validate step:") {
		return
	}
	if step, err := parseStep(m, l.Text); p.step(l.Rank, l.Text, err) {
		rank.Steps = append(rank.Steps, step)
	}
}

// setup parses the lines that a rank prints once, before its steps.
func (r *TorchtitanRank) setup(text string) {
	if r.Started.IsZero() {
		if m := stamp.FindStringSubmatch(text); m != nil {
			if at, err := time.Parse("2006-01-02 15:04:05,000", cmp.Or(m[1], m[2])); err == nil {
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
		return TorchtitanStep{}, fmt.Errorf("invalid step %.20q: must be a number", m[1])
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
			return TorchtitanStep{}, fmt.Errorf("invalid %s %.40q: must be a non-negative number", f[1], f[2])
		case f[1] == "tps", f[1] == "wps": // the name of tps until the release of February 2025, with the same formula
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
		return TorchtitanStep{}, fmt.Errorf("tps is missing")
	}
	return s, nil
}

// product multiplies counts; 0 if one is invalid or the result exceeds an int64.
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

// titanNumber parses "4,376" and "9.890e+14".
func titanNumber(s string) (float64, bool) { return parseFinite(strings.ReplaceAll(s, ",", "")) }
