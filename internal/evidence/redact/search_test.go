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
		text = "Z" + text + "Z" // the first and the last pair are in it once
		s := lowerCase([]byte(text))
		for _, end := range []string{text[:3], text[len(text)-3:]} {
			if !s.has(strings.ToLower(end)) {
				t.Fatalf("%q is not found at an end of %.100q", end, text)
			}
		}
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
