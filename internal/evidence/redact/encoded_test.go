package redact

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The places of base64 are those of the regular expression that they replace.
func TestRunsAreThoseOfTheirExpression(t *testing.T) {
	t.Parallel()
	expression := regexp.MustCompile(`[A-Za-z0-9+/]{60,}={0,2}`)
	rng := rand.New(rand.NewPCG(1, 2))
	total := 0
	for range 2000 {
		var b strings.Builder
		for range rng.IntN(12) {
			switch rng.IntN(4) {
			case 0:
				b.WriteString(strings.Repeat("=", rng.IntN(4)))
			case 1:
				b.WriteString([]string{" ", "\n", "-", "_", "\xff", "é", ""}[rng.IntN(7)])
			default:
				b.WriteString(strings.Repeat([]string{"A", "z", "9", "+", "/"}[rng.IntN(5)], 55+rng.IntN(10)))
			}
		}
		text := []byte(b.String())
		var want []span
		for _, m := range expression.FindAllIndex(text, -1) {
			want = append(want, span{m[0], m[1]})
		}
		if diff := cmp.Diff(want, runs(text), cmp.AllowUnexported(span{})); diff != "" {
			t.Fatalf("%q: %s", text, diff)
		}
		total += len(want)
	}
	if total < 1000 {
		t.Errorf("only %d runs in all texts", total)
	}
}
