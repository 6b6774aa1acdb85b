package main

import (
	"math"
	"slices"
)

// unit is the unit of a figure's values.
type unit string

const (
	seconds   unit = "s"
	perSecond unit = "/s"
	bytesUnit unit = "B"
	rounds    unit = " rounds"
	minutes   unit = " GPU-min"
	times     unit = "x"
)

// figure declares what is measured. Only declared figures can have a threshold or a peer.
type figure struct {
	part string // the part of the bench that measures it
	name string
	unit unit
	// higherIsBetter: of two values the higher one is better; else the lower one.
	higherIsBetter bool
	// peer is the name of the program that is measured in turns with ours; empty: none.
	peer string
	// peerSamples is the name under which the peer's values are recorded.
	peerSamples string
}

// The parts of the bench.
const (
	partBinary      = "binary"
	partLab         = "lab"
	partAccept      = "accept"
	partAutoscale   = "autoscale"
	partRecipe      = "recipe"
	partPlan        = "plan"
	partReservation = "reservation"
	partLocalise    = "localise"
	partScale       = "scale"
)

// The peer of reservations, and the fields that its measurements record in addition to durations.
const (
	boskosPeer       = "Boskos"
	copiedThroughput = leaseThroughput + ", as reservation run"
	boskosThroughput = "boskos: acquired and released a second"
)

// figures are all that are declared, in the order of the table.
var figures = []figure{
	{part: partBinary, name: binarySize, unit: bytesUnit},
	{part: partLab, name: labUp, unit: seconds, peer: kwokctlPeer, peerSamples: kwokctlUp},
	{part: partAccept, name: withLab, unit: seconds},
	{part: partAccept, name: onLab, unit: seconds},
	{part: partAutoscale, name: chainWhole, unit: seconds},
	{part: partAutoscale, name: chainUp, unit: seconds},
	{part: partAutoscale, name: chainDown, unit: seconds},
	{part: partRecipe, name: recipeAll, unit: seconds},
	{part: partRecipe, name: recipeGenerated, unit: seconds},
	{part: partPlan, name: recipePlan, unit: seconds},
	{part: partPlan, name: recipePlanAll, unit: seconds},
	{part: partReservation, name: execThroughput, unit: perSecond, higherIsBetter: true, peer: boskosPeer, peerSamples: boskosThroughput},
	{part: partReservation, name: twoThroughput, unit: perSecond, higherIsBetter: true, peer: boskosPeer, peerSamples: boskosThroughput},
	{part: partReservation, name: copiedThroughput, unit: perSecond, higherIsBetter: true, peer: boskosPeer, peerSamples: boskosThroughput},
	{part: partReservation, name: execAcquire, unit: seconds, peer: boskosPeer, peerSamples: boskosAcquire},
	{part: partReservation, name: execRelease, unit: seconds, peer: boskosPeer, peerSamples: boskosRelease},
	{part: partReservation, name: twoAcquire, unit: seconds, peer: boskosPeer, peerSamples: boskosAcquire},
	{part: partReservation, name: twoRelease, unit: seconds, peer: boskosPeer, peerSamples: boskosRelease},
	{part: partReservation, name: copiedAcquire, unit: seconds, peer: boskosPeer, peerSamples: boskosAcquire},
	{part: partReservation, name: copiedRelease, unit: seconds, peer: boskosPeer, peerSamples: boskosRelease},
	{part: partReservation, name: handOver, unit: seconds},
	{part: partReservation, name: crowdedList, unit: seconds},
	{part: partReservation, name: crowdedAcquire, unit: seconds},
	{part: partLocalise, name: localiseRounds, unit: rounds, peer: allPairsPeer, peerSamples: allPairsRounds},
	{part: partLocalise, name: localiseMinutes, unit: minutes, peer: allPairsPeer, peerSamples: allPairsMinutes},
	{part: partScale, name: scaleGrowth, unit: times},
	{part: partScale, name: scaleWhole, unit: seconds},
	{part: partScale, name: scaleMemory, unit: bytesUnit},
}

// samples are the values that were recorded, by part and name.
type samples struct {
	order  []sampleKey
	values map[sampleKey][]float64
}

type sampleKey struct{ part, name string }

