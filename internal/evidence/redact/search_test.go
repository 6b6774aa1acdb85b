package redact

import (
	"math/rand/v2"
	"strings"
	"testing"
)

func TestSearchedFindsWhatTheTextContains(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 3))
	word := func(longest int) string {
		var b strings.Builder
		for range 1 + rng.IntN(longest) {
			b.WriteByte("abKey:\xff"[rng.IntN(7)])
		}
		return b.String()
	}
	found := 0
	for range 300 {
		text := word(20)
		if rng.IntN(2) == 0 {
			text = strings.Repeat(word(4), shortText) + text
		}
		s := lowerCase([]byte(text))
		for range 20 {
			w := strings.ToLower(word(5))
			want := strings.Contains(strings.ToLower(text), w)
			if s.has(w) != want {
				t.Fatalf("%q in %.100q: %v", w, text, !want)
			}
			if want {
				found++
			}
		}
	}
	if found < 100 {
		t.Errorf("only %d words were found", found)
	}
}
