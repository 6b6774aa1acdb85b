package collective

import (
	"fmt"
	"strings"
)

// Versions of nccl-tests and NCCL.
const (
	testsVersion = "2.19.6"
	ncclVersion  = "2.28.7"
	ncclCode     = 22807
)

func (r Run) writeHeader(p *printer) {
	p.line("# nccl-tests version %s nccl-headers=%d nccl-library=%d", testsVersion, ncclCode, ncclCode)
	p.line("# Collective test starting: %s", r.program().Name)
	perProcess := 1
	if r.OneProcess {
		perProcess = r.Ranks()
	}
	p.line("# nThread 1 nGpus %d minBytes %d maxBytes %d step: 2(factor) warmup iters: 1 iters: 20 agg iters: 1 validation: 1 graph: 0 unalign: 0",
		perProcess, r.MinBytes, r.MaxBytes)
	p.line("#")
	p.line("# Using devices")
	rank := 0
	for i, n := range r.Nodes {
		for _, d := range n.Devices {
			p.line("#  Rank %2d Group %2d Pid %6d on %10s device %2d [%s] %s", rank, 0, r.pid(i, d.Index), n.Host, d.Index, shortBusID(d.BusID), d.Product)
			rank++
		}
	}
	p.line("#")
}

// writeTable prints rows and footer and returns the number of failed data checks: one a rank
// and half of a row, whatever the number of wrong elements.
func (r Run) writeTable(p *printer, rep int) int {
	p.line("#%74s%41s", "out-of-place", "in-place          ")
	p.line("#%11s  %12s  %8s  %6s  %6s  %7s  %6s  %6s  %6s  %7s  %6s  %6s  %6s ",
		"size", "count", "type", "redop", "root", "time", "algbw", "busbw", "#wrong", "time", "algbw", "busbw", "#wrong")
	p.line("#%11s  %12s  %8s  %6s  %6s  %7s  %6s  %6s  %6s  %7s  %6s  %6s  %6s ",
		"(B)", "(elements)", "", "", "", "(us)", "(GB/s)", "(GB/s)", "", "(us)", "(GB/s)", "(GB/s)", "")
	c, err := loadCurve()
	if err != nil {
		p.err = err
		return 0
	}
	plateau, rng := r.Plateau(), r.rand(rep, 1)
	sizes := r.sizes()
	failed, sum := 0, 0.0
	for i, size := range sizes {
		if r.Truncated && i >= (len(sizes)+1)/2 {
			return 0
		}
		base := r.seconds(c, plateau, size)
		var row strings.Builder
		size, head := r.row(size)
		row.WriteString(head)
		for half := range 2 {
			noise := 1 + c.Noise*(2*rng.Float64()-1)
			secs := base * noise
			alg := float64(size) / secs / 1e9
			bus := alg * r.busFactor()
			wrong := 0
			if r.Corrupt && i >= len(sizes)-3 {
				wrong = 1 + rng.IntN(1<<12)
			}
			cell := r.wrongCell(half == 1, wrong)
			if wrong > 0 && cell != "N/A" {
				failed += r.Ranks()
			}
			sum += bus
			fmt.Fprintf(&row, "  %7s  %6.2f  %6.2f  %6s", microseconds(secs*1e6), alg, bus, cell)
		}
		p.line("%s", row.String())
	}
	verdict := "OK"
	if failed > 0 {
		verdict = "FAILED"
	}
	p.line("# Out of bounds values : %d %s", failed, verdict)
	p.line("# Avg bus bandwidth    : %.6g ", sum/float64(2*len(sizes)))
	p.line("#")
	p.line("# Collective test concluded: %s", r.program().Name)
	p.line("#")
	return failed
}

func (r Run) sizes() []int64 {
	var out []int64
	for s := r.MinBytes; s <= r.MaxBytes; s *= 2 {
		out = append(out, s)
	}
	return out
}

// microseconds formats with the decimals that fit the column.
func microseconds(us float64) string {
	switch {
	case us >= 10000:
		return fmt.Sprintf("%7.0f", us)
	case us >= 100:
		return fmt.Sprintf("%7.1f", us)
	default:
		return fmt.Sprintf("%7.2f", us)
	}
}
