package diag

import "slices"

// Nearest returns the candidate that a mistyped word was probably meant to be: at edit distance
// two or less, and less than half its length. It is empty if no candidate is that close.
func Nearest(word string, candidates []string) string {
	best, at := "", 3
	for _, c := range slices.Sorted(slices.Values(candidates)) {
		if d := distance(word, c); d < at && 2*d < len(c) {
			best, at = c, d
		}
	}
	return best
}

// distance is the number of insertions, deletions, substitutions and transpositions that turn a
// into b; 3 if it exceeds 2.
func distance(a, b string) int {
	if a == b {
		return 0
	}
	if d := len(a) - len(b); d > 2 || d < -2 {
		return 3
	}
	before, last := []int(nil), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}