func (s *samples) add(part, name string, value float64) {
	k := sampleKey{part, name}
	if s.values == nil {
		s.values = map[sampleKey][]float64{}
	}
	if _, ok := s.values[k]; !ok {
		s.order = append(s.order, k)
	}
	s.values[k] = append(s.values[k], value)
}

func (s *samples) get(part, name string) []float64 { return s.values[sampleKey{part, name}] }

// outcome is what a figure's threshold says.
type outcome string

const (
	noThreshold outcome = ""
	held        outcome = "held"
	missed      outcome = "MISSED"
	notMeasured outcome = "NOT MEASURED"
)

// result is one row of the table.
type result struct {
	name string
	unit unit
	// n is the number of values; 0: the figure was not measured.
	n                int
	median, min, max float64
	// peer is empty if the figure has no peer.
	peer string
	// peerN is the number of the peer's values; 0: the peer was not measured.
	peerN      int
	peerMedian float64
	// ratio is above 1 where ours is better than the peer; 0 where one of them was not measured.
	ratio     float64
	threshold *threshold
	outcome   outcome
}

// judge makes the rows of the parts that were asked for, in the order of the declarations,
// and after each part what was recorded beyond them, which has no threshold.
func judge(declared []figure, parts []string, s samples, limits []threshold) []result {
	var rows []result
	for _, part := range parts {
		peers := map[string]bool{}
		for _, f := range declared {
			if f.part != part {
				continue
			}
			peers[f.peerSamples] = true
			rows = append(rows, judgeFigure(f, s, limitOf(limits, f.name)))
		}
		for _, k := range s.order {
			isDeclared := slices.ContainsFunc(declared, func(f figure) bool { return f.part == part && f.name == k.name })
			if k.part == part && !isDeclared && !peers[k.name] {
				rows = append(rows, judgeFigure(figure{part: part, name: k.name, unit: seconds}, s, nil))
			}
		}
	}
	return rows
}

func limitOf(limits []threshold, name string) *threshold {
	i := slices.IndexFunc(limits, func(t threshold) bool { return t.Figure == name })
	if i < 0 {
		return nil
	}
	return &limits[i]
}

func judgeFigure(f figure, s samples, limit *threshold) result {
	r := result{name: f.name, unit: f.unit, peer: f.peer, threshold: limit}
	if own := s.get(f.part, f.name); len(own) > 0 {
		r.n, r.median, r.min, r.max = len(own), median(own), slices.Min(own), slices.Max(own)
	}
	if f.peer != "" {
		if theirs := s.get(f.part, f.peerSamples); len(theirs) > 0 {
			r.peerN, r.peerMedian = len(theirs), median(theirs)
		}
		r.ratio = ratioOf(r.median, r.peerMedian, f.higherIsBetter)
	}
	r.outcome = outcomeOf(r)
	return r
}

// ratioOf is above 1 if ours is better; 0 if a value was not measured.
func ratioOf(ours, theirs float64, higherIsBetter bool) float64 {
	if !isMeasured(ours) || !isMeasured(theirs) {
		return 0
	}
	if higherIsBetter {
		return ours / theirs
	}
	return theirs / ours
}

// isMeasured: no duration, rate or size of what ran is 0. A report whose field was renamed
// reads as 0.
func isMeasured(value float64) bool { return value > 0 && !math.IsInf(value, 1) }

// outcomeOf fails closed: a figure passes only with a measured value within its threshold.
func outcomeOf(r result) outcome {
	switch {
	case r.threshold == nil:
		return noThreshold
	case r.n == 0 || !isMeasured(r.min) || !isMeasured(r.max):
		return notMeasured
	case r.threshold.AtMost > 0 && r.median <= r.threshold.AtMost:
		return held
	case r.threshold.AtMost > 0:
		return missed
	case r.ratio == 0:
		return notMeasured
	case r.ratio >= r.threshold.RatioAtLeast:
		return held
	default:
		return missed
	}
}

func median(values []float64) float64 {
	s := slices.Sorted(slices.Values(values))
	middle := len(s) / 2
	if len(s)%2 == 0 {
		return (s[middle-1] + s[middle]) / 2
	}
	return s[middle]
}
