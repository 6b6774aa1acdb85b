package inference

import "math"

// bounds is the interval of a binomial count of n trials with probability p that excludes at
// most alpha/2 on either side.
func bounds(n int, p, alpha float64) (least, most int) {
	below := 0.0
	for least < n {
		if below += binomial(n, least, p); below > alpha/2 {
			break
		}
		least++
	}
	above := 0.0
	most = n
	for most > least {
		if above += binomial(n, most, p); above > alpha/2 {
			break
		}
		most--
	}
	return least, most
}

// binomial is the probability of exactly k successes in n trials of probability p.
func binomial(n, k int, p float64) float64 {
	if p <= 0 || p >= 1 {
		return 0
	}
	logGamma := func(x int) float64 {
		v, _ := math.Lgamma(float64(x) + 1) // positive: so is its sign
		return v
	}
	return math.Exp(logGamma(n) - logGamma(k) - logGamma(n-k) + float64(k)*math.Log(p) + float64(n-k)*math.Log1p(-p))
}
