package collective

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/profile"
)

// point is the bandwidth at one size over the repetitions.
type point struct {
	bytes  int64
	median float64
	lowest float64
}

// points are the largest sizes of a job that every repetition reached, the largest first.
func (f Figures) points(largest int) []point {
	var out []point
	for _, s := range f.BySize(0) {
		slices.Sort(s.BusBW)
		out = append(out, point{bytes: s.Bytes, median: median(s.BusBW), lowest: s.BusBW[0]})
	}
	slices.Reverse(out)
	return out[:min(largest, len(out))]
}

// median of sorted values; the lower one of two in the middle.
func median(sorted []float64) float64 { return sorted[(len(sorted)-1)/2] }

// worst is the lowest median of the largest sizes; zero without sizes.
func (g *Gate) worst(f Figures) point {
	points := f.points(int(g.profile.Collective.LargestSizes.Value))
	if len(points) == 0 {
		return point{}
	}
	return slices.MinFunc(points, func(a, b point) int { return cmp.Compare(a.median, b.median) })
}

// limit is the minimum bus bandwidth of a job's collective on its nodes. A rail carries its part of the data.
func (g *Gate) limit(f Figures) (gbps float64, row profile.Ceiling, ok bool) {
	gbps, row, ok = g.profile.LimitOf(f.test().name, len(f.Nodes))
	if f.Rail != "" {
		gbps /= max(1, g.profile.Node.HCAs.Value)
	}
	return gbps, row, ok && gbps > 0
}

// plausible is the highest bus bandwidth that the hardware can show.
func (g *Gate) plausible(f Figures) float64 {
	most, _ := g.profile.PlausibleOf(f.test().name, len(f.Nodes))
	return most
}

// demand explains the limit of a row.
func (g *Gate) demand(f Figures, row profile.Ceiling) string {
	rail := ""
	if f.Rail != "" {
		rail = fmt.Sprintf("one of %g rails: a part of ", g.profile.Node.HCAs.Value)
	}
	if row.ClassFloor && !f.test().isAllReduce() {
		return row.Busbw.Source
	}
	if row.ClassFloor {
		return fmt.Sprintf("%sthe class floor of %d nodes, for which no measurement is published", rail, row.Nodes)
	}
	return rail + fmt.Sprintf("%.0f %% of the %.0f GB/s of %d nodes", 100*g.profile.Collective.MinFraction.Value, row.Busbw.Value, row.Nodes)
}

// otherFigures are the figures of another collective than the all-reduce, or of one rail or NVLink domain.
func (g *Gate) otherFigures(f Figures, worst point, limit float64, row profile.Ceiling) []check.Figure {
	of, origin := f.test().name, "profile "+row.Busbw.Source
	if !row.ClassFloor {
		origin = "profile collective.minFraction x " + f.test().ceilings() + ": " + row.Busbw.Source
	}
	switch {
	case f.Rail != "":
		of, origin = "rail "+f.Rail, "a rail's part of "+origin
	case f.Domain != "":
		of += " of " + domainName(f.Domain)
	}
	r := review{f: f}
	return []check.Figure{
		{Name: "busbw of " + of, Value: worst.median, Unit: "GB/s", Limit: limit, Relation: ">=", Source: origin},
		{Name: "wrong elements of " + of, Value: float64(r.wrongElements()), Unit: "elements", Limit: 0, Relation: "==", Source: "nccl-tests' own comparison"},
	}
}

// source is the origin of a row's limit.
func source(row profile.Ceiling) string {
	if row.ClassFloor {
		return "profile collective.ceilings: " + row.Busbw.Source
	}
	return "profile collective.minFraction x collective.ceilings: " + row.Busbw.Source
}

const remedySlow = "read the pairs in the evidence; compare link widths and PCIe generations of the nodes' HCAs, and clocks, power limits and throttle reasons of their GPUs; then run again with --from collective"

// bandwidth compares the largest sizes with the ceiling.
func (r *review) bandwidth() {
	if len(r.f.Runs) == 0 {
		return
	}
	limit, row, ok := r.gate.limit(r.f)
	if !ok {
		r.Unobserved(r.id, "profile "+r.gate.profile.Name, "add a row for this node count to "+r.f.test().ceilings()+", with its source", "the profile has no ceiling for %d nodes", len(r.f.Nodes))
		return
	}
	for _, run := range r.f.Runs {
		if !run.Complete() {
			return // its largest sizes are not the requested ones; wholeRun reports it
		}
	}
	points := r.f.points(int(r.gate.profile.Collective.LargestSizes.Value))
	if len(points) == 0 {
		r.Unobserved(r.id, r.launcher(), remedyRerun, "no size was reached in every repetition")
		return
	}
	if most := r.gate.plausible(r.f); slices.ContainsFunc(points, func(p point) bool { return p.median > most }) {
		r.Unobserved(r.id, r.launcher(),
			"find the origin of these figures; if the fabric is this fast, add the figure with its source to "+r.f.test().ceilings(),
			"busbw is %.2f GB/s, above the highest ceiling of profile %s plus its tolerance (%.2f GB/s): implausible for this hardware",
			points[0].median, r.gate.profile.Name, most)
		return
	}
	for _, p := range points {
		if p.median < limit {
			r.searchable = true
			r.Fail(r.id, r.everything(), remedySlow, "busbw at %d bytes is %.2f GB/s (median of %d), expected at least %.2f: %s%s", p.bytes, p.median, len(r.f.Runs), limit, r.gate.demand(r.f, row), r.nearNetwork(p))
			return
		}
	}
}

// headline are the figures of the judgement.
func (g *Gate) headline(f Figures) []check.Figure {
	limit, row, ok := g.limit(f)
	worst := g.worst(f)
	if !ok || worst.bytes == 0 {
		return nil
	}
	points := f.points(int(g.profile.Collective.LargestSizes.Value))
	r := review{f: f}
	if !f.test().isAllReduce() || f.Rail != "" || f.Domain != "" {
		return g.otherFigures(f, worst, limit, row)
	}
	var figures []check.Figure
	if points[0].bytes == f.MaxBytes { // not meaningful for a run that ended early
		figures = []check.Figure{
			{Name: "busbw", Value: worst.median, Unit: "GB/s", Limit: limit, Relation: ">=", Source: source(row)},
			{Name: "busbw at the largest size", Value: points[0].median, Unit: "GB/s"},
			{Name: "busbw ceiling", Value: row.Busbw.Value, Unit: "GB/s"},
		}
	}
	return append(figures, []check.Figure{
		{Name: "largest size", Value: float64(points[0].bytes), Unit: "B", Limit: float64(f.MaxBytes), Relation: "==", Source: "profile collective.maxBytes or site workloads.collective.maxBytes"},
		{Name: "wrong elements", Value: float64(r.wrongElements()), Unit: "elements", Limit: 0, Relation: "==", Source: "nccl-tests' own comparison"},
		{Name: "repetitions", Value: float64(len(f.Runs)), Unit: "runs", Limit: float64(f.Repetitions), Relation: "==", Source: "profile collective.repetitions"},
	}...)
}
