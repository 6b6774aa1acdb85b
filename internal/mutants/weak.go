package mutants

import "math"

// accident is the largest probability at which the survivors of a sample are explained by the
// choice of the sample.
const accident = 0.01

// Weak are the packages whose tests kill too few mutants: fewer than the threshold where all mutants
// ran, and where a sample ran, fewer than a package at the threshold would show by accident.
func (r Report) Weak() []Package {
	var out []Package
	for _, p := range r.Packages {
		s := p.Score()
		survived := s.Run - s.Killed
		switch {
		case s.Run == 0:
		case s.Run+s.Equivalent >= p.Mutants:
			if s.Share() < r.Threshold {
				out = append(out, p)
			}
		case atLeast(survived, s.Run, 1-r.Threshold) < accident:
			out = append(out, p)
		}
	}
	return out
}

// atLeast is the probability of k or more of n independent events of probability p.
func atLeast(k, n int, p float64) float64 {
	sum := 0.0
	for i := k; i <= n; i++ {
		sum += math.Exp(logChoose(n, i) + float64(i)*math.Log(p) + float64(n-i)*math.Log1p(-p))
	}
	return sum
}

func logChoose(n, k int) float64 {
	a, _ := math.Lgamma(float64(n + 1))
	b, _ := math.Lgamma(float64(k + 1))
	c, _ := math.Lgamma(float64(n - k + 1))
	return a - b - c
}
