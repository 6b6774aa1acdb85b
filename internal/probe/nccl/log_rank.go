package nccl

import (
	"cmp"
	"regexp"
	"strings"

	"github.com/firstlight/firstlight/internal/probe/logline"
)

var (
	initLine = regexp.MustCompile(`^(?:ncclCommInit(?:Rank\w*|All) )?comm \S+ rank (\d+) nranks (\d+) .*?(?:busId (\w+) .*)?- Init (START|COMPLETE)`)
	ringLine = regexp.MustCompile(`^Connected all rings(?:, use ring PXN \d+ GDR (\d+))?`)
	nvlsLine = regexp.MustCompile(`^NVLS multicast support is (not )?available on dev \d+`)
)

// line parses one line of the process of a GPU, or of a thread of a process with several.
func (r *Rank) line(text string) {
	if strings.Contains(text, "MNNVL") {
		r.mnnvl(text)
		return
	}
	switch {
	case strings.HasPrefix(text, "ncclCommInit"), strings.HasPrefix(text, "comm 0x"): // the latter up to 2.16
		if m := initLine.FindStringSubmatch(text); m != nil && number(m[1]) <= logline.MaxRank {
			r.Rank, r.NRanks, r.BusID = number(m[1]), number(m[2]), strings.Clone(m[3])
			if m[4] == "COMPLETE" {
				r.Inits++
			}
		}
	case strings.HasPrefix(text, "Connected all rings"):
		if m := ringLine.FindStringSubmatch(text); m != nil {
			r.Rings++
			if m[1] != "" {
				r.RingGDR = both(r.RingGDR, m[1] != "0")
			}
		}
	case strings.HasPrefix(text, "NVLS multicast support"):
		if m := nvlsLine.FindStringSubmatch(text); m != nil {
			r.NVLS = both(r.NVLS, m[1] == "")
		}
	}
}

// both is the conjunction of have (if set) and now.
func both(have *bool, now bool) *bool {
	if have != nil {
		now = now && *have
	}
	return &now
}

// fold merges the lines of the same rank from another run.
func (r *Rank) fold(other Rank) {
	r.Inits += other.Inits
	r.Rings += other.Rings
	r.NRanks = cmp.Or(r.NRanks, other.NRanks)
	r.BusID = cmp.Or(r.BusID, other.BusID)
	if other.RingGDR != nil {
		r.RingGDR = both(r.RingGDR, *other.RingGDR)
	}
	if other.NVLS != nil {
		r.NVLS = both(r.NVLS, *other.NVLS)
	}
	for _, f := range other.Fabrics {
		r.fabric(f)
	}
	if other.MNNVL != nil {
		r.MNNVL = both(r.MNNVL, *other.MNNVL)
	}
	r.clique(other.CliqueSize)
	r.Cliques += other.Cliques
}

func (r *Rank) empty() bool {
	return r.Rank < 0 && r.Rings == 0 && r.NVLS == nil && len(r.Fabrics) == 0
}
