package gateway

import (
	"slices"
	"testing"
)

func TestRoundRobin(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		weights []int
		want    []int
	}{
		"three to one":          {[]int{3, 1}, []int{0, 0, 1, 0, 0, 0, 1, 0}},
		"equal":                 {[]int{1, 1}, []int{0, 1, 0, 1}},
		"one of weight nothing": {[]int{0, 2}, []int{1, 1, 1}},
		"all of weight nothing": {[]int{0, 0}, []int{-1, -1}},
		"none":                  {nil, []int{-1}},
		"five, one, one":        {[]int{5, 1, 1}, []int{0, 0, 1, 0, 2, 0, 0, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newRoundRobin(tt.weights)
			var got []int
			for range tt.want {
				got = append(got, w.next())
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("%v, want %v", got, tt.want)
			}
		})
	}
}
